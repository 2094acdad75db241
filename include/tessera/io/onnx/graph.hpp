// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/protobuf.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <variant>
#include <vector>

/// A graph of ONNX, operation set 17: values, operations, tensors of numbers.
namespace tessera {

/// What cannot be written as ONNX.
struct onnx_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The element types of inputs and outputs, by the numbers that ONNX gives them.
enum class onnx_type { float32 = 1, int64 = 7 };

/// An extent of a value: a number, or the name of one that is known at run time.
struct onnx_extent {
  std::int64_t number = 0;
  std::string symbol = {};  ///< empty where the number is known
  [[nodiscard]] auto known() const -> bool { return symbol.empty(); }
  friend auto operator==(onnx_extent const& a, onnx_extent const& b) -> bool {
    return a.symbol == b.symbol && (not a.known() || a.number == b.number);
  }
};
using onnx_shape = std::vector<onnx_extent>;

/// What flows from one operation to another: its name in the graph, and its shape.
struct onnx_value {
  std::string name;
  onnx_shape shape;
  onnx_type type = onnx_type::float32;
};

/// A setting of an operation.
struct onnx_attribute {
  char const* name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};
using onnx_attributes = std::vector<onnx_attribute>;

/// Texts of a file beside its graph.
struct onnx_texts {
  std::string name;
  std::map<std::string, std::string> metadata;
};

namespace detail {

/// Protocol buffers do not hold more in one message.
inline constexpr std::uint64_t onnx_most_bytes = 0x7FFFFFFF;

[[nodiscard]] inline auto onnx_bytes_of(onnx_attribute const& a) -> protobuf_writer {
  enum : std::uint32_t { name = 1, f = 2, i = 3, s = 4, ints = 8, type = 20 };
  constexpr int types[] = {2, 1, 3, 7};  // INT, FLOAT, STRING, INTS
  auto to = protobuf_writer{};
  to.text(name, a.name);
  if (auto const* const n = std::get_if<std::int64_t>(&a.value)) to.integer(i, *n);
  if (auto const* const x = std::get_if<float>(&a.value)) to.number(f, *x);
  if (auto const* const t = std::get_if<std::string>(&a.value)) to.text(s, *t);
  if (auto const* const all = std::get_if<std::vector<std::int64_t>>(&a.value))
    for (auto const n : *all) to.integer(ints, n);
  return to.integer(type, types[a.value.index()]);
}
[[nodiscard]] inline auto onnx_bytes_of(onnx_value const& v) -> protobuf_writer {
  auto shape = protobuf_writer{};
  for (auto const& e : v.shape)
    shape.message(1, e.known() ? protobuf_writer{}.integer(1, e.number)
                               : protobuf_writer{}.text(2, e.symbol));
  auto const tensor = protobuf_writer{}.integer(1, v.type).message(2, shape);
  return protobuf_writer{}.text(1, v.name).message(2, protobuf_writer{}.message(1, tensor));
}
template <class T>
[[nodiscard]] auto onnx_bytes_of(std::string const& name, onnx_type type,
                                 std::vector<std::int64_t> const& extents,
                                 std::vector<T> const& numbers) -> protobuf_writer {
  auto to = protobuf_writer{};
  for (auto const e : extents) to.integer(1, e);
  return to.integer(2, type).text(8, name).bytes(9, std::as_bytes(std::span{numbers}));
}

}  // namespace detail

/// The graph of one model, in the order in which it is computed: inputs and outputs, operations,
/// and tensors that are known.
///
/// Cost    memory for all tensors, and as much twice more while they become bytes
/// Errors  onnx_error for more than 2 GB, where a name is given twice or is no UTF-8, and for
///         numbers of another count than extents tell
class onnx_graph {
 public:
  auto input(std::string const& name, onnx_type type, onnx_shape shape) -> onnx_value {
    claim(name);
    return inputs_.emplace_back(onnx_value{name, std::move(shape), type});
  }
  /// Names an output before others are.
  void keep(std::string const& name) {
    claim(name);
    kept_.insert(name);
  }
  /// The value under another name, as an output; who knows it by its own may go on to read it.
  void output(std::string const& name, onnx_value value) {
    if (kept_.erase(name) == 0) claim(name);
    auto const made =
        std::ranges::any_of(nodes_, [&](auto const& n) { return n.outputs[0] == value.name; });
    // An input that comes out as it went in, or an output that comes out twice.
    if (not made || not renamed_.emplace(value.name, name).second)
      nodes_.push_back({"Identity", name + "/Identity", {value.name}, {name}, {}});
    value.name = name;
    outputs_.push_back(std::move(value));
  }
  /// The output that comes first.
  void result(std::string const& name, onnx_value value) {
    output(name, std::move(value));
    std::ranges::rotate(outputs_, outputs_.end() - 1);
  }
  /// A parameter under its name.
  auto tensor(std::string const& name, std::vector<std::int64_t> const& extents,
              std::vector<float> const& numbers) -> std::string {
    claim(name);
    check_count(name, extents, numbers.size());
    tensors_.push_back(detail::onnx_bytes_of(name, onnx_type::float32, extents, numbers));
    return name;
  }
  /// Numbers that are no parameter, under a name of their own.
  auto constant(std::string const& base, std::vector<std::int64_t> const& extents,
                std::vector<float> const& numbers) -> std::string {
    auto const name = unused(base);
    check_count(name, extents, numbers.size());
    tensors_.push_back(detail::onnx_bytes_of(name, onnx_type::float32, extents, numbers));
    return name;
  }
  /// A number, a vector of `count` equal ones, whole numbers: each is in the file once.
  auto number(float value) -> std::string {
    return shared(named(value), onnx_type::float32, {}, std::vector{value});
  }
  auto numbers(float value, std::size_t count) -> std::string {
    return shared(named(value) + " x " + std::to_string(count), onnx_type::float32,
                  {static_cast<std::int64_t>(count)}, std::vector<float>(count, value));
  }
  auto integer(std::int64_t value) -> std::string {
    return shared("integer " + std::to_string(value), onnx_type::int64, {}, std::vector{value});
  }
  auto integers(std::vector<std::int64_t> const& values) -> std::string {
    auto name = std::string{"integers"};
    for (auto const v : values) name += ' ' + std::to_string(v);
    return shared(name, onnx_type::int64, {static_cast<std::int64_t>(values.size())}, values);
  }

