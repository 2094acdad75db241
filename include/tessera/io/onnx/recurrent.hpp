// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx/place.hpp>
#include <tessera/layers/gru.hpp>
#include <tessera/layers/lstm.hpp>

/// Recurrent layers as ONNX: an operation for each level and direction. onnxruntime takes time
/// first only, which is how sequences lie here.
namespace tessera {

namespace detail {

/// The gates of W, which follow one another, in another order.
[[nodiscard]] inline auto onnx_gates(std::vector<float> const& w,
                                     std::vector<std::size_t> const& order) -> std::vector<float> {
  auto const size = w.size() / order.size();
  auto result = std::vector<float>{};
  for (auto const gate : order)
    for (auto i = gate * size; i < (gate + 1) * size; ++i) result.push_back(w[i]);
  return result;
}

/// What ONNX calls a cell, and its order of gates as places among torch's.
template <class Cell> struct onnx_cell;
template <> struct onnx_cell<lstm_cell> {
  static constexpr auto op = "LSTM";
  static auto order() -> std::vector<std::size_t> { return {0, 3, 1, 2}; }  // i, o, f, c
  static auto attributes() -> onnx_attributes { return {}; }
  static auto states() -> std::vector<std::string> { return {"h", "c"}; }
};
template <> struct onnx_cell<gru_cell> {
  static constexpr auto op = "GRU";
  static auto order() -> std::vector<std::size_t> { return {1, 0, 2}; }  // z, r, h
  static auto attributes() -> onnx_attributes { return {{"linear_before_reset", std::int64_t{1}}}; }
  static auto states() -> std::vector<std::string> { return {"h"}; }
};

/// "_l0", "_l0_reverse": the ending of torch's names.
[[nodiscard]] inline auto onnx_ending(recurrent_place place) -> std::string {
  return "_l" + std::to_string(place.level) + (place.reversed ? "_reverse" : "");
}

/// W, R and B of a layer, under the names that torch gives the parameters they are made of; B
/// is "bias_l0".
template <class Cell>
[[nodiscard]] auto onnx_recurrent_tensors(auto& at, std::string const& ending)
    -> std::vector<std::string> {
  auto const order = onnx_cell<Cell>::order();
  auto const& p = at.parameters;
  auto const name = [&](char const* stem) {
    return std::string{(at.path / path_name((stem + ending).c_str())).c_str()};
  };
  auto const matrix = [&](char const* stem, auto const& w) {
    using S = shape_of<decltype(w)>;
    return at.graph.tensor(name(stem), {1, bound_of(S::extents[0]), bound_of(S::extents[1])},
                           onnx_gates(floats_of(name(stem), w), order));
  };
  auto names = std::vector{matrix("weight_ih", p.weight_ih), matrix("weight_hh", p.weight_hh)};
  if constexpr (requires { p.bias_ih.data(); }) {
    auto both = onnx_gates(floats_of(name("bias_ih"), p.bias_ih), order);
    auto const of_h = onnx_gates(floats_of(name("bias_hh"), p.bias_hh), order);
    both.insert(both.end(), of_h.begin(), of_h.end());
    names.push_back(
        at.graph.tensor(name("bias"), {1, static_cast<std::int64_t>(both.size())}, both));
  } else {
    names.emplace_back();
  }
  return names;
}

}  // namespace detail

/// With state, h_0_l0 and c_0_l0 come in and h_n_l0 and c_n_l0 go out, (lanes..., Hidden) each.
template <class Cell, std::size_t In, std::size_t Hidden, auto Options, recurrent_place Place>
  requires(not recurrent_layer<Cell, In, Hidden, Options, Place>::projected)
auto to_onnx(recurrent_layer<Cell, In, Hidden, Options, Place> const&, auto& at,
             onnx_value const& x) -> onnx_value {
  using cell = detail::onnx_cell<Cell>;
  auto const ending = detail::onnx_ending(Place);
  auto const samples = at.collapse(x, 1, x.shape.size() - 1);
  auto const state_shape = onnx_with_last({x.shape.begin() + 1, x.shape.end()}, Hidden);
  auto const lanes = onnx_shape{{1, ""}, samples.shape[1], {Hidden, ""}};

  auto inputs = detail::onnx_recurrent_tensors<Cell>(at, ending);
  inputs.insert(inputs.begin(), samples.name);
  if (at.call.carries) {
    inputs.emplace_back();  // lengths of sequences
    for (auto const& s : cell::states()) {
      auto const before = at.state_in(s + "_0" + ending, state_shape);
      inputs.push_back(at.reshape(before, lanes).name);
    }
  }
  auto attributes = cell::attributes();
  attributes.push_back({"hidden_size", std::int64_t{Hidden}});
  attributes.push_back({"direction", std::string{Place.reversed ? "reverse" : "forward"}});
  auto const made = at.nodes(cell::op, 1 + cell::states().size(), inputs, attributes);
  if (at.call.carries)
    for (auto i = std::size_t{0}; i < cell::states().size(); ++i)
      at.state_out(cell::states()[i] + "_n" + ending,
                   at.reshape({made[1 + i], lanes}, state_shape, x));
  auto const y = onnx_value{at.node("Squeeze", {made[0], at.graph.integers({1})}),
                            onnx_with_last(samples.shape, Hidden)};
  return at.reshape(y, onnx_with_last(x.shape, Hidden), x);
}

}  // namespace tessera
