// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx/compose.hpp>
#include <tessera/layers/attention.hpp>

#include <cmath>
#include <limits>

/// Attention as ONNX, by its products.
namespace tessera {

namespace detail {

/// Heads of a sequence as matrices: (lanes, kv_heads, group, time, width).
struct onnx_heads {
  std::size_t kv_heads;
  std::size_t group;  ///< of queries to a head of keys
  std::size_t width;
  bool batch_first;

  /// The axes of (time, lanes, kv_heads, group, width), or (lanes, time, ...), as they are wanted.
  [[nodiscard]] auto axes() const -> std::vector<std::int64_t> {
    return batch_first ? std::vector<std::int64_t>{0, 2, 3, 1, 4}
                       : std::vector<std::int64_t>{1, 2, 3, 0, 4};
  }
  [[nodiscard]] auto axes_of_keys() const -> std::vector<std::int64_t> {
    return batch_first ? std::vector<std::int64_t>{0, 2, 3, 4, 1}
                       : std::vector<std::int64_t>{1, 2, 3, 4, 0};
  }
  [[nodiscard]] auto axes_back() const -> std::vector<std::int64_t> {
    return batch_first ? std::vector<std::int64_t>{0, 3, 1, 2, 4}
                       : std::vector<std::int64_t>{3, 0, 1, 2, 4};
  }
  /// Rows (a, b, heads·width) of which `members` share one of kv_heads.
  [[nodiscard]] auto split(auto& at, onnx_value const& x, std::size_t members) const -> onnx_value {
    auto const number = [](std::size_t n) { return onnx_extent{static_cast<std::int64_t>(n), ""}; };
    return at.reshape(x,
                      {x.shape[0], x.shape[1], number(kv_heads), number(members), number(width)});
  }
};

/// Queries of x, keys and values of what it sees, which is x itself without a memory.
template <class Layer, class Names>
[[nodiscard]] auto onnx_projections(auto& at, onnx_value const& x, onnx_value const& seen)
    -> std::array<onnx_value, 3> {
  auto const& p = at.parameters;
  if constexpr (Layer::fused) {
    constexpr auto widths = std::array{Layer::q_width, Layer::kv_width, Layer::kv_width};
    auto const sizes = at.graph.integers({widths[0], widths[1], widths[2]});
    auto const rows_of_each = onnx_attributes{{"axis", std::int64_t{0}}};
    auto const weight = at.tensor(Names::weight, p.in_proj_weight);
    auto const weights = at.nodes("Split", 3, {weight, sizes}, rows_of_each);
    auto biases = std::vector<std::string>(3);
    if constexpr (requires { p.in_proj_bias.data(); })
      biases = at.nodes("Split", 3, {at.tensor(Names::bias, p.in_proj_bias), sizes}, rows_of_each);
    return {onnx_affine(at, x, weights[0], biases[0], widths[0]),
            onnx_affine(at, seen, weights[1], biases[1], widths[1]),
            onnx_affine(at, seen, weights[2], biases[2], widths[2])};
  } else {
    return {onnx_linear(at, Names::query, p.query, x), onnx_linear(at, Names::key, p.key, seen),
            onnx_linear(at, Names::value, p.value, seen)};
  }
}

/// The extent of an axis at run time, as a vector of one.
[[nodiscard]] inline auto onnx_extent_of(auto& at, onnx_value const& x, std::int64_t axis)
    -> std::string {
  return at.node("Gather", {at.node("Shape", {x.name}), at.graph.integers({axis})});
}
/// 0, 1, ... below the number in a vector of one.
[[nodiscard]] inline auto onnx_count(auto& at, std::string const& number) -> std::string {
  auto const end = at.node("Squeeze", {number, at.graph.integers({0})});
  return at.node("Range", {at.graph.integer(0), end, at.graph.integer(1)});
}
/// 0 where a sample looks, and minus infinity where it does not: (time, time).
[[nodiscard]] inline auto onnx_causal_mask(auto& at, std::string const& time) -> std::string {
  auto const both = at.node("Concat", {time, time}, {{"axis", std::int64_t{0}}});
  auto const never = at.graph.number(-std::numeric_limits<float>::infinity());
  auto const full = at.node("Expand", {never, both});
  return at.node("Trilu", {full, at.graph.integer(1)}, {{"upper", std::int64_t{1}}});
}

/// Cosines and sines of the positions of a sequence, (time, 1, 1, 1, width / 2).
template <class Layer>
[[nodiscard]] auto onnx_angles(auto& at, std::string const& time) -> std::array<std::string, 2> {
  constexpr auto& frequencies = Layer::template frequencies<float>;
  auto const f =
      at.constant("frequencies", {frequencies.size()}, {frequencies.begin(), frequencies.end()});
  auto const place = at.node("Cast", {onnx_count(at, time)},
                             {{"to", static_cast<std::int64_t>(onnx_type::float32)}});
  auto const column = at.node("Unsqueeze", {place, at.graph.integers({1, 2, 3, 4})});
  auto const angle = at.node("Mul", {column, f});
  return {at.node("Cos", {angle}), at.node("Sin", {angle})};
}
/// Pairs of a head turned by the angle of their place; neighbours as halves, in between.
[[nodiscard]] inline auto onnx_turned(auto& at, onnx_value const& x, rotary_pairs pairs,
                                      std::array<std::string, 2> const& angles) -> onnx_value {
  auto const& [cosine, sine] = angles;
  auto const half = x.shape.back().number / 2;
  auto const neighbours = pairs == rotary_pairs::neighbours;
  auto apart = x.shape;
  apart.back() = {half, ""};
  apart.push_back({2, ""});
  auto const from = neighbours ? at.reshape(x, apart) : x;
  auto const each = neighbours ? std::int64_t{1} : half;
  auto const parts = at.nodes("Split", 2, {from.name, at.graph.integers({each, each})},
                              {{"axis", std::int64_t{-1}}});
  auto const column = [&](std::string const& name) {
    return neighbours ? at.node("Unsqueeze", {name, at.graph.integers({-1})}) : name;
  };
  auto const c = column(cosine);
  auto const s = column(sine);
  auto const low = at.node("Sub", {at.node("Mul", {parts[0], c}), at.node("Mul", {parts[1], s})});
  auto const high = at.node("Add", {at.node("Mul", {parts[1], c}), at.node("Mul", {parts[0], s})});
  auto const turned = at.node("Concat", {low, high}, {{"axis", std::int64_t{-1}}});
  return at.reshape({turned, from.shape}, x.shape);
}

/// True where an entry counts: (lanes, 1, 1, 1, entries), and (lanes, 1, 1, entries, 1).
[[nodiscard]] inline auto onnx_counted(auto& at, onnx_value const& lengths,
                                       std::string const& entries) -> std::array<std::string, 2> {
  auto const one = onnx_extent{1, ""};
  auto const lanes = onnx_product(lengths.shape, 0, lengths.shape.size());
  auto const column = at.reshape(lengths, {lanes, one, one, one, one});
  auto const whole =
      at.node("Cast", {column.name}, {{"to", static_cast<std::int64_t>(onnx_type::int64)}});
  auto const counts = at.node("Less", {onnx_count(at, entries), whole});
  auto const places = std::vector<std::int64_t>{0, 1, 2, 4, 3};
  return {counts, at.node("Transpose", {counts}, {{"perm", places}})};
}

/// softmax(q·kᵀ / sqrt(width))·v over heads, of entries that a mask and lengths leave.
template <class Layer, attention_options Options>
[[nodiscard]] auto onnx_attended(auto& at, std::string const& query, std::string const& key,
                                 std::string const& value, std::string const& time,
                                 onnx_value const& seen) -> std::string {
  auto const scale = at.graph.number(1 / std::sqrt(static_cast<float>(Layer::width)));
  auto scores = at.node("MatMul", {at.node("Mul", {query, scale}), key});
  if constexpr (Options.causal) scores = at.node("Add", {scores, onnx_causal_mask(at, time)});
  auto const softmax = [&](std::string const& of) {
    return at.node("Softmax", {of}, {{"axis", std::int64_t{-1}}});
  };
  if constexpr (Layer::crosses || Options.padded) {
    if (at.call.template gives<tag::lengths>()) {
      auto const entries = onnx_extent_of(at, seen, Options.batch_first ? 1 : 0);
      auto const [counts, rows] = onnx_counted(at, at.call.template value<tag::lengths>(), entries);
      auto const never = at.graph.number(-std::numeric_limits<float>::infinity());
      auto const weights = softmax(at.node("Where", {counts, scores, never}));
      // A lane of length 0 has no weights, and zeros come out; entries that do not count may be
      // NaN.
      auto const zero = at.graph.number(0);
      return at.node("MatMul", {at.node("Where", {counts, weights, zero}),
                                at.node("Where", {rows, value, zero})});
    }
  }
  return at.node("MatMul", {softmax(scores), value});
}

/// The heads of rows, side by side again: rows of (kv_heads, group, width).
template <class Layer, attention_options Options, class Names>
[[nodiscard]] auto onnx_heads_of(auto& at, onnx_value const& rows, onnx_value const& seen)
    -> onnx_value {
  constexpr auto heads = onnx_heads{Layer::kv_heads, Layer::heads / Layer::kv_heads, Layer::width,
                                    Options.batch_first};
  auto const [q, k, v] = onnx_projections<Layer, Names>(at, rows, seen);
  auto query = heads.split(at, q, heads.group);
  auto key = heads.split(at, k, 1);
  if constexpr (Layer::norms) {
    auto const norm = [&](char const* name, auto const& p, onnx_value const& of) {
      auto const path = std::string{name} + ".weight";
      return onnx_rms_norm(at, of, at.tensor(path.c_str(), p.weight),
                           Layer::head_norm::template epsilon<float>);
    };
    query = norm(Names::query_norm, at.parameters.query_norm, query);
    key = norm(Names::key_norm, at.parameters.key_norm, key);
  }
  auto const value = at.transpose(heads.split(at, v, 1), heads.axes());
  auto time = std::string{};
  if constexpr (Layer::turns || Options.causal)
    time = onnx_extent_of(at, rows, Options.batch_first ? 1 : 0);
  if constexpr (Layer::turns) {
    auto const angles = onnx_angles<Layer>(at, time);
    query = onnx_turned(at, query, Options.pairs, angles);
    key = onnx_turned(at, key, Options.pairs, angles);
  }
  auto const turned = at.transpose(query, heads.axes());
  auto const mixed = onnx_attended<Layer, Options>(
      at, turned.name, at.transpose(key, heads.axes_of_keys()).name, value.name, time, seen);
  return at.transpose({mixed, turned.shape}, heads.axes_back());
}

}  // namespace detail

/// A cache is empty at the start of a call.
///
/// Errors  onnx_error for a cache that is asked to come in and go out
template <std::size_t Features, attention_options Options, class Names>
auto to_onnx(attention_layer<Features, Options, Names> const&, auto& at, onnx_value const& x)
    -> onnx_value {
  using layer = attention_layer<Features, Options, Names>;
  if (layer::caches && at.call.carries)
    throw onnx_error("save_onnx: the cache of an attention does not come in and go out");
  auto const rows = at.collapse(x, 1, x.shape.size() - 1);
  auto seen = rows;
  if constexpr (layer::crosses) {
    auto const& memory = at.call.template value<tag::memory>();
    seen = at.collapse(memory, 1, memory.shape.size() - 1);
  }
  auto const heads = detail::onnx_heads_of<layer, Options, Names>(at, rows, seen);
  auto const y = at.reshape(heads, onnx_with_last(x.shape, layer::q_width), x);
  if constexpr (not layer::projects_out)
    return y;
  else if constexpr (layer::fused)
    return detail::onnx_linear(at, Names::out, at.parameters.out_proj, y);
  else
    return detail::onnx_linear(at, Names::out, at.parameters.out, y);
}

}  // namespace tessera
