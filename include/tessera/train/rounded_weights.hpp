// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/scalar.hpp>
#include <tessera/tensor/parameters.hpp>
#include <tessera/train/placement.hpp>

namespace tessera {

/// Rounds parameters to bf16 as long as a scope of it lives, and then they are what they were:
/// forward and backward compute in float with weights of 16 bits, the optimizer has all bits.
///
/// Cost  where it is wanted the memory of the parameters; two passes over it for each scope
template <class P> class rounded_weights {
 public:
  explicit rounded_weights(bool wanted) : exact_(wanted ? make_placed<P, backend>() : nullptr) {}

  class scope {
   public:
    scope(P& parameters, P* exact) : parameters_(parameters), exact_(exact) {
      if (exact_ == nullptr) return;
      *exact_ = parameters_;
      for_numbers(
          [](auto w) {
            for (auto i = std::size_t{0}; i < w.size(); ++i)
              w.data()[i] = widened<scalar_of<decltype(w)>>(bf16(static_cast<float>(w.data()[i])));
          },
          parameters_);
    }
    scope(scope const&) = delete;
    auto operator=(scope const&) -> scope& = delete;
    ~scope() {
      if (exact_ != nullptr) parameters_ = *exact_;
    }

   private:
    P& parameters_;
    P* exact_;
  };
  [[nodiscard]] auto round(P& parameters) -> scope { return scope(parameters, exact_.get()); }

 private:
  using backend = backend_of_parameters<P>;

  placed<P, backend> exact_;
};

}  // namespace tessera
