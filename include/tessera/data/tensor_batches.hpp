// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/call.hpp>
#include <tessera/data/shuffle.hpp>
#include <tessera/data/slot.hpp>

#include <algorithm>
#include <utility>

namespace tessera {

/// How arrays become batches.
struct tensor_batches_options {
  std::size_t batch = 32;
  std::size_t x_axis = 0;       ///< of the tensor x that counts the examples: 1 where time is first
  std::size_t target_axis = 0;  ///< the same of the target
  bool shuffles = true;         ///< anew in every epoch
  std::uint64_t seed = 0;       ///< of the order
};

/// An array of conditions, an example after another, lent to the model as tensors of type C.
template <class C, class Array> struct condition_array {
  using tensor_type = C;
  Array values;
};
template <class C, class Array>
[[nodiscard]] auto conditions_of(Array values) -> condition_array<C, Array> {
  return {std::move(values)};
}

namespace detail {

template <class Conditions> struct filled_by {
  using type = nothing;
};
template <class C, class Array> struct filled_by<condition_array<C, Array>> {
  using type = filled<C>;
};

/// Errors  std::invalid_argument for an array whose elements do not lie one after another, row by
///         row, from its data() on: a view of a part
template <class Array> void check_is_plain(Array const& array, char const* what) {
  if constexpr (requires { array.data_offset(); }) {
    auto plain = array.data_offset() == 0;
    auto distance = std::size_t{1};
    for (auto a = array.dimension(); a-- > 0;) {
      auto const length = static_cast<std::size_t>(array.shape(a));
      plain = plain && (length == 1 || static_cast<std::size_t>(array.strides()[a]) == distance);
      distance *= length;
    }
    if (not plain)
      throw std::invalid_argument(std::string{"tensor_batches: expected "} + what +
                                  " in one piece, row by row; of a view, xt::eval makes a copy");
  }
}

/// The examples of an array (examples, ...) that `which(i)` names, i below count, along an axis of
/// a part of a slot.
///
/// Errors  std::invalid_argument for extents, and for a number, that the part does not hold
template <class Array, class X>
void gather(Array const& array, auto const& which, std::size_t count, std::size_t axis,
            filled<X>& part, char const* what) {
  constexpr auto most_axes = std::size_t{8};
  auto extents = std::array<std::size_t, most_axes>{};
  auto const axes = array.dimension();
  if (axes == 0 || axes > most_axes || axis >= axes)
    throw std::invalid_argument("tensor_batches: no axis " + std::to_string(axis) + " in the " +
                                std::to_string(axes) + " of " + what);
  auto outer = std::size_t{1};
  auto inner = std::size_t{1};
  for (auto a = std::size_t{1}; a < axes; ++a) {
    auto const length = static_cast<std::size_t>(array.shape(a));
    extents[a <= axis ? a - 1 : a] = length;
    (a <= axis ? outer : inner) *= length;
  }
  extents[axis] = count;
  auto const to = part.resize(std::span{extents}.first(axes), what);
  for (auto i = std::size_t{0}; i < count; ++i) {
    auto const* const example = array.data() + which(i) * outer * inner;
    for (auto o = std::size_t{0}; o < outer; ++o)
      for (auto k = std::size_t{0}; k < inner; ++k) {
        auto const at = o * inner + k;
        to.data()[(o * count + i) * inner + k] = number_as<scalar_of<X>>(example[at], what, [&] {
          return "number " + std::to_string(at) + " of example " + std::to_string(which(i));
        });
      }
  }
}

}  // namespace detail

/// Examples in memory: inputs and targets, and conditions if there are any, as arrays (examples,
/// ...) of any numbers: xtensor's, or xt::adapt for memory of another owner.
///
/// Shapes  x and target as one example, with the examples of a batch along their axis
/// Cost    a load copies example after example; 4 bytes for each example
/// Errors  std::invalid_argument for arrays of different lengths, for a view of a part, and, by a
///         load, where an example is not what the model is compiled for, or the model takes
///         integers and a number is none, or too large
template <class Inputs, class Targets, class Conditions = nothing> class tensor_batches {
 public:
  static constexpr bool carries = false;

  tensor_batches(Inputs inputs, Targets targets, tensor_batches_options options = {})
      : tensor_batches(std::move(inputs), std::move(targets), Conditions{}, options) {}
  tensor_batches(Inputs inputs, Targets targets, Conditions conditions,
                 tensor_batches_options options = {})
      : inputs_(std::move(inputs)),
        targets_(std::move(targets)),
        conditions_(std::move(conditions)),
        options_(options),
        count_(inputs_.shape(0)) {
    if (options_.batch == 0 || count_ == 0)
      throw std::invalid_argument("tensor_batches: expected examples, and a batch of at least 1");
    detail::check_is_plain(inputs_, "inputs");
    detail::check_is_plain(targets_, "targets");
    check("targets", targets_.shape(0));
    if constexpr (conditioned) {
      detail::check_is_plain(conditions_.values, "conditions");
      check("conditions", conditions_.values.shape(0));
    }
  }
  [[nodiscard]] auto size() const -> std::size_t {
    return (count_ + options_.batch - 1) / options_.batch;
  }
  void begin(std::uint64_t epoch) {
    if (options_.shuffles) order_ = shuffled(options_.seed, epoch, count_);
  }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const begin = batch * options_.batch;
    auto const n = std::min(options_.batch, count_ - begin);
    auto const [first, count] = share_of(n, options_.batch, chunk, chunks);
    auto const which = [&](std::size_t i) {
      auto const at = begin + first + i;
      return options_.shuffles ? std::size_t{order_.at(at)} : at;
    };
    detail::gather(inputs_, which, count, options_.x_axis, to.x, "x");
    detail::gather(targets_, which, count, options_.target_axis, to.target, "target");
    if constexpr (conditioned)
      detail::gather(conditions_.values, which, count, 0, to.extra, "condition");
  }

  static constexpr bool conditioned = not std::same_as<Conditions, nothing>;
  template <class> using extra = typename detail::filled_by<Conditions>::type;
  [[nodiscard]] static auto context(auto const& slot, auto base)
    requires(conditioned)
  {
    return given(slot.extra.read(), base);
  }

 private:
  void check(char const* what, std::size_t count) const {
    if (count != count_)
      throw std::invalid_argument("tensor_batches: " + std::to_string(count_) + " inputs, but " +
                                  std::to_string(count) + " " + what);
  }

  Inputs inputs_;
  Targets targets_;
  [[no_unique_address]] Conditions conditions_;
  tensor_batches_options options_;
  std::size_t count_;
  std::vector<std::uint32_t> order_;
};

}  // namespace tessera
