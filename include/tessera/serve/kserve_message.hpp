// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/deployment.hpp>
#include <tessera/serve/json_body.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>

/// Requests and answers of KServe's protocol v2 as bytes: JSON, and tensors behind it.
namespace tessera {

namespace detail {

using json = nlohmann::json;

[[nodiscard]] inline auto shape_text(std::vector<std::int64_t> const& shape) -> std::string {
  auto text = std::string{"["};
  for (auto const length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return text + "]";
}
[[nodiscard]] inline auto got(json const& value) -> std::string {
  return std::string{", got "} + (value.is_null() ? "nothing" : value.type_name());
}
/// A member of an object, or null.
[[nodiscard]] inline auto member(json const& of, char const* key) -> json const& {
  static auto const none = json{};
  auto const found = of.is_object() ? of.find(key) : of.end();
  return found == of.end() ? none : *found;
}
[[nodiscard]] inline auto text_member(json const& of, char const* key, std::string const& where)
    -> std::string {
  auto const& value = member(of, key);
  if (not value.is_string())
    throw http_error(400, where + ": expected a text as " + key + got(value));
  return value.get<std::string>();
}
[[nodiscard]] inline auto flag_member(json const& of, char const* key) -> bool {
  auto const& value = member(of, key);
  if (value.is_null()) return false;
  if (not value.is_boolean())
    throw http_error(400, std::string{"parameters: expected true or false as "} + key + got(value));
  return value.get<bool>();
}
/// The text of an id that is a number or a text; 0 and "" are none.
[[nodiscard]] inline auto id_member(json const& of, char const* key) -> std::string {
  auto const& value = member(of, key);
  if (value.is_null()) return {};
  if (value.is_number_unsigned()) {
    auto const number = value.get<std::uint64_t>();
    return number == 0 ? std::string{} : std::to_string(number);
  }
  if (not value.is_string() || value.get_ref<std::string const&>().size() > 256)
    throw http_error(400, std::string{"parameters: expected a number from 0 on or a text of at "
                                      "most 256 bytes as "} +
                              key + got(value));
  return value.get<std::string>();
}

/// One element of a tensor out of JSON.
template <class T>
auto element_of(json const& value, std::string const& where, std::size_t index) -> T {
  auto const fail = [&](std::string const& what) {
    throw http_error(400, where + ": element " + std::to_string(index) + ": expected " + what);
  };
  if constexpr (std::same_as<T, std::string>) {
    if (not value.is_string()) fail("texts" + got(value));
    return value.get<std::string>();
  } else if constexpr (std::same_as<T, std::int64_t>) {
    if (value.is_number_integer() &&
        (not value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX))
      return value.get<std::int64_t>();
    fail("whole numbers of 64 bits, got " + (value.is_number() ? value.dump() : value.type_name()));
    return 0;
  } else {
    if (not value.is_number()) fail("numbers" + got(value));
    auto const number = value.get<double>();
    if (not(std::abs(number) <= static_cast<double>(std::numeric_limits<T>::max())))
      fail("finite numbers of " + std::to_string(8 * sizeof(T)) + " bits, got " + value.dump());
    return static_cast<T>(number);
  }
}
/// Elements of data that is flat, or nested as the shape says.
template <class T>
void read_data(json const& data, std::vector<std::int64_t> const& shape, std::size_t axis,
               std::string const& where, std::vector<T>& to) {
  if (axis + 1 < shape.size()) {
    if (not data.is_array() || data.size() != static_cast<std::size_t>(shape[axis]))
      throw http_error(
          400, where + ": expected data nested as shape " + shape_text(shape) + " says, or flat");
    for (auto const& part : data) read_data(part, shape, axis + 1, where, to);
    return;
  }
  if (not data.is_array()) throw http_error(400, where + ": expected a list of data" + got(data));
  for (auto const& value : data) to.push_back(element_of<T>(value, where, to.size()));
}
/// Texts with their lengths before them, or numbers, as they stand behind the JSON.
template <class T> auto read_bytes(std::string_view bytes, std::string const& where) {
  auto result = std::vector<T>{};
  auto const fail = [&](std::string const& what) { throw http_error(400, where + ": " + what); };
  if constexpr (std::same_as<T, std::string>) {
    while (not bytes.empty()) {
      auto length = std::uint32_t{0};
      if (bytes.size() < sizeof length) fail("expected a length of 4 bytes before every text");
      std::memcpy(&length, bytes.data(), sizeof length);
      bytes.remove_prefix(sizeof length);
      if (bytes.size() < length)
        fail("expected a text of " + std::to_string(length) + " bytes, got " +
             std::to_string(bytes.size()));
      result.emplace_back(bytes.substr(0, length));
      bytes.remove_prefix(length);
    }
  } else {
    if (bytes.size() % sizeof(T) != 0) fail("expected whole numbers of bytes for its elements");
    result.resize(bytes.size() / sizeof(T));
    if (not result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    if constexpr (std::floating_point<T>)
      for (auto const& value : result)
        if (not std::isfinite(value))
          fail("element " + std::to_string(&value - result.data()) +
               ": expected finite numbers, got NaN or infinity");
  }
  return result;
}

/// The shortest digits that a reader of doubles, too, takes for the same number.
template <class T> void append_number(std::string& to, T value) {
  auto digits = std::array<char, 32>{};
  auto* const begin = digits.data();
  auto end = std::to_chars(begin, begin + digits.size(), value).ptr;
  if constexpr (std::same_as<T, float>) {
    auto read = 0.0;
    (void)std::from_chars(begin, end, read);
    if (static_cast<float>(read) != value)
      end = std::to_chars(begin, begin + digits.size(), static_cast<double>(value)).ptr;
  }
  to.append(begin, end);
}
inline void append_elements(std::string& to, tensor_values const& values) {
  std::visit(
      [&](auto const& list) {
        using T = typename std::remove_cvref_t<decltype(list)>::value_type;
        for (auto const& value : list) {
          if (&value != list.data()) to += ',';
          if constexpr (std::same_as<T, std::string>) {
            to += '"' + json_escaped(value) + '"';
          } else {
            if constexpr (std::floating_point<T>)
              if (not std::isfinite(value))
                throw http_error(500, "the model gave a number that is not finite");
            append_number(to, value);
          }
        }
      },
      values);
}
[[nodiscard]] inline auto bytes_of_values(tensor_values const& values) -> std::string {
  auto result = std::string{};
  std::visit(
      [&](auto const& list) {
        using T = typename std::remove_cvref_t<decltype(list)>::value_type;
        if constexpr (std::same_as<T, std::string>) {
          for (auto const& text : list) {
            auto const length = static_cast<std::uint32_t>(text.size());
            result.append(reinterpret_cast<char const*>(&length), sizeof length);
            result += text;
          }
        } else {
          result.assign(reinterpret_cast<char const*>(list.data()), list.size() * sizeof(T));
        }
      },
      values);
  return result;
}

}  // namespace detail

/// What a request for an inference says, before a model is asked: read in two steps, as the model
/// depends on the sequence and the user.
///
/// Errors  http_error 400 with one sentence that names what was expected and what came
class infer_message {
 public:
  explicit infer_message(http_request const& request) : body_(request.body) {
    auto head = std::string_view{body_};
    if (auto const length = request.header("Inference-Header-Content-Length")) {
      auto n = std::size_t{0};
      auto const* const begin = length->data();
      auto const* const end = begin + length->size();
      auto const read = std::from_chars(begin, end, n);
      if (read.ec != std::errc{} || read.ptr != end || n > head.size())
        throw http_error(400,
                         "Inference-Header-Content-Length: expected a number from 0 to the "
                         "length of the body, " +
                             std::to_string(head.size()));
      binary_ = head.substr(n);
      head = head.substr(0, n);
    }
    json_ = json_of_body(head);
    if (not json_.is_object())
      throw http_error(400, std::string{"expected an object with inputs"} + detail::got(json_));
    read_parameters();
    read_outputs();
  }
  infer_message(infer_message const&) = delete;  // it looks into its request
  auto operator=(infer_message const&) -> infer_message& = delete;

  std::string id;
  std::string user;
  sequence_request sequence;

  /// The inputs in the order of the model's, and the rows they have.
  [[nodiscard]] auto inputs(deployment const& to) const
      -> std::pair<std::vector<served_tensor>, std::size_t> {
    auto const& list = detail::member(json_, "inputs");
    if (not list.is_array()) throw http_error(400, "expected inputs as a list" + detail::got(list));
    auto const& specs = to.model->inputs();
    auto found = std::vector<served_tensor>(specs.size());
    auto seen = std::vector<bool>(specs.size());
    auto rows = std::size_t{0};
    auto rest = binary_;
    for (auto const& one : list) {
      auto const name = detail::text_member(one, "name", "inputs");
      auto const at = index_of(specs, name);
      if (seen[at]) throw http_error(400, where(name) + " comes twice");
      seen[at] = true;
      found[at] = read_tensor(one, specs[at], to.most_rows(), rest);
      rows = check_rows(found[at], specs[at], rows);
    }
    for (auto i = std::size_t{0}; i < specs.size(); ++i)
      if (not seen[i])
        throw http_error(400, "expected the input \"" + specs[i].name + "\", got none");
    if (not rest.empty())
      throw http_error(400, "expected as many bytes behind the JSON as the inputs say, got " +
                                std::to_string(rest.size()) + " more");
    return {std::move(found), std::max<std::size_t>(rows, 1)};
  }
  void check_outputs(served_model const& model) const {
    for (auto const& [name, binary] : outputs_) (void)index_of(model.outputs(), name, "output");
  }
  [[nodiscard]] auto answer(deployment const& from, std::vector<served_tensor> const& outputs) const
      -> http_response {
    auto text = R"({"model_name":")" + json_escaped(from.name) + R"(","model_version":")" +
                json_escaped(from.version) + '"';
    if (not id.empty()) text += R"(,"id":")" + json_escaped(id) + '"';
    text += R"(,"outputs":[)";
    auto behind = std::string{};
    auto first = true;
    for (auto const& one : outputs) {
      auto const asked = outputs_.find(one.name);
      if (not outputs_.empty() && asked == outputs_.end()) continue;
      auto const binary = asked == outputs_.end() ? all_binary_ : asked->second;
      text += std::string{first ? "" : ","} + R"({"name":")" + json_escaped(one.name) +
              R"(","shape":)" + detail::shape_text(one.shape) + R"(,"datatype":")" +
              std::string{name_of(one.type())} + '"';
      first = false;
      if (binary) {
        auto const bytes = detail::bytes_of_values(one.values);
        text += R"(,"parameters":{"binary_data_size":)" + std::to_string(bytes.size()) + '}';
        behind += bytes;
      } else {
        text += R"(,"data":[)";
        detail::append_elements(text, one.values);
        text += ']';
      }
      text += '}';
    }
    text += "]}";
    return finished(std::move(text), behind);
  }

