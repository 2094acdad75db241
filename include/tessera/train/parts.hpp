// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/averaging.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/train/described.hpp>
#include <tessera/train/placement.hpp>

#include <tuple>

/// Parts of a training step, between gradient and update and after it. A trainer takes any number
/// of them, and asks each in their order. A part has at least one of
///   begin(parameters)            before the first step of a training that is not resumed
///   terms(n) -> std::size_t      of how many terms the loss is the mean: n here, more elsewhere
///   exchange(gradient, loss)     before they are judged; where processes add theirs
///   adjust(gradient, norm)       after that: may change the gradient, and then its norm
///   updated(parameters, step)    after the update
/// and, where it remembers anything, memory(f), which calls f(name, part) for each struct of
/// parameters and number of it: a checkpoint holds them. Its settings are compared by `described`.
///
/// Where parameters are a device's, nothing runs when a hook is called. A part that reads no number
/// after `begin`, and only launches, says `static constexpr bool only_launches = true;`: no step
/// waits before it.
namespace tessera {

/// Scales the gradient down to this norm, where it is larger.
struct norm_clipping {
  static constexpr bool only_launches = true;
  double most = 1;

  void adjust(auto& gradient, double& norm) const { norm = clip_to(gradient, norm, most); }
};

/// Limits every number of the gradient to [-most, most].
struct value_clipping {
  static constexpr bool only_launches = true;
  double most = 1;

  void adjust(auto& gradient, double& norm) const {
    clip_value(gradient, most);
    norm = global_norm(gradient);
  }
};

/// Keeps an exponential moving average of the parameters P, which begins with the first ones.
///
/// Cost  the memory of P; one pass over it for each step
template <class P> class averaging {
 public:
  static constexpr bool only_launches = true;

  explicit averaging(exponential_average rule = {})
      : rule_(rule), average_(make_placed<P, backend>()) {}
  [[nodiscard]] auto average() const -> P const& { return *average_; }

  void begin(P const& p) { *average_ = p; }
  void updated(P const& p, std::uint64_t step) { rule_.update(*average_, p, step); }
  void memory(auto&& f) { f("average", *average_); }
  [[nodiscard]] auto settings() const -> exponential_average { return rule_; }

 private:
  using backend = backend_of_parameters<P>;

  exponential_average rule_;
  placed<P, backend> average_;
};

namespace detail {

/// True for a part that has a hook for these parameters.
template <class Part, class P>
inline constexpr bool is_part = requires(Part& part, P& p) { part.begin(p); } ||
                                requires(Part& part) { part.terms(std::size_t{1}); } ||
                                requires(Part& part, P& p, double& n) { part.exchange(p, n); } ||
                                requires(Part& part, P& p, double& n) { part.adjust(p, n); } ||
                                requires(Part& part, P& p) { part.updated(p, std::uint64_t{0}); };

/// The parts of a step, asked in their order.
template <class... Parts> struct part_list {
  std::tuple<Parts...> all;

  void begin(auto& parameters) {
    each([&](auto& part) {
      if constexpr (requires { part.begin(parameters); }) {
        wait_on<backend_of_parameters<std::remove_cvref_t<decltype(parameters)>>>();
        part.begin(parameters);
      }
    });
  }
  [[nodiscard]] auto terms(std::size_t n) -> std::size_t {
    each([&](auto& part) {
      if constexpr (requires { part.terms(n); }) n = part.terms(n);
    });
    return n;
  }
  void exchange(auto& gradient, double& loss) {
    each([&](auto& part) {
      if constexpr (requires { part.exchange(gradient, loss); }) {
        wait_before(part, gradient);
        part.exchange(gradient, loss);
      }
    });
  }
  void adjust(auto& gradient, double& norm) {
    each([&](auto& part) {
      if constexpr (requires { part.adjust(gradient, norm); }) {
        wait_before(part, gradient);
        part.adjust(gradient, norm);
      }
    });
  }
  void updated(auto& parameters, std::uint64_t step) {
    each([&](auto& part) {
      if constexpr (requires { part.updated(parameters, step); }) {
        wait_before(part, parameters);
        part.updated(parameters, step);
      }
    });
  }
  [[nodiscard]] auto settings() const -> std::string {
    auto text = std::string{};
    std::apply([&](auto const&... part) { ((text += described(part) + ' '), ...); }, all);
    return text;
  }

 private:
  template <class Part, class P> static void wait_before(Part const&, P const&) {
    if constexpr (not requires { requires Part::only_launches; })
      wait_on<backend_of_parameters<P>>();
  }
  void each(auto const& f) {
    std::apply([&](auto&... part) { (f(part), ...); }, all);
  }
};

}  // namespace detail

}  // namespace tessera
