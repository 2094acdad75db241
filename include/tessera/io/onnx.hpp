// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/io/file.hpp>
#include <tessera/io/onnx/attention.hpp>
#include <tessera/io/onnx/compose.hpp>
#include <tessera/io/onnx/known.hpp>
#include <tessera/io/onnx/layers.hpp>
#include <tessera/io/onnx/recurrent.hpp>
#include <tessera/io/onnx/sliding.hpp>

/// Models as files of ONNX, for onnxruntime and other readers, without protobuf.
namespace tessera {

struct onnx_options {
  std::string name = "model";
  std::string input = "x";
  std::string output = "y";
  /// Names of all bounded ones of X, then of other inputs; without any axis_0, condition_axis_0,
  /// ...
  std::vector<std::string> extents = {};
  bool state = false;  ///< what layers carry from call to call comes in and goes out
  std::map<std::string, std::string> metadata = {};
};

namespace detail {

/// An input of the graph. Its bounded extents are called by the first of `names`, which are taken
/// away, or by their axes behind `stem`.
template <class E>
[[nodiscard]] auto onnx_input(onnx_graph& graph, std::string const& name, std::string const& stem,
                              std::span<std::string const>& names) -> onnx_value {
  using S = shape_of<E>;
  auto shape = onnx_shape{};
  for (auto axis = std::size_t{0}; axis < S::rank; ++axis) {
    auto const e = S::extents[axis];
    auto& to = shape.emplace_back(onnx_extent{static_cast<std::int64_t>(bound_of(e)), ""});
    if (not is_bounded(e)) continue;
    to.symbol = names.empty() ? stem + std::to_string(axis) : names.front();
    if (not names.empty()) names = names.subspan(1);
  }
  constexpr auto whole = std::is_integral_v<scalar_of<E>>;
  return graph.input(name, whole ? onnx_type::int64 : onnx_type::float32, std::move(shape));
}

[[noreturn]] inline void refuse_metadata(std::string const& name, std::string const& want,
                                         std::string const& told) {
  throw onnx_error("save_onnx: expected " + want + " for \"" + name +
                   "\" in the metadata, the bound of an extent, got \"" + told + '"');
}

/// The options' metadata, and what the graph does not say: the bounds of extents, of those with one
/// name the smallest.
[[nodiscard]] inline auto onnx_metadata(onnx_options const& options,
                                        std::vector<onnx_value> const& inputs)
    -> std::map<std::string, std::string> {
  auto bounds = std::map<std::string, std::int64_t>{};
  for (auto const& v : inputs)
    for (auto const& e : v.shape)
      if (not e.known()) {
        auto& bound = bounds.emplace("at_most." + e.symbol, e.number).first->second;
        bound = std::min(bound, e.number);
      }
  auto result = options.metadata;
  result.emplace("model", options.name);
  for (auto const& [name, bound] : bounds) {
    auto const want = std::to_string(bound);
    auto const& told = result.emplace(name, want).first->second;
    if (told != want) refuse_metadata(name, want, told);
  }
  return result;
}

template <class Model, class X, class... Inputs>
[[nodiscard]] auto onnx_bytes_of_model(auto const& p, auto const& statistics,
                                       onnx_options const& options) -> std::string {
  constexpr auto bounded =
      (shape_of<X>::bounded + ... + shape_of<typename Inputs::tensor_type>::bounded);
  if (not options.extents.empty() && options.extents.size() != bounded)
    throw onnx_error("save_onnx: expected names of " + std::to_string(bounded) +
                     " bounded extents, got " + std::to_string(options.extents.size()));
  if (options.name.empty() || std::ranges::count(options.extents, "") > 0)
    throw onnx_error("save_onnx: expected names of the model and its extents, got an empty one");
  onnx_graph::check_size(std::uint64_t{parameter_count<Model>} * sizeof(float));
  auto graph = onnx_graph{};
  auto names = std::span<std::string const>{options.extents};
  auto call = onnx_call{.carries = options.state};
  graph.keep(options.output);
  auto inputs = std::vector{onnx_input<X>(graph, options.input, "axis_", names)};
  (
      [&] {
        auto const tag = onnx_tag_name<typename Inputs::tag_type>();
        using E = typename Inputs::tensor_type;
        inputs.push_back(onnx_input<E>(graph, tag, tag + "_axis_", names));
        call.inputs.emplace(onnx_tag_key<typename Inputs::tag_type>(), inputs.back());
      }(),
      ...);
  graph.result(options.output,
               write_onnx<Model>(graph, path_name{}, p, statistics, call, inputs[0]));
  return graph.bytes({options.name, onnx_metadata(options, inputs)});
}

}  // namespace detail

/// A model with its parameters as the bytes of an ONNX file: operation set 17, IR version 8, which
/// onnxruntime serves with the same answers. Numbers are float; whole numbers in X come in as
/// int64.
///
/// Shapes    X as a tensor type is the input: fixed extents are numbers, bounded ones have a name,
///           and their bounds are in the metadata. Inputs are given_as<Tag, E> of what calls
///           give besides it, and are called by their tags: "condition"
/// State     with options.state, what layers carry from call to call; else a call starts from zero
/// Accuracy  1e-5 of what `inference` gives: tests/readers/onnx_models.py. The graph's numbers are
///           floats: where `inference` rounds what it reads (weights as_stored, keys and values of
///           half_cache), they differ by that rounding. Of no samples or lanes, which `inference`
///           answers, ONNX Runtime's recurrent layers, convolutions and norms end the program
/// Cost      three times the bytes of the parameters, on the way
/// Errors    a layer that has no to_onnx (io/onnx/place.hpp), or none for its options:
///           tests/fail/onnx_unknown_layer.cpp; onnx_error for more than 2 GB, names that
///           are empty, given twice or not as many as bounded extents, and, with options.state,
///           for a cache of attention or the position of a stream
template <class Model, class X, class... Inputs, class P, class S>
  requires(not std::same_as<S, onnx_options>)
[[nodiscard]] auto onnx_bytes(P const& p, S const& statistics, onnx_options const& options = {})
    -> std::string {
  using L = as_layer<Model>;
  using call = call_for<call_mode::inference, Inputs...>;
  constexpr auto fits = layer_for<L, X, call>;
  static_assert(complaint::holds<fits, complaint::in<Model>, complaint::got<shape_of<X>>>,
                "save_onnx: the model does not take this input, or needs another beside it");
  constexpr auto own = are_parameters_of<L, P>;
  static_assert(own, "save_onnx: the parameters are those of another model");
  constexpr auto reads =
      (not std::same_as<typename Inputs::tag_type, tag::attention_weights> && ...);
  static_assert(reads,
                "save_onnx: attention_weights are written, not read: a graph does not give them");
  constexpr auto complete = not about_of<L>.statistics || not std::same_as<S, nothing>;
  static_assert(complete,
                "save_onnx: the model has statistics, which are saved, too: save_onnx(path, "
                "parameters, statistics)");
  if constexpr (fits && own && reads && complete) {
    using unknown = decltype(detail::first_unknown_to_onnx<Model, X, call>());
    constexpr auto known = std::same_as<unknown, nothing>;
    if constexpr (not known)
      static_assert(
          complaint::holds<known, typename unknown::place, complaint::in<typename unknown::type>>,
          "save_onnx: a layer of this kind, or with these options, has no to_onnx(layer, place, "
          "x) that writes it");
    else
      return detail::onnx_bytes_of_model<Model, X, Inputs...>(p, statistics, options);
  }
  return {};
}
template <class Model, class X, class... Inputs, class P>
[[nodiscard]] auto onnx_bytes(P const& p, onnx_options const& options = {}) -> std::string {
  return onnx_bytes<Model, X, Inputs...>(p, nothing{}, options);
}

/// The same as a file, all or nothing.
///
/// Errors  as of onnx_bytes; file_error
template <class Model, class X, class... Inputs, class P, class S>
  requires(not std::same_as<S, onnx_options>)
void save_onnx(std::filesystem::path const& path, P const& p, S const& statistics,
               onnx_options const& options = {}) {
  write_file(path, onnx_bytes<Model, X, Inputs...>(p, statistics, options));
}
template <class Model, class X, class... Inputs, class P>
void save_onnx(std::filesystem::path const& path, P const& p, onnx_options const& options = {}) {
  write_file(path, onnx_bytes<Model, X, Inputs...>(p, options));
}

}  // namespace tessera
