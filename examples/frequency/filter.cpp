// SPDX-License-Identifier: MIT
#include "filter.hpp"

#include "models.hpp"

namespace frequency {

template <class Backend> struct stateful_mode_on;
template <class Backend> struct windowed_mode_on;
/// Instantiated in models/.
template <class Mode, class Model>
[[nodiscard]] auto make_filter_of(settings const& s) -> std::unique_ptr<filter>;

namespace {

using stateful_mode = stateful_mode_on<tessera::default_backend>;
using windowed_mode = windowed_mode_on<tessera::default_backend>;

constexpr compiled_model table[] = {
    {"stateful", "plain", 64, 1, make_filter_of<stateful_mode, plain<64, 1>>},
    {"stateful", "plain", 64, 2, make_filter_of<stateful_mode, plain<64, 2>>},
    {"stateful", "plain", 128, 1, make_filter_of<stateful_mode, plain<128, 1>>},
    {"stateful", "plain", 128, 2, make_filter_of<stateful_mode, plain<128, 2>>},
    {"stateful", "plain", 256, 1, make_filter_of<stateful_mode, plain<256, 1>>},
    {"stateful", "plain", 256, 2, make_filter_of<stateful_mode, plain<256, 2>>},
    {"windowed", "plain", 64, 1, make_filter_of<windowed_mode, plain<64, 1>>},
    {"windowed", "plain", 64, 2, make_filter_of<windowed_mode, plain<64, 2>>},
    {"windowed", "plain", 128, 1, make_filter_of<windowed_mode, plain<128, 1>>},
    {"windowed", "plain", 128, 2, make_filter_of<windowed_mode, plain<128, 2>>},
    {"windowed", "plain", 256, 1, make_filter_of<windowed_mode, plain<256, 1>>},
    {"windowed", "plain", 256, 2, make_filter_of<windowed_mode, plain<256, 2>>},
    {"windowed", "attention", 64, 1, make_filter_of<windowed_mode, with_attention<64>>},
    {"windowed", "attention", 128, 1, make_filter_of<windowed_mode, with_attention<128>>},
    {"stateful", "film", 64, 1, make_filter_of<stateful_mode, film<64>>},
    {"stateful", "film", 128, 1, make_filter_of<stateful_mode, film<128>>},
    {"windowed", "film", 64, 1, make_filter_of<windowed_mode, film<64>>},
    {"windowed", "film", 128, 1, make_filter_of<windowed_mode, film<128>>},
};

}  // namespace

auto compiled_models() -> std::span<compiled_model const> { return table; }

auto model_name(settings const& s) -> std::string {
  return s.mode + ' ' + s.variant + ' ' + std::to_string(s.hidden) + 'x' +
         std::to_string(s.layers.value());
}

auto make_filter(settings const& s) -> std::unique_ptr<filter> {
  for (auto const& m : table)
    if (m.mode == s.mode && m.variant == s.variant && m.hidden == s.hidden && m.layers == s.layers)
      return m.make(s);
  throw usage_error("no compiled model " + model_name(s));
}

}  // namespace frequency
