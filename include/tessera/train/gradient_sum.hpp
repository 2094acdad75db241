// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/parameters.hpp>
#include <tessera/train/placement.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera {

/// Gradients of batches that make one step: of means over unlike numbers of terms, the mean over
/// all of them.
///
/// Cost  where it is wanted the memory of the parameters; a pass over it for each batch
template <class P> class gradient_sum {
 public:
  explicit gradient_sum(bool wanted) : sum_(wanted ? make_placed<P, backend>() : nullptr) {}

  void clear() { terms_ = 0; }
  /// The gradient and the loss of a batch, means over its terms.
  void add(P const& gradient, double loss, std::size_t terms) {
    for_numbers(
        [&](auto sum, auto g) {
          auto const weight = static_cast<scalar_of<decltype(sum)>>(terms);
          if (terms_ == 0)
            assign(sum, g * weight);
          else
            sum += g * weight;
        },
        *sum_, gradient);
    loss_ = (terms_ == 0 ? 0 : loss_) + loss * static_cast<double>(terms);
    terms_ += terms;
  }
  /// Writes the gradient of all since the last call; returns their loss. Both are 0 where nothing
  /// had a term.
  auto take(P& gradient) -> double {
    auto const terms = std::max(std::exchange(terms_, 0), std::size_t{1});
    for_numbers(
        [&](auto g, auto sum) { assign(g, sum / static_cast<scalar_of<decltype(g)>>(terms)); },
        gradient, *sum_);
    wait_on<backend>();
    return loss_ / static_cast<double>(terms);
  }

 private:
  using backend = backend_of_parameters<P>;

  placed<P, backend> sum_;
  double loss_ = 0;
  std::size_t terms_ = 0;
};

}  // namespace tessera
