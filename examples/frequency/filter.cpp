// SPDX-License-Identifier: MIT
#include "filter.hpp"

#include <utility>
#include <vector>

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

template <std::size_t Hidden> void add_models(std::vector<compiled_model>& to) {
  to.push_back({"stateful", "plain", Hidden, 1, make_filter_of<stateful_mode, plain<Hidden, 1>>});
  to.push_back({"stateful", "plain", Hidden, 2, make_filter_of<stateful_mode, plain<Hidden, 2>>});
  to.push_back({"windowed", "plain", Hidden, 1, make_filter_of<windowed_mode, plain<Hidden, 1>>});
  to.push_back({"windowed", "plain", Hidden, 2, make_filter_of<windowed_mode, plain<Hidden, 2>>});
  if constexpr (Hidden < 256) {
    to.push_back({"windowed", "attention", Hidden, 1,
                  make_filter_of<windowed_mode, with_attention<Hidden>>});
    to.push_back({"stateful", "film", Hidden, 1, make_filter_of<stateful_mode, film<Hidden>>});
    to.push_back({"windowed", "film", Hidden, 1, make_filter_of<windowed_mode, film<Hidden>>});
  }
}
template <std::size_t... Hidden>
[[nodiscard]] auto models_of(std::index_sequence<Hidden...>) -> std::vector<compiled_model> {
  auto all = std::vector<compiled_model>{};
  (add_models<Hidden>(all), ...);
  return all;
}

}  // namespace

auto compiled_models() -> std::span<compiled_model const> {
  static auto const all = models_of(std::index_sequence<FREQUENCY_WIDTHS>{});
  return all;
}

auto model_name(settings const& s) -> std::string {
  return s.mode + ' ' + s.variant + ' ' + std::to_string(s.hidden) + 'x' +
         std::to_string(s.layers.value());
}

auto make_filter(settings const& s) -> std::unique_ptr<filter> {
  for (auto const& m : compiled_models())
    if (m.mode == s.mode && m.variant == s.variant && m.hidden == s.hidden && m.layers == s.layers)
      return m.make(s);
  throw usage_error("no compiled model " + model_name(s));
}

}  // namespace frequency
