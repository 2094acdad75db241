// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/added.hpp>
#include <tessera/compose/frozen.hpp>
#include <tessera/compose/parallel.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/compose/tied.hpp>
#include <tessera/compose/with.hpp>
#include <tessera/io/onnx/place.hpp>
#include <tessera/models/language_model.hpp>

/// Compositions as ONNX: their children, and what is between them.
namespace tessera {

template <class... Layers>
auto to_onnx(sequential<Layers...> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  auto value = x;
  for_each_index<sizeof...(Layers)>(
      [&]<std::size_t I>() { value = onnx_of_child<I>(layer, at, value); });
  return value;
}
template <class F>
auto to_onnx(residual<F> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Add", x, {onnx_of_child<0>(layer, at, x).name});
}
template <class F, class G>
auto to_onnx(added<F, G> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  auto const y = onnx_of_child<0>(layer, at, x);
  return at.like("Add", y, {onnx_of_child<1>(layer, at, x).name});
}
template <class... Branches>
auto to_onnx(parallel<Branches...> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  auto names = std::vector<std::string>{};
  auto shape = onnx_shape{};
  auto width = std::int64_t{0};
  for_each_index<sizeof...(Branches)>([&]<std::size_t I>() {
    auto const y = onnx_of_child<I>(layer, at, x);
    names.push_back(y.name);
    width += y.shape.back().number;
    if (I == 0) shape = y.shape;
  });
  return {at.node("Concat", std::move(names), {{"axis", std::int64_t{-1}}}),
          onnx_with_last(std::move(shape), static_cast<std::size_t>(width))};
}
template <class Layer, std::size_t N>
auto to_onnx(repeat<Layer, N> const&, auto& at, onnx_value const& x) -> onnx_value {
  auto value = x;
  for (auto i = std::size_t{0}; i < N; ++i)
    value =
        detail::write_onnx<Layer>(at.graph, at.path / i, at.parameters.template get<0>(i),
                                  detail::part_of_statistics<0>(at.statistics, i), at.call, value);
  return value;
}
template <class Self, class Layer>
auto to_onnx(wrapper<Self, Layer> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  return onnx_of_child<0>(layer, at, x);
}
template <class Layer>
auto to_onnx(restarted<Layer> const& layer, auto& at, onnx_value const& x) -> onnx_value {
  at.call.carries = false;
  return onnx_of_child<0>(layer, at, x);
}
template <class Layer>
auto to_onnx(frozen<Layer> const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::write_onnx<evaluated<Layer>>(at.graph, at.path, at.statistics.fixed,
                                              at.statistics.moving, at.call, x);
}
template <class Layer>
auto to_onnx(recompute<Layer> const&, auto& at, onnx_value const& x) -> onnx_value {
  return detail::write_onnx<Layer>(at.graph, at.path, at.parameters, at.statistics, at.call, x);
}
template <class From, class Net, class Into, class Body>
auto to_onnx(with<From, Net, Into, Body> const& layer, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const from = at.call.template value<From>();
  at.call.inputs.erase(onnx_tag_key<From>());
  auto const made = onnx_of_child<0>(layer, at, from);
  at.call.inputs.insert_or_assign(onnx_tag_key<Into>(), made);
  return onnx_of_child<1>(layer, at, x);
}
/// A forward-only layer: the struct itself says how it is written.
template <class L, class Place>
  requires detail::has_onnx<L, Place>
auto to_onnx(traced<L> const&, Place& at, onnx_value const& x) -> onnx_value {
  return detail::write_onnx<L>(at.graph, at.path, at.parameters, at.statistics, at.call, x);
}

namespace detail {

/// Rows of a table, by whole numbers; float ones are taken as such.
[[nodiscard]] inline auto onnx_rows(auto& at, std::string const& table, std::size_t width,
                                    onnx_value const& x) -> onnx_value {
  constexpr auto whole = static_cast<std::int64_t>(onnx_type::int64);
  auto const index =
      x.type == onnx_type::int64 ? x.name : at.node("Cast", {x.name}, {{"to", whole}});
  auto shape = x.shape;
  shape.push_back({static_cast<std::int64_t>(width), ""});
  return {at.node("Gather", {table, index}), std::move(shape)};
}
/// x·Wᵀ + b by the names of tensors; without a bias where its name is empty.
[[nodiscard]] inline auto onnx_affine(auto& at, onnx_value const& x, std::string const& weight,
                                      std::string const& bias, std::size_t out) -> onnx_value {
  auto const transposed =
      at.node("Transpose", {weight}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  auto const y = onnx_value{at.node("MatMul", {x.name, transposed}), onnx_with_last(x.shape, out)};
  return bias.empty() ? y : at.like("Add", y, {bias});
}

/// A linear layer by its parameters, under a name in the place of another.
[[nodiscard]] auto onnx_linear(auto& at, std::string const& name, auto const& p,
                               onnx_value const& x) -> onnx_value {
  auto const weight = at.tensor((name + ".weight").c_str(), p.weight);
  auto bias = std::string{};
  if constexpr (requires { p.bias.data(); }) bias = at.tensor((name + ".bias").c_str(), p.bias);
  return onnx_affine(at, x, weight, bias, first_of<shape_of<decltype(p.weight)>>);
}
/// The last of the first axis.
[[nodiscard]] inline auto onnx_last_of(auto& at, onnx_value const& x) -> onnx_value {
  return {at.node("Gather", {x.name, at.graph.integer(-1)}, {{"axis", std::int64_t{0}}}),
          {x.shape.begin() + 1, x.shape.end()},
          x.type};
}
/// x / sqrt(mean(x²) + epsilon)·weight, by its parts: later sets have an operation for it.
[[nodiscard]] inline auto onnx_rms_norm(auto& at, onnx_value const& x, std::string const& weight,
                                        float epsilon) -> onnx_value {
  auto const squares = at.node("Mul", {x.name, x.name});
  auto const mean = at.node("ReduceMean", {squares}, {{"axes", std::vector<std::int64_t>{-1}}});
  auto const root = at.node("Sqrt", {at.node("Add", {mean, at.graph.number(epsilon)})});
  return at.like("Mul", at.like("Div", x, {root}), {weight});
}

}  // namespace detail

template <std::size_t Vocabulary, std::size_t Width, class Body>
auto to_onnx(tied<Vocabulary, Width, Body> const& layer, auto& at, onnx_value const& x)
    -> onnx_value {
  auto const weight = at.tensor("weight", at.parameters.mine.weight);
  auto const e = detail::onnx_rows(at, weight, Width, x);
  return detail::onnx_affine(at, onnx_of_child<0>(layer, at, e), weight, "", Vocabulary);
}
template <std::size_t Vocabulary, std::size_t Width, class Body, language_model_options Options,
          class Names>
auto to_onnx(language_model<Vocabulary, Width, Body, Options, Names> const& layer, auto& at,
             onnx_value const& x) -> onnx_value {
  auto const& own = at.parameters.mine;
  auto head = at.tensor(Names::embedding, own.embedding);
  auto const e = detail::onnx_rows(at, head, Width, x);
  auto h = onnx_of_child<0>(layer, at, e);
  if constexpr (not Options.tied) head = at.tensor(Names::head, own.head);
  if constexpr (Options.last_alone) h = detail::onnx_last_of(at, h);
  return detail::onnx_affine(at, h, head, "", Vocabulary);
}

}  // namespace tessera
