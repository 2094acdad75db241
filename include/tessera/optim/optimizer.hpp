// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/optim/reference/optimizer.hpp>
#include <tessera/tensor/parameters.hpp>

#if TESSERA_SIMD
#include <tessera/optim/simd/optimizer.hpp>
#endif

#include <cstdint>

/// Optimizers with the semantics of torch.optim: plain structs of hyperparameters. What they
/// remember of a model, `moments<Parameters>`, is beside the parameters.
///
/// One of your own has `double rate`; moments<P>, an aggregate of structs of parameters and numbers
/// that names them by TESSERA_PARAMETERS, unless it is empty; and update(p, gradient, moments).
///
/// Cost      one pass over parameters, gradient and moments, in one kernel; no allocation
/// Accuracy  the order of operations of torch's single-tensor loops; factors are computed in double
/// Errors    std::invalid_argument for what torch refuses: a negative rate, momentum, decay or
///           epsilon, betas outside [0, 1), nesterov without momentum or with dampening
/// Source    torch.optim; reference values: tests/reference/optimizer.py
namespace tessera {

namespace detail {

/// One rule on all numbers of the structs.
template <template <class> class Rule, class Make, class P, class... Slots>
void update_numbers(Make const& make, P& p, P const& gradient, Slots&... slots) {
  for_numbers(
      [&](auto w, auto g, auto... slot) {
        using T = scalar_of<decltype(w)>;
        kernel_for<update_fn<Rule<T>>, backend_of<decltype(w)>>::run(
            make(std::type_identity<T>{}), w.size(), w.data(), g.data(), slot.data()...);
      },
      p, gradient, slots...);
}

/// beta to the power of n, as Python computes it: by repeated squaring in double.
[[nodiscard]] constexpr auto power(double base, std::uint64_t n) -> double {
  auto result = 1.0;
  for (; n > 0; n /= 2, base *= base)
    if (n % 2 == 1) result *= base;
  return result;
}

}  // namespace detail

/// p -= rate·g: sgd without momentum, which needs no memory beside the gradient.
struct gradient_descent {
  double rate = 1e-3;

  template <class> struct moments {};
  template <class T> struct rule {
    T rate;
    template <class V> TESSERA_INLINE constexpr void update(V& p, V g) const {
      using lane::fma;
      p = fma(V(-rate), g, p);
    }
  };
  template <class P> void update(P& p, P const& gradient, moments<P>&) const {
    require(rate >= 0, "gradient_descent: the rate must be 0 or more");
    detail::update_numbers<rule>(
        [&]<class T>(std::type_identity<T>) { return rule<T>{static_cast<T>(rate)}; }, p, gradient);
  }
};

/// gradient_descent whose update goes into the parameters in the backward pass, layer by layer: no
/// gradient is ever kept, so that training takes the memory of the parameters less. For one chunk;
/// a norm of the gradient, and so clipping, is not to be had.
struct fused_gradient_descent {
  static constexpr bool fused = true;
  double rate = 1e-3;

  template <class> struct moments {};
};

/// Stochastic gradient descent: v = momentum·v + (1 - dampening)·g;  p -= rate·v. The first step
/// takes v = g.
struct sgd {
  double rate = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;

  template <class P> struct moments {
    P velocity;
    std::uint64_t steps;
    TESSERA_PARAMETERS(velocity, steps)
  };

