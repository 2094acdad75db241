// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/walk.hpp>

#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// One line of a model's summary: numbers of one call, with bounded extents at their bound.
struct layer_summary {
  std::string path;
  std::string layer;
  std::string output;
  std::size_t parameters = 0;
  std::size_t multiply_adds = 0;  ///< of a forward pass
  std::size_t kept = 0;           ///< bytes
  std::size_t scratch = 0;        ///< bytes, in training
};

namespace detail {

/// What the compiler calls a type, without namespaces and options: "lstm<5, 64>".
template <class T> [[nodiscard]] auto type_text() -> std::string {
  auto text = std::string_view{__PRETTY_FUNCTION__};
  auto const begin = text.find("T = ") + 4;
  text = text.substr(begin, text.find_first_of(";]", begin) - begin);
  auto result = std::string{};
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    auto const scope = text.find("::", i);
    auto const word = text.find_first_of("<>, (){}", i);
    if (scope != std::string_view::npos && scope < word) {
      i = scope + 1;
      continue;
    }
    auto const end = word == std::string_view::npos ? text.size() : word + 1;
    result += text.substr(i, end - i);
    i = end - 1;
  }
  if (auto const options = result.find("_options"); options != std::string::npos)
    result = result.substr(0, result.rfind(',', options)) + ">";
  return result;
}
template <class S> [[nodiscard]] auto bound_text() -> std::string {
  auto text = std::string{"("};
  for (auto axis = std::size_t{0}; axis < S::rank; ++axis)
    text += (axis == 0 ? "" : ", ") + std::string(is_bounded(S::extents[axis]) ? "<=" : "") +
            std::to_string(bound_of(S::extents[axis]));
  return text + ")";
}

}  // namespace detail

/// A model as a table: path, layer, output shape, parameters, multiply-adds, what is kept and
/// the scratch of every layer, for inputs of type X.
template <class Model, class X> [[nodiscard]] auto summarize() -> std::vector<layer_summary> {
  auto rows = std::vector<layer_summary>{};
  for_each_layer<Model, X>([&]<class Layer, class Input, class Call>(
                               path_name const& path, place_of_layer<Layer, Input, Call>) {
    using place = place_of_layer<Layer, Input, Call>;
    rows.push_back({path.c_str(), detail::type_text<Layer>(),
                    detail::bound_text<shape_of<typename place::output>>(), place::parameters,
                    place::multiply_adds, place::kept, place::scratch});
  });
  return rows;
}

/// Prints the table of summarize() and the whole model's memory in training.
template <class Model, class X> void print_summary(std::ostream& to) {
  char line[256];
  auto const print = [&](auto const*... columns) {
    (void)std::snprintf(line, sizeof line, "%-8s %-22s %-18s %11s %13s %11s %11s\n", columns...);
    to << line;
  };
  auto const text = [](std::size_t n) { return std::to_string(n); };
  print("path", "layer", "output", "parameters", "multiply-adds", "kept bytes", "scratch");
  auto work = std::size_t{0};
  for (auto const& row : summarize<Model, X>()) {
    print(row.path.c_str(), row.layer.c_str(), row.output.c_str(), text(row.parameters).c_str(),
          text(row.multiply_adds).c_str(), text(row.kept).c_str(), text(row.scratch).c_str());
    work += row.multiply_adds;
  }
  constexpr auto m = memory_of<Model, X, call_mode::training>;
  print("all", "", "", text(parameter_count<Model>).c_str(), text(work).c_str(),
        text(m.kept).c_str(), text(m.scratch).c_str());
}

}  // namespace tessera
