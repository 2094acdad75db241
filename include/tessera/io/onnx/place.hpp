// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>
#include <tessera/compose/walk.hpp>
#include <tessera/io/number_text.hpp>
#include <tessera/io/onnx/graph.hpp>
#include <tessera/tensor/weights.hpp>

#include <cmath>
#include <limits>
#include <utility>

/// A layer in its place in a graph, and what hooks write there.
namespace tessera {

/// The extents [first, last) of a shape as one.
[[nodiscard]] inline auto onnx_product(onnx_shape const& shape, std::size_t first, std::size_t last)
    -> onnx_extent {
  auto result = onnx_extent{1, ""};
  for (auto i = first; i < last; ++i) {
    auto const& e = shape[i];
    auto const before = result.known() && result.number == 1 ? std::string{}
                        : result.known()                     ? std::to_string(result.number) + '*'
                                                             : result.symbol + '*';
    if (not e.known())
      result.symbol = before + e.symbol;
    else if (not result.known() && e.number != 1)
      result.symbol = before + std::to_string(e.number);
    result.number *= e.number;
  }
  return result;
}
/// The shape with `e` in the place of the extents [first, last).
[[nodiscard]] inline auto onnx_with_extents(onnx_shape const& shape, std::size_t first,
                                            std::size_t last, onnx_shape const& between)
    -> onnx_shape {
  auto const at = [&](std::size_t i) { return shape.begin() + static_cast<std::ptrdiff_t>(i); };
  auto result = onnx_shape{shape.begin(), at(first)};
  result.insert(result.end(), between.begin(), between.end());
  result.insert(result.end(), at(last), shape.end());
  return result;
}
[[nodiscard]] inline auto onnx_with_last(onnx_shape shape, std::size_t width) -> onnx_shape {
  shape.back() = {static_cast<std::int64_t>(width), ""};
  return shape;
}

namespace detail {

/// A parameter as numbers of float, by rows.
///
/// Errors  onnx_error for a number that is beyond those of float
template <class W>
[[nodiscard]] auto floats_of(std::string const& path, W const& w) -> std::vector<float> {
  auto result = std::vector<float>{};
  result.reserve(shape_of<W>::capacity);
  if constexpr (requires { w.numbers(); }) {
    constexpr auto in = shape_of<W>::capacity / first_of<shape_of<W>>;
    auto const numbers = w.numbers();
    for (auto i = std::size_t{0}; i < shape_of<W>::capacity; ++i)
      result.push_back(static_cast<float>(numbers.at(i / in, i % in)));
  } else {
    for (auto i = std::size_t{0}; i < shape_of<W>::capacity; ++i) {
      auto const number = w.data()[i];
      if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())
        throw onnx_error(std::string{"save_onnx: expected numbers that float holds, got "} +
                         number_text(number, 9) + " in \"" + path + '"');
      result.push_back(static_cast<float>(number));
    }
  }
  return result;
}
template <class S> [[nodiscard]] auto onnx_extents_of() -> std::vector<std::int64_t> {
  auto result = std::vector<std::int64_t>{};
  for (auto axis = std::size_t{0}; axis < S::rank; ++axis)
    result.push_back(static_cast<std::int64_t>(bound_of(S::extents[axis])));
  return result;
}

/// Part I of the statistics of a composition, one of `row`; nothing where there are none.
template <std::size_t I, class S>
[[nodiscard]] auto part_of_statistics(S const& s, std::size_t row) -> auto const& {
  if constexpr (requires { s.template get<I>(row); })
    return s.template get<I>(row);
  else
    return empty_object<nothing>;
}

}  // namespace detail

/// A tag as it is written with its namespaces: two tags may have one name.
template <class Tag> [[nodiscard]] constexpr auto onnx_tag_key() -> std::string_view {
  auto const text = std::string_view{__PRETTY_FUNCTION__};
  auto const begin = text.find("Tag = ") + 6;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}
/// The name of a tag: "condition" of tag::condition.
template <class Tag> [[nodiscard]] auto onnx_tag_name() -> std::string {
  auto const text = onnx_tag_key<Tag>();
  auto const scope = text.rfind("::");
  return std::string{scope == std::string_view::npos ? text : text.substr(scope + 2)};
}

/// What a layer is given besides x, by tag, and whether its state comes in and goes out.
struct onnx_call {
  bool carries = false;
  std::map<std::string_view, onnx_value> inputs = {};

  template <class Tag> [[nodiscard]] auto gives() const -> bool {
    return inputs.contains(onnx_tag_key<Tag>());
  }
  template <class Tag> [[nodiscard]] auto value() const -> onnx_value const& {
    return inputs.at(onnx_tag_key<Tag>());
  }
};

