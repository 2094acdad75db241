// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx/compose.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/batch_norm.hpp>
#include <tessera/layers/condition_bias.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/layers/embedding.hpp>
#include <tessera/layers/flatten.hpp>
#include <tessera/layers/gated_perceptron.hpp>
#include <tessera/layers/group_norm.hpp>
#include <tessera/layers/identity.hpp>
#include <tessera/layers/last_step.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/mean_over_length.hpp>
#include <tessera/layers/mean_over_time.hpp>
#include <tessera/layers/position_embedding.hpp>
#include <tessera/layers/rms_norm.hpp>
#include <tessera/layers/select_column.hpp>
#include <tessera/layers/time_embedding.hpp>
#include <tessera/layers/token_type_embedding.hpp>
#include <tessera/layers/transposed.hpp>
#include <tessera/layers/unit_length.hpp>

/// Layers as ONNX that see numbers, rows or steps.
namespace tessera {

// -- rows -----------------------------------------------------------------------------------------

template <std::size_t In, std::size_t Out, linear_options Options>
auto to_onnx(linear<In, Out, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const weight = at.tensor("weight", at.parameters.weight);
  auto bias = std::string{};
  if constexpr (Options.bias) bias = at.tensor("bias", at.parameters.bias);
  return detail::onnx_affine(at, x, weight, bias, Out);
}
template <std::size_t Features, std::size_t Hidden, gated_perceptron_options Options>
auto to_onnx(gated_perceptron<Features, Hidden, Options> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const gate = detail::onnx_linear(at, "gate_proj", at.parameters.gate_proj, x);
  auto const up = detail::onnx_linear(at, "up_proj", at.parameters.up_proj, x);
  auto const open = at.like("Mul", gate, {at.node("Sigmoid", {gate.name})});
  return detail::onnx_linear(at, "down_proj", at.parameters.down_proj,
                             at.like("Mul", open, {up.name}));
}
template <std::size_t Count, std::size_t Width>
auto to_onnx(embedding<Count, Width> const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::onnx_rows(at, at.tensor("weight", at.parameters.weight), Width, x);
}
/// The first rows of the table, for all lanes.
///
/// Errors  onnx_error where the number of samples is asked to come in and go out
template <std::size_t Count, std::size_t Width, position_embedding_options Options>
auto to_onnx(position_embedding<Count, Width, Options> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  if (Options.streams && at.call.carries)
    throw onnx_error("save_onnx: the position of a stream does not come in and go out");
  auto const first = at.graph.integers({0});
  auto const time = at.node("Gather", {at.node("Shape", {x.name}), first});
  auto const table = at.tensor("weight", at.parameters.weight);
  auto rows = at.node("Slice", {table, first, time, first});
  auto lanes = std::vector<std::int64_t>{};
  for (auto axis = std::size_t{1}; axis + 1 < x.shape.size(); ++axis)
    lanes.push_back(static_cast<std::int64_t>(axis));
  if (not lanes.empty()) rows = at.node("Unsqueeze", {rows, at.graph.integers(lanes)});
  return at.like("Add", x, {rows});
}
template <std::size_t Count, std::size_t Width>
auto to_onnx(token_type_embedding<Count, Width> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const table = at.tensor("weight", at.parameters.weight);
  if (not at.call.template gives<tag::token_types>())
    return at.like("Add", x, {at.node("Gather", {table, at.graph.integer(0)})});
  auto const& types = at.call.template value<tag::token_types>();
  return at.like("Add", x, {detail::onnx_rows(at, table, Width, types).name});
}
template <std::size_t Width>
auto to_onnx(sinusoidal<Width> const&, auto& at, onnx_value const& x) -> onnx_value {
  constexpr auto half = Width / 2;
  constexpr auto frequencies = sinusoidal<Width>::template frequencies<float>;
  auto const f = at.constant("frequencies", {half}, {frequencies.begin(), frequencies.end()});
  auto const column = at.node("Unsqueeze", {x.name, at.graph.integers({-1})});
  auto const angle = at.node("Mul", {column, f});
  auto shape = x.shape;
  shape.push_back({Width, ""});
  return {at.node("Concat", {at.node("Cos", {angle}), at.node("Sin", {angle})},
                  {{"axis", std::int64_t{-1}}}),
          std::move(shape)};
}

/// The condition's bias repeats over the axes between, or by NumPy's rule, which is that of Add.
template <std::size_t Width, std::size_t Channels, condition_axes Axes>
auto to_onnx(condition_bias<Width, Channels, Axes> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const shift = detail::onnx_affine(at, at.call.template value<tag::condition>(),
                                         at.tensor("weight", at.parameters.weight),
                                         at.tensor("bias", at.parameters.bias), Channels);
  auto const between = Axes == condition_axes::leading ? x.shape.size() - 2 : std::size_t{0};
  auto const ones = onnx_shape(between, onnx_extent{1, ""});
  return at.like("Add", x, {at.reshape(shift, onnx_with_extents(shift.shape, 1, 1, ones)).name});
}

// -- norms ----------------------------------------------------------------------------------------
namespace detail {

/// A factor and a summand for each of `count` features: learnt, or 1 and 0.
template <bool Affine>
[[nodiscard]] auto onnx_weight_and_bias(auto& at, std::size_t count) -> std::array<std::string, 2> {
  if constexpr (Affine)
    return {at.tensor("weight", at.parameters.weight), at.tensor("bias", at.parameters.bias)};
  else
    return {at.graph.numbers(1, count), at.graph.numbers(0, count)};
}
[[nodiscard]] inline auto onnx_epsilon(std::uint64_t epsilon_1e12) -> onnx_attribute {
  return {"epsilon", static_cast<float>(static_cast<double>(epsilon_1e12) * 1e-12)};
}

}  // namespace detail

template <std::size_t Features, layer_norm_options Options>
auto to_onnx(layer_norm<Features, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const [weight, bias] = detail::onnx_weight_and_bias<Options.affine>(at, Features);
  return at.like("LayerNormalization", x, {weight, bias},
                 {{"axis", std::int64_t{-1}}, detail::onnx_epsilon(Options.epsilon_1e12)});
}
template <std::size_t Features, rms_norm_options Options>
auto to_onnx(rms_norm<Features, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::onnx_rms_norm(at, x, at.tensor("weight", at.parameters.weight),
                               rms_norm<Features, Options>::template epsilon<float>);
}
/// Every group as a channel of its own of InstanceNormalization: the operation for groups takes
/// factors of groups, not of channels.
template <std::size_t Groups, std::size_t Channels, group_norm_options Options>
auto to_onnx(group_norm<Groups, Channels, Options> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const groups = onnx_extent{Groups, ""};
  auto const width = onnx_extent{Channels / Groups, ""};
  auto const places = onnx_product(x.shape, 1, x.shape.size() - 1);
  auto const images = x.shape[0];
  auto const split = at.reshape(x, {images, places, groups, width}, x);
  auto const apart = at.transpose(split, {0, 2, 1, 3});
  auto const rows = at.collapse(apart, 2, 4);
  auto const normal = at.like("InstanceNormalization", rows,
                              {at.graph.numbers(1, Groups), at.graph.numbers(0, Groups)},
                              {detail::onnx_epsilon(Options.epsilon_1e12)});
  auto const together = at.transpose(at.reshape(normal, apart.shape, apart), {0, 2, 1, 3});
  auto const y = at.reshape(together, x.shape, x);
  if constexpr (not Options.affine) {
    return y;
  } else {
    auto const scaled = at.like("Mul", y, {at.tensor("weight", at.parameters.weight)});
    return at.like("Add", scaled, {at.tensor("bias", at.parameters.bias)});
  }
}
template <std::size_t Features, batch_norm_options Options>
auto to_onnx(batch_norm<Features, Options> const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const [weight, bias] = detail::onnx_weight_and_bias<Options.affine>(at, Features);
  auto const rows = at.collapse(x, 0, x.shape.size() - 1);
  auto const y = at.like("BatchNormalization", rows,
                         {weight, bias, at.tensor("running_mean", at.statistics.running_mean),
                          at.tensor("running_var", at.statistics.running_var)},
                         {detail::onnx_epsilon(Options.epsilon_1e12)});
  return at.reshape(y, x.shape, x);
}

// -- numbers --------------------------------------------------------------------------------------

inline auto to_onnx(tanh_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Tanh", x);
}
inline auto to_onnx(sigmoid_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Sigmoid", x);
}
inline auto to_onnx(relu_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Relu", x);
}
inline auto to_onnx(softplus_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Softplus", x);
}
inline auto to_onnx(silu_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Mul", x, {at.node("Sigmoid", {x.name})});
}
/// x·(1 + erf(x / sqrt(2))) / 2
inline auto to_onnx(gelu_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const e = at.like("Erf", at.like("Div", x, {at.graph.number(1.41421356237309515F)}));
  auto const more = at.like("Add", e, {at.graph.number(1)});
  return at.like("Mul", at.like("Mul", x, {more.name}), {at.graph.number(0.5F)});
}
/// x·sigmoid(2·sqrt(2/pi)·(x + 0.044715·x³))
inline auto to_onnx(gelu_tanh_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const square = at.like("Mul", x, {x.name});
  auto const cubic = at.like("Mul", square, {at.graph.number(0.071354816272600247F)});
  auto const factor = at.like("Add", cubic, {at.graph.number(1.5957691216057308F)});
  auto const argument = at.like("Mul", x, {factor.name});
  return at.like("Mul", x, {at.node("Sigmoid", {argument.name})});
}
template <probability P> auto to_onnx(dropout<P> const&, auto&, onnx_value const& x) -> onnx_value {
  return x;
}
inline auto to_onnx(identity const&, auto&, onnx_value const& x) -> onnx_value { return x; }

// -- axes -----------------------------------------------------------------------------------------

inline auto to_onnx(transposed_layer const&, auto& at, onnx_value const& x) -> onnx_value {
  auto axes = std::vector<std::int64_t>{1, 0};
  for (auto i = axes.size(); i < x.shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return at.transpose(x, axes);
}
inline auto to_onnx(last_step const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::onnx_last_of(at, x);
}
inline auto to_onnx(mean_over_time const&, auto& at, onnx_value const& x) -> onnx_value {
  return {at.node("ReduceMean", {x.name},
                  {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", std::int64_t{0}}}),
          {x.shape.begin() + 1, x.shape.end()}};
}
/// The sum over the samples below a length, by the length, or by 1 where it is 0.
inline auto to_onnx(mean_over_length const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const number = static_cast<std::int64_t>(onnx_type::float32);
  auto const& given = at.call.template value<tag::lengths>();
  auto const lengths = at.node("Cast", {given.name}, {{"to", number}});
  auto const column = at.node("Unsqueeze", {lengths, at.graph.integers({-1})});
  auto const time = at.node("Gather", {at.node("Shape", {x.name}), at.graph.integers({0})});
  auto const end = at.node("Squeeze", {time, at.graph.integers({0})});
  auto const range = at.node("Range", {at.graph.integer(0), end, at.graph.integer(1)});
  auto axes = std::vector<std::int64_t>{};
  for (auto axis = std::size_t{1}; axis < x.shape.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  auto const place =
      at.node("Unsqueeze", {at.node("Cast", {range}, {{"to", number}}), at.graph.integers(axes)});
  auto const kept =
      at.node("Where", {at.node("Less", {place, column}), x.name, at.graph.number(0)});
  auto const sum =
      at.node("ReduceSum", {kept, at.graph.integers({0})}, {{"keepdims", std::int64_t{0}}});
  return {at.node("Div", {sum, at.node("Max", {column, at.graph.number(1)})}),
          {x.shape.begin() + 1, x.shape.end()}};
}
inline auto to_onnx(unit_length const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const length = at.node("ReduceL2", {x.name}, {{"axes", std::vector<std::int64_t>{-1}}});
  return at.like("Div", x, {at.node("Max", {length, at.graph.number(1e-12F)})});
}
template <std::size_t Index, std::size_t Width>
auto to_onnx(select_column<Index, Width> const&, auto& at, onnx_value const& x) -> onnx_value {
  return {at.node("Gather", {x.name, at.graph.integer(Index)}, {{"axis", std::int64_t{-1}}}),
          {x.shape.begin(), x.shape.end() - 1},
          x.type};
}
inline auto to_onnx(flatten const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.collapse(x, 1, x.shape.size());
}

}  // namespace tessera