  /// An operation. An empty input is one that is left out; outputs are named after `path`.
  auto node(char const* op, std::string const& path, std::vector<std::string> inputs,
            onnx_attributes attributes = {}, std::size_t outputs = 1) -> std::vector<std::string> {
    auto base = path.empty() ? std::string{op} : path + '/' + op;
    base = unused(base);
    auto names = std::vector<std::string>{};
    if (outputs == 1) names.push_back(base);
    for (auto i = std::size_t{0}; outputs > 1 && i < outputs; ++i)
      names.push_back(unused(base + '.' + std::to_string(i)));
    nodes_.push_back({op, base, std::move(inputs), names, std::move(attributes)});
    return names;
  }
  /// A name that no value has.
  [[nodiscard]] auto unused(std::string const& base) -> std::string {
    auto name = base;
    for (auto i = 1; not names_.insert(name).second; ++i) name = base + '_' + std::to_string(i);
    return name;
  }

  /// The file.
  [[nodiscard]] auto bytes(onnx_texts const& texts) const -> std::string {
    constexpr auto ir_version = 8;
    constexpr auto operations = 17;
    auto graph = protobuf_writer{};
    for (auto const& n : nodes_) graph.message(1, bytes_of(n));
    graph.text(2, texts.name);
    for (auto const& t : tensors_) graph.message(5, t);
    for (auto const& v : inputs_) graph.message(11, detail::onnx_bytes_of(v));
    for (auto const& v : outputs_) graph.message(12, detail::onnx_bytes_of(v));
    auto file = protobuf_writer{};
    file.integer(1, ir_version).text(2, "tessera").message(7, graph);
    file.message(8, protobuf_writer{}.text(1, "").integer(2, operations));
    for (auto const& [key, text] : texts.metadata)
      file.message(14, protobuf_writer{}.text(1, key).text(2, text));
    check_size(file.size());
    return std::move(file).bytes();
  }
  static void check_size(std::uint64_t bytes) {
    if (bytes > detail::onnx_most_bytes)
      throw onnx_error("save_onnx: a file holds at most " +
                       std::to_string(detail::onnx_most_bytes) + " bytes, and this model has " +
                       std::to_string(bytes));
  }

 private:
  struct operation {
    std::string op;
    std::string name;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    onnx_attributes attributes;
  };

  [[nodiscard]] static auto named(float value) -> std::string {
    char letters[40];
    return "number " + std::string{letters, std::to_chars(letters, std::end(letters), value).ptr};
  }
  [[nodiscard]] auto bytes_of(operation const& n) const -> protobuf_writer {
    auto to = protobuf_writer{};
    for (auto const& name : n.inputs) to.text(1, name_in_file(name));
    for (auto const& name : n.outputs) to.text(2, name_in_file(name));
    to.text(3, n.name).text(4, n.op);
    for (auto const& a : n.attributes) to.message(5, detail::onnx_bytes_of(a));
    return to;
  }
  /// A value's name, or that of the output that it is.
  [[nodiscard]] auto name_in_file(std::string const& name) const -> std::string const& {
    auto const found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }
  void claim(std::string const& name) {
    if (name.empty()) throw onnx_error("save_onnx: expected a name of a value, got an empty one");
    if (auto const fault = fault_of_utf8(name); not fault.empty())
      throw onnx_error("save_onnx: the name of a value, \"" + valid_utf8(name) + "\": " + fault);
    if (not names_.insert(name).second)
      throw onnx_error("save_onnx: two values of the graph are called \"" + name + '"');
  }
  static void check_count(std::string const& name, std::vector<std::int64_t> const& extents,
                          std::size_t count) {
    auto expected = std::size_t{1};
    for (auto const e : extents) expected *= static_cast<std::size_t>(e);
    if (count != expected)
      throw onnx_error("save_onnx: \"" + name + "\" has extents of " + std::to_string(expected) +
                       " numbers, got " + std::to_string(count));
  }
  template <class T>
  auto shared(std::string const& name, onnx_type type, std::vector<std::int64_t> const& extents,
              std::vector<T> const& numbers) -> std::string {
    auto const found = shared_.find(name);
    if (found != shared_.end()) return found->second;
    auto const own = unused(name);  // an input may be called so
    tensors_.push_back(detail::onnx_bytes_of(own, type, extents, numbers));
    return shared_.emplace(name, own).first->second;
  }

  std::vector<operation> nodes_;
  std::vector<protobuf_writer> tensors_;
  std::vector<onnx_value> inputs_;
  std::vector<onnx_value> outputs_;
  std::set<std::string> names_;
  std::set<std::string> kept_;                  ///< of outputs that are not yet there
  std::map<std::string, std::string> shared_;   ///< of numbers that several operations may read
  std::map<std::string, std::string> renamed_;  ///< values that are outputs, by their own names
};

}  // namespace tessera