 private:
  using json = nlohmann::json;

  void read_parameters() {
    auto const& given = detail::member(json_, "id");
    if (not given.is_null()) id = detail::text_member(json_, "id", "request");
    auto const& parameters = detail::member(json_, "parameters");
    if (not parameters.is_null() && not parameters.is_object())
      throw http_error(400, "expected parameters as an object" + detail::got(parameters));
    user = detail::id_member(parameters, "user");
    sequence = {detail::id_member(parameters, "sequence_id"),
                detail::flag_member(parameters, "sequence_start"),
                detail::flag_member(parameters, "sequence_end")};
    if (sequence.id.empty() && (sequence.start || sequence.end))
      throw http_error(400,
                       "parameters: expected a sequence_id beside sequence_start and "
                       "sequence_end, got none");
    all_binary_ = detail::flag_member(parameters, "binary_data_output");
  }
  void read_outputs() {
    auto const& list = detail::member(json_, "outputs");
    if (list.is_null()) return;
    if (not list.is_array())
      throw http_error(400, "expected outputs as a list" + detail::got(list));
    for (auto const& one : list) {
      auto const& parameters = detail::member(one, "parameters");
      auto const binary = detail::member(parameters, "binary_data").is_null()
                              ? all_binary_
                              : detail::flag_member(parameters, "binary_data");
      outputs_[detail::text_member(one, "name", "outputs")] = binary;
    }
  }
  [[nodiscard]] static auto where(std::string const& name) -> std::string {
    return "input \"" + name.substr(0, 60) + '"';
  }
  [[nodiscard]] static auto index_of(std::vector<tensor_spec> const& specs, std::string const& name,
                                     char const* kind = "input") -> std::size_t {
    auto names = std::string{};
    for (auto i = std::size_t{0}; i < specs.size(); ++i) {
      if (specs[i].name == name) return i;
      names += (i == 0 ? "\"" : ", \"") + specs[i].name + '"';
    }
    throw http_error(
        400, std::string{kind} + "s: expected " + names + ", got \"" + name.substr(0, 60) + '"');
  }
  [[nodiscard]] static auto shape_of_input(json const& one, tensor_spec const& spec)
      -> std::vector<std::int64_t> {
    auto const& list = detail::member(one, "shape");
    if (not list.is_array())
      throw http_error(400, where(spec.name) + ": expected a list as shape" + detail::got(list));
    auto shape = std::vector<std::int64_t>{};
    for (auto const& length : list) {
      if (not length.is_number_unsigned() || length.get<std::uint64_t>() > INT32_MAX)
        throw http_error(400, where(spec.name) + ": expected whole numbers as shape");
      shape.push_back(length.get<std::int64_t>());
    }
    auto const fits = std::ranges::equal(
        shape, spec.shape, [](auto got, auto want) { return want < 0 ? got > 0 : got == want; });
    if (not fits)
      throw http_error(400, where(spec.name) + ": expected shape " +
                                detail::shape_text(spec.shape) + ", got " +
                                detail::shape_text(shape).substr(0, 200));
    return shape;
  }
  [[nodiscard]] static auto read_tensor(json const& one, tensor_spec const& spec, std::size_t most,
                                        std::string_view& rest) -> served_tensor {
    auto const type = detail::text_member(one, "datatype", where(spec.name));
    if (type != name_of(spec.type))
      throw http_error(400, where(spec.name) + ": expected datatype " +
                                std::string{name_of(spec.type)} + ", got " + type.substr(0, 20));
    auto result = served_tensor{spec.name, shape_of_input(one, spec), {}};
    if (not spec.shape.empty() && spec.shape[0] < 0 &&
        static_cast<std::size_t>(result.shape[0]) > most)
      throw http_error(400, where(spec.name) + ": expected at most " + std::to_string(most) +
                                " rows, got " + std::to_string(result.shape[0]));
    auto count = std::size_t{1};  // fits: all extents but that of the rows are the model's
    for (auto const length : result.shape) count *= static_cast<std::size_t>(length);
    switch (spec.type) {
      case datatype::fp32:
        result.values = read_values<float>(one, result, count, rest);
        break;
      case datatype::fp64:
        result.values = read_values<double>(one, result, count, rest);
        break;
      case datatype::int64:
        result.values = read_values<std::int64_t>(one, result, count, rest);
        break;
      case datatype::bytes:
        result.values = read_values<std::string>(one, result, count, rest);
        break;
    }
    return result;
  }
  template <class T>
  [[nodiscard]] static auto read_values(json const& one, served_tensor const& tensor,
                                        std::size_t count, std::string_view& rest)
      -> std::vector<T> {
    auto const at = where(tensor.name);
    auto const& size = detail::member(detail::member(one, "parameters"), "binary_data_size");
    auto values = std::vector<T>{};
    if (not size.is_null()) {
      if (not size.is_number_unsigned() || size.get<std::uint64_t>() > rest.size())
        throw http_error(400, at + ": expected a binary_data_size from 0 to the " +
                                  std::to_string(rest.size()) + " bytes behind the JSON");
      auto const bytes = rest.substr(0, size.get<std::size_t>());
      rest.remove_prefix(bytes.size());
      values = detail::read_bytes<T>(bytes, at);
    } else {
      auto const& data = detail::member(one, "data");
      auto const flat = not data.is_array() || data.empty() || not data.front().is_array();
      detail::read_data(data, tensor.shape, flat ? tensor.shape.size() : 0, at, values);
    }
    if (values.size() != count)
      throw http_error(400, at + ": expected " + std::to_string(count) + " elements for shape " +
                                detail::shape_text(tensor.shape) + ", got " +
                                std::to_string(values.size()));
    return values;
  }
  [[nodiscard]] static auto check_rows(served_tensor const& tensor, tensor_spec const& spec,
                                       std::size_t rows) -> std::size_t {
    if (spec.shape.empty() || spec.shape[0] >= 0) return rows;
    auto const mine = static_cast<std::size_t>(tensor.shape[0]);
    if (rows != 0 && mine != rows)
      throw http_error(400, where(spec.name) + ": expected " + std::to_string(rows) +
                                " rows as of the inputs before, got " + std::to_string(mine));
    return mine;
  }
  [[nodiscard]] static auto finished(std::string text, std::string const& behind) -> http_response {
    if (behind.empty()) return {.body = std::move(text)};
    auto const length = std::to_string(text.size());
    return {.body = std::move(text) + behind,
            .type = "application/octet-stream",
            .headers = {{"Inference-Header-Content-Length", length}}};
  }

  std::string_view body_;
  std::string_view binary_;
  json json_;
  std::map<std::string, bool> outputs_;
  bool all_binary_ = false;
};

}  // namespace tessera
