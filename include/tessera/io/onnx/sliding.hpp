// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx/place.hpp>
#include <tessera/layers/avg_pool2d.hpp>
#include <tessera/layers/conv1d.hpp>
#include <tessera/layers/conv2d.hpp>
#include <tessera/layers/max_pool2d.hpp>
#include <tessera/layers/upsample.hpp>

#include <limits>

/// Windows that slide over time and images, as ONNX: channels stand first there, so that most
/// have a Transpose before and behind them.
namespace tessera {

namespace detail {

using onnx_numbers = std::vector<std::int64_t>;
[[nodiscard]] constexpr auto onnx_number(std::size_t n) -> std::int64_t {
  return static_cast<std::int64_t>(n);
}
[[nodiscard]] inline auto onnx_pair(size2 s) -> onnx_numbers {
  return {onnx_number(s.height), onnx_number(s.width)};
}
[[nodiscard]] inline auto onnx_around(size2 s) -> onnx_numbers {
  return {onnx_number(s.height), onnx_number(s.width), onnx_number(s.height), onnx_number(s.width)};
}

/// How far a window reaches and goes on, along one axis.
struct onnx_window {
  std::size_t reach;  ///< dilation·(kernel - 1)
  std::size_t padding;
  std::size_t stride;

  [[nodiscard]] auto extent_behind(onnx_extent const& e) const -> onnx_extent {
    auto const grows = onnx_number(2 * padding) - onnx_number(reach);
    if (stride == 1 && grows == 0) return e;
    auto const number = (e.number + grows - 1) / onnx_number(stride) + 1;
    return {number, e.known() ? "" : e.symbol + "_windows_" + std::to_string(number)};
  }
};

/// Images (..., height, width, channels) through an operation that has channels first.
[[nodiscard]] auto onnx_over_images(auto& at, onnx_value const& x, onnx_window rows,
                                    onnx_window columns, std::size_t channels,
                                    auto const& operation) -> onnx_value {
  auto const rank = x.shape.size();
  auto const images = at.collapse(x, 0, rank - 3);
  auto const first = at.transpose(images, {0, 3, 1, 2});
  auto const behind = onnx_shape{first.shape[0],
                                 {onnx_number(channels), ""},
                                 rows.extent_behind(first.shape[2]),
                                 columns.extent_behind(first.shape[3])};
  auto const last = at.transpose({operation(first.name), behind}, {0, 2, 3, 1});
  return at.reshape(
      last, onnx_with_extents(x.shape, rank - 3, rank, {behind[2], behind[3], behind[1]}), x);
}

/// The weight of a convolution, and its bias where it has one, behind what it sees.
[[nodiscard]] auto onnx_conv_inputs(auto& at, std::string const& x) -> std::vector<std::string> {
  auto const& p = at.parameters;
  auto inputs = std::vector{x, at.tensor("weight", p.weight)};
  if constexpr (requires { p.bias.data(); }) inputs.push_back(at.tensor("bias", p.bias));
  return inputs;
}

/// What a causal convolution sees: the samples before the call, and those of the call, so many more
/// than x has.
template <std::size_t Reach>
[[nodiscard]] auto onnx_with_past(auto& at, onnx_value const& x) -> onnx_value {
  auto shape = x.shape;
  shape[0] = {Reach, ""};
  auto const past = at.state_in("past_0", shape);
  auto const all = at.node("Concat", {past.name, x.name}, {{"axis", std::int64_t{0}}});
  auto const end = std::numeric_limits<std::int64_t>::max();
  auto const last = at.node("Slice", {all, at.graph.integers({-onnx_number(Reach)}),
                                      at.graph.integers({end}), at.graph.integers({0})});
  at.state_out("past_n", {last, shape});
  auto longer = x.shape;
  longer[0].number += onnx_number(Reach);
  if (not longer[0].known()) longer[0].symbol += " + " + std::to_string(Reach);
  return {all, longer};
}

}  // namespace detail

/// With state, a causal one has past_0 come in and past_n go out: (dilation·(Kernel - 1), ..., In).
template <std::size_t In, std::size_t Out, std::size_t Kernel, conv1d_options Options>
auto to_onnx(conv1d<In, Out, Kernel, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  using layer = conv1d<In, Out, Kernel, Options>;
  using detail::onnx_number, detail::onnx_numbers;
  auto const carried = layer::remembers && at.call.carries;
  auto const before = onnx_number(carried ? 0 : Options.causal ? layer::reach : Options.padding);
  auto const behind = onnx_number(Options.causal ? 0 : Options.padding);
  auto seen = x;
  if constexpr (layer::remembers)
    if (carried) seen = detail::onnx_with_past<layer::reach>(at, x);
  auto const samples = at.collapse(seen, 1, x.shape.size() - 1);
  auto const first = at.transpose(samples, {1, 2, 0});
  auto const made = at.node("Conv", detail::onnx_conv_inputs(at, first.name),
                            {{"kernel_shape", onnx_numbers{Kernel}},
                             {"strides", onnx_numbers{Options.stride}},
                             {"pads", onnx_numbers{before, behind}},
                             {"dilations", onnx_numbers{Options.dilation}},
                             {"group", onnx_number(Options.groups)}});
  auto const window = detail::onnx_window{layer::reach, Options.padding, Options.stride};
  auto const time = Options.causal ? x.shape[0] : window.extent_behind(x.shape[0]);
  auto const last = at.transpose({made, {first.shape[0], {Out, ""}, time}}, {2, 0, 1});
  auto shape = onnx_with_last(x.shape, Out);
  shape[0] = time;
  return at.reshape(last, shape, x);
}
template <std::size_t In, std::size_t Out, size2 Kernel, conv2d_options Options>
auto to_onnx(conv2d<In, Out, Kernel, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  constexpr auto d = Options.dilation;
  auto const rows = detail::onnx_window{d.height * (Kernel.height - 1), Options.padding.height,
                                        Options.stride.height};
  auto const columns = detail::onnx_window{d.width * (Kernel.width - 1), Options.padding.width,
                                           Options.stride.width};
  return detail::onnx_over_images(at, x, rows, columns, Out, [&](std::string const& first) {
    return at.node("Conv", detail::onnx_conv_inputs(at, first),
                   {{"kernel_shape", detail::onnx_pair(Kernel)},
                    {"strides", detail::onnx_pair(Options.stride)},
                    {"pads", detail::onnx_around(Options.padding)},
                    {"dilations", detail::onnx_pair(d)},
                    {"group", detail::onnx_number(Options.groups)}});
  });
}

namespace detail {

/// MaxPool or AveragePool.
template <class Pool, size2 Window>
[[nodiscard]] auto onnx_pool(char const* op, auto& at, onnx_value const& x,
                             onnx_attributes attributes) -> onnx_value {
  auto const channels = static_cast<std::size_t>(x.shape.back().number);
  attributes.push_back({"kernel_shape", onnx_pair(Window)});
  attributes.push_back({"strides", onnx_pair(Pool::stride)});
  attributes.push_back({"pads", onnx_around(Pool::padding)});
  return onnx_over_images(
      at, x, {Window.height - 1, Pool::padding.height, Pool::stride.height},
      {Window.width - 1, Pool::padding.width, Pool::stride.width}, channels,
      [&](std::string const& first) { return at.node(op, {first}, std::move(attributes)); });
}

}  // namespace detail

template <size2 Window, max_pool2d_options Options>
auto to_onnx(max_pool2d<Window, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::onnx_pool<max_pool2d<Window, Options>, Window>("MaxPool", at, x, {});
}
template <size2 Window, avg_pool2d_options Options>
auto to_onnx(avg_pool2d<Window, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  using pool = typename avg_pool2d<Window, Options>::windows;
  return detail::onnx_pool<pool, Window>(
      "AveragePool", at, x, {{"count_include_pad", std::int64_t{Options.counts_padding ? 1 : 0}}});
}
template <std::size_t Factor>
auto to_onnx(upsample<Factor> const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const rank = x.shape.size();
  auto scales = std::vector<float>(rank, 1.0F);
  auto shape = x.shape;
  for (auto const axis : {rank - 3, rank - 2}) {
    scales[axis] = static_cast<float>(Factor);
    shape[axis].number *= detail::onnx_number(Factor);
  }
  auto const by = at.constant("scales", {detail::onnx_number(rank)}, scales);
  return {at.node("Resize", {x.name, "", by},
                  {{"mode", std::string{"nearest"}},
                   {"coordinate_transformation_mode", std::string{"asymmetric"}},
                   {"nearest_mode", std::string{"floor"}}}),
          shape};
}

}  // namespace tessera