  template <class T> struct rule {
    T rate, momentum, keep, weight_decay;
    bool decays, has_momentum, first, nesterov;

    template <class V> TESSERA_INLINE constexpr void update(V& p, V g, V& velocity) const {
      using namespace lane;
      if (decays) g = fma(V(weight_decay), p, g);
      if (has_momentum) {
        velocity = first ? g : fma(V(keep), g, V(momentum) * velocity);
        g = nesterov ? fma(V(momentum), velocity, g) : velocity;
      }
      p = fma(V(-rate), g, p);
    }
  };
  template <class P> void update(P& p, P const& gradient, moments<P>& m) const {
    require(rate >= 0 && momentum >= 0 && weight_decay >= 0,
            "sgd: rate, momentum and weight_decay must be 0 or more");
    require(not nesterov || (momentum > 0 && dampening == 0),
            "sgd: nesterov needs a momentum and no dampening");
    detail::update_numbers<rule>(
        [&]<class T>(std::type_identity<T>) {
          return rule<T>{static_cast<T>(rate),
                         static_cast<T>(momentum),
                         static_cast<T>(1 - dampening),
                         static_cast<T>(weight_decay),
                         weight_decay != 0,
                         momentum != 0,
                         m.steps == 0,
                         nesterov};
        },
        p, gradient, m.velocity);
    ++m.steps;
  }
};

namespace detail {

/// Divides numbers of 0 or more by one positive number, with the bits of the division.
///
/// Source  Brisebarre, Muller, Raina, "Accelerating correctly rounded floating-point division when
///         the divisor is known in advance" (2004): one multiplication and two fused ones, where
///         neither overflows nor has subnormal parts; an exact or infinite quotient stays
template <class T> struct known_divisor {
  T value;
  T inverse;

  explicit constexpr known_divisor(T divisor) : value(divisor), inverse(T{1} / divisor) {}

  template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto divide(V x) const -> V {
#if TESSERA_FMA
    if constexpr (not std::is_arithmetic_v<V>) {
      auto const quotient = x * V(inverse);
      auto const rest = fma(V(-value), quotient, x);
      return select(abs(rest) > V(T{0}), fma(rest, V(inverse), quotient), quotient);
    }
#endif
    return x / V(value);
  }
};

/// What Adam and AdamW share; Decoupled: the decay goes to the parameters, not to the gradient.
template <class T, bool Decoupled> struct adam_rule {
  T one_minus_beta_1, beta_2, one_minus_beta_2, step_size;
  known_divisor<T> root_correction;
  T epsilon, decay;
  bool decays;
  bool is_mostly_new;  ///< of a mean: then it is counted from the gradient, as torch's lerp does

  template <class V> TESSERA_INLINE constexpr void update(V& p, V g, V& first, V& second) const {
    using namespace lane;
    if (decays) {
      if constexpr (Decoupled)
        p = p * V(decay);
      else
        g = fma(V(decay), p, g);
    }
    if (is_mostly_new)
      first = fma(V(one_minus_beta_1 - T{1}), g - first, g);
    else
      first = fma(V(one_minus_beta_1), g - first, first);
    second = fma(V(one_minus_beta_2) * g, g, V(beta_2) * second);
    auto const root = root_correction.divide(sqrt(second)) + V(epsilon);
    p = p - V(step_size) * first / root;
  }
};

template <bool Decoupled> struct adam_rule_of {
  template <class T> using type = adam_rule<T, Decoupled>;
};

template <class P> struct adam_moments {
  P first;
  P second;
  std::uint64_t steps;
  TESSERA_PARAMETERS(first, second, steps)
};

template <bool Decoupled, class Options, class P>
void adam_update(Options const& o, P& p, P const& gradient, adam_moments<P>& m) {
  require(o.rate >= 0 && o.epsilon >= 0 && o.weight_decay >= 0,
          "adam: rate, epsilon and weight_decay must be 0 or more");
  require(o.beta_1 >= 0 && o.beta_1 < 1 && o.beta_2 >= 0 && o.beta_2 < 1,
          "adam: beta_1 and beta_2 must be from 0 to below 1");
  ++m.steps;
  auto const correction_1 = 1 - power(o.beta_1, m.steps);
  auto const correction_2 = 1 - power(o.beta_2, m.steps);
  update_numbers<adam_rule_of<Decoupled>::template type>(
      [&]<class T>(std::type_identity<T>) {
        return adam_rule<T, Decoupled>{
            static_cast<T>(1 - o.beta_1),
            static_cast<T>(o.beta_2),
            static_cast<T>(1 - o.beta_2),
            static_cast<T>(o.rate / correction_1),
            known_divisor<T>(static_cast<T>(lane::sqrt(correction_2))),
            static_cast<T>(o.epsilon),
            static_cast<T>(Decoupled ? 1 - o.rate * o.weight_decay : o.weight_decay),
            o.weight_decay != 0,
            1 - o.beta_1 >= 0.5};
      },
      p, gradient, m.first, m.second);
}

}  // namespace detail

/// Adam; weight_decay is added to the gradient.
struct adam {
  double rate = 1e-3;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  template <class P> using moments = detail::adam_moments<P>;
  template <class P> void update(P& p, P const& gradient, moments<P>& m) const {
    detail::adam_update<false>(*this, p, gradient, m);
  }
};

/// Adam with decoupled weight decay: p is multiplied by 1 - rate·weight_decay before the step.
struct adamw {
  double rate = 1e-3;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;

  template <class P> using moments = detail::adam_moments<P>;
  template <class P> void update(P& p, P const& gradient, moments<P>& m) const {
    detail::adam_update<true>(*this, p, gradient, m);
  }
};

}  // namespace tessera