/// Where a layer stands: its path, its parameters and statistics, and the graph that it is written
/// to. A layer is written by
///
///   auto to_onnx(my_layer const&, auto& at, onnx_value const& x) -> onnx_value
///
/// beside it, in its namespace: it adds operations, and returns what comes out. What derives from
/// the layer is written so, too: one that computes something else has a to_onnx of its own.
template <class P, class S> struct onnx_place {
  onnx_graph& graph;
  path_name path;
  P const& parameters;
  S const& statistics;
  onnx_call call;

  /// A parameter, or statistics, under the name that it has in files of PyTorch.
  template <class W> auto tensor(char const* name, W const& w) -> std::string {
    auto const whole = path / path_name(name);
    auto const in_model = std::string{whole.c_str()};
    if (whole.is_cut())
      throw onnx_error("save_onnx: expected paths of parameters of less than 128 letters, got \"" +
                       in_model + '"');
    return graph.tensor(in_model, detail::onnx_extents_of<shape_of<W>>(),
                        detail::floats_of(in_model, w));
  }
  /// Numbers that no training changes.
  auto constant(char const* name, std::vector<std::int64_t> const& extents,
                std::vector<float> const& numbers) -> std::string {
    return graph.constant((path / path_name(name)).c_str(), extents, numbers);
  }
  /// An operation with one output, or with several.
  auto node(char const* op, std::vector<std::string> inputs, onnx_attributes attributes = {})
      -> std::string {
    return nodes(op, 1, std::move(inputs), std::move(attributes))[0];
  }
  auto nodes(char const* op, std::size_t outputs, std::vector<std::string> inputs,
             onnx_attributes attributes = {}) -> std::vector<std::string> {
    return graph.node(op, path.c_str(), std::move(inputs), std::move(attributes), outputs);
  }
  /// An operation that keeps the shape of its first input.
  auto like(char const* op, onnx_value const& x, std::vector<std::string> more = {},
            onnx_attributes attributes = {}) -> onnx_value {
    more.insert(more.begin(), x.name);
    return {node(op, std::move(more), std::move(attributes)), x.shape, onnx_type::float32};
  }
  auto transpose(onnx_value const& x, std::vector<std::int64_t> const& axes) -> onnx_value {
    auto shape = onnx_shape{};
    for (auto const axis : axes) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    return {node("Transpose", {x.name}, {{"perm", axes}}), std::move(shape), x.type};
  }
  /// x in another shape; what is no number there is found in x, in `from`, or follows from the
  /// rest.
  auto reshape(onnx_value const& x, onnx_shape const& to, onnx_value const& from) -> onnx_value {
    if (x.shape == to) return x;
    auto target = std::vector<std::int64_t>{};
    auto unknown = 0;
    for (auto i = std::size_t{0}; i < to.size(); ++i) {
      auto const stays = i < x.shape.size() && x.shape[i] == to[i];
      if (not to[i].known() && not stays) ++unknown;
      target.push_back(to[i].known() ? to[i].number : stays ? 0 : -1);
    }
    auto const wanted = unknown > 1 ? extents(to, from, x) : graph.integers(target);
    return {node("Reshape", {x.name, wanted}), to, x.type};
  }
  auto reshape(onnx_value const& x, onnx_shape const& to) -> onnx_value {
    return reshape(x, to, x);
  }
  /// The axes [first, last) as one; where there are none, one of 1.
  auto collapse(onnx_value const& x, std::size_t first, std::size_t last) -> onnx_value {
    return reshape(x,
                   onnx_with_extents(x.shape, first, last, {onnx_product(x.shape, first, last)}));
  }
  /// State that comes in: zeros at the start.
  auto state_in(std::string const& name, onnx_shape shape) -> onnx_value {
    return graph.input((path / path_name(name.c_str())).c_str(), onnx_type::float32,
                       std::move(shape));
  }
  void state_out(std::string const& name, onnx_value const& value) {
    graph.output((path / path_name(name.c_str())).c_str(), value);
  }

 private:
  /// A shape at run time: extents that have a name are those of `from`, or else of x.
  ///
  /// Errors  onnx_error where neither has one
  auto extents(onnx_shape const& to, onnx_value const& from, onnx_value const& x) -> std::string {
    auto parts = std::vector<std::string>{};
    auto const all = node("Shape", {from.name});
    for (auto const& e : to) {
      auto const at = std::ranges::find(from.shape, e) - from.shape.begin();
      auto const in_x = std::ranges::find(x.shape, e) - x.shape.begin();
      if (e.known())
        parts.push_back(graph.integers({e.number}));
      else if (std::cmp_less(at, from.shape.size()))
        parts.push_back(node("Gather", {all, graph.integers({at})}));
      else if (std::cmp_less(in_x, x.shape.size()))
        parts.push_back(node("Gather", {node("Shape", {x.name}), graph.integers({in_x})}));
      else
        throw onnx_error("save_onnx: nothing in the graph has the extent " + e.symbol);
    }
    return node("Concat", std::move(parts), {{"axis", std::int64_t{0}}});
  }
};

namespace detail {

template <class L, class Place>
concept has_onnx = requires(L const& layer, Place& at, onnx_value const& x) {
  { to_onnx(layer, at, x) } -> std::same_as<onnx_value>;
};

/// A layer in its place.
template <class Layer>
[[nodiscard]] auto write_onnx(onnx_graph& graph, path_name const& path, auto const& p,
                              auto const& statistics, onnx_call const& call, onnx_value const& x)
    -> onnx_value {
  auto at = onnx_place{graph, path, p, statistics, call};
  return to_onnx(typename without_name<Layer>::type{}, at, x);
}

}  // namespace detail

/// Child I of a composition in its place, for the to_onnx of the composition.
template <std::size_t I, class Self, class... Children>
[[nodiscard]] auto onnx_of_child(composition<Self, Children...> const&, auto& at,
                                 onnx_value const& x) -> onnx_value {
  return detail::write_onnx<detail::nth<I, Children...>>(
      at.graph, at.path / Self::template child_name<I>(), at.parameters.template get<I>(),
      detail::part_of_statistics<I>(at.statistics, 0), at.call, x);
}

}  // namespace tessera
