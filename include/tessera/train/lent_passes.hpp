// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/training.hpp>
#include <tessera/train/placement.hpp>

#include <new>

namespace tessera {

/// The objects that validate between two steps, one for each chunk, in the memory of the training
/// passes, which have nothing to remember then but their states: these are kept aside.
///
/// Cost    the states of the passes; and where an object is larger than a pass, as none with a
///         gradient is, the objects themselves
template <class Training> class lent_passes {
 public:
  using pass_type = typename Training::pass_type;
  using run_type = typename Training::inference_type;
  using backend = backend_of<typename Training::input>;
  static constexpr bool fits =
      sizeof(run_type) <= sizeof(pass_type) && alignof(run_type) <= alignof(pass_type);

  explicit lent_passes(Training& training) : training_(training) {
    if constexpr (has_state) states_ = std::make_unique<state_type[]>(Training::chunks);
    if constexpr (not fits) own_ = make_placed<run_type[], backend>(Training::chunks);
  }

  /// The objects, from zero state, as long as this lives.
  class loan {
   public:
    explicit loan(lent_passes& owner) : owner_(owner) {
      for (auto c = std::size_t{0}; c < Training::chunks; ++c) {
        if constexpr (fits) {
          auto& pass = owner_.training_.passes[c];
          if constexpr (has_state) owner_.states_[c] = pass.state;
          if constexpr (not on_device<backend>) ::new (static_cast<void*>(&pass)) run_type;
        }
        clear_on<backend>((*this)[c].state);
      }
    }
    loan(loan const&) = delete;
    auto operator=(loan const&) -> loan& = delete;
    ~loan() {
      if constexpr (fits)
        for (auto c = std::size_t{0}; c < Training::chunks; ++c) {
          auto& pass = owner_.training_.passes[c];
          clear_on<backend>(pass);
          if constexpr (has_state) pass.state = owner_.states_[c];
        }
    }
    [[nodiscard]] auto operator[](std::size_t chunk) -> run_type& {
      if constexpr (fits)
        return *std::launder(reinterpret_cast<run_type*>(&owner_.training_.passes[chunk]));
      else
        return owner_.own_[chunk];
    }

   private:
    lent_passes& owner_;
  };

 private:
  using state_type = decltype(pass_type::state);
  static constexpr bool has_state = bytes_of<state_type> > 0;

  Training& training_;
  std::unique_ptr<state_type[]> states_;
  placed<run_type[], backend> own_;
};

}  // namespace tessera
