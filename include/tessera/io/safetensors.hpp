// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/dtype.hpp>
#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

/// The safetensors format, read strictly and written as its own library writes it.
///
/// A file is 8 bytes N, N bytes of JSON, and the tensors' bytes: each tensor a dtype, a shape and a
/// part of those bytes, which the tensors cover without a hole.
namespace tessera {

/// Why bytes are no safetensors file: what was expected and what came.
struct safetensors_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One tensor of a file: a look into bytes that somebody else owns.
struct tensor_entry {
  dtype type = dtype::f32;
  std::vector<std::uint64_t> shape;
  std::span<std::byte const> bytes;

  [[nodiscard]] auto size() const -> std::uint64_t {
    auto n = std::uint64_t{1};
    for (auto const length : shape) n *= length;
    return n;
  }
};

/// "(4, 5)": a shape as messages print it.
[[nodiscard]] inline auto to_string(std::vector<std::uint64_t> const& shape) -> std::string {
  auto text = std::string{"("};
  for (auto i = std::size_t{0}; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace detail {

/// The bytes that a tensor of this type and shape takes.
///
/// Errors  safetensors_error, which names the tensor, for a shape that no file holds
[[nodiscard]] inline auto bytes_taken(std::string const& name, dtype type,
                                      std::vector<std::uint64_t> const& shape) -> std::uint64_t {
  auto const fail = [&](char const* what) {
    throw safetensors_error('"' + name + "\": the shape " + to_string(shape) + what);
  };
  auto bits = std::uint64_t{bits_of(type)};
  for (auto const length : shape)
    if (__builtin_mul_overflow(bits, length, &bits)) fail(" is too large for any file");
  if (bits % 8 != 0) fail(" ends within a byte");
  return bits / 8;
}
/// Errors  safetensors_error, which names the tensor, for other bytes than the shape takes
inline void check_bytes(std::string const& name, dtype type,
                        std::vector<std::uint64_t> const& shape, std::uint64_t taken,
                        std::uint64_t came, char const* has) {
  if (came != taken)
    throw safetensors_error('"' + name + "\": shape " + to_string(shape) + " of " +
                            std::string{name_of(type)} + " takes " + std::to_string(taken) +
                            " bytes, " + has + " " + std::to_string(came));
}

}  // namespace detail

/// The tensors of a safetensors file by name, and its metadata.
///
/// Cost    the data is in memory, once, and read only where the header fits the file's size;
///         entries look into it
/// Errors  safetensors_error for everything that the format does not allow, duplicate names and a
///         header that does not begin with '{' included; file_error for a file that cannot be read
/// Source  the format's text and the verdicts of its reference reader: tests/io/safetensors.cpp
class safetensors {
 public:
  static constexpr auto longest_header = std::uint64_t{100'000'000};

  safetensors() = default;
  // Entries look into the bytes, which a copy would have elsewhere.
  safetensors(safetensors&&) = default;
  auto operator=(safetensors&&) -> safetensors& = default;

  [[nodiscard]] static auto read(std::filesystem::path const& path) -> safetensors {
    try {
      auto file = detail::input_file(path);
      auto const length = header_length(file.read(8), file.size());
      auto result = safetensors{};
      auto const data = file.size() - 8 - length;
      result.parse_header(file.read(length), data);
      result.file_ = file.read(data);
      if (result.file_.size() != data) fail("became shorter while it was read");
      result.look_into(result.file_);
      return result;
    } catch (safetensors_error const& e) {
      throw safetensors_error(path.string() + ": " + e.what());
    }
  }
  [[nodiscard]] static auto parse(std::vector<std::byte> file) -> safetensors {
    auto result = look(file);
    result.file_ = std::move(file);
    return result;
  }
  /// The tensors of bytes that somebody else keeps, a mapped file for one.
  [[nodiscard]] static auto look(std::span<std::byte const> file) -> safetensors {
    auto result = safetensors{};
    auto const length = static_cast<std::size_t>(header_length(file, file.size()));
    result.parse_header(file.subspan(8, length), file.size() - 8 - length);
    result.look_into(file.subspan(8 + length));
    return result;
  }

  /// The tensors of several files as one set, of bytes that somebody else keeps.
  [[nodiscard]] static auto of(std::map<std::string, tensor_entry> tensors) -> safetensors {
    auto result = safetensors{};
    result.tensors_ = std::move(tensors);
    return result;
  }

  [[nodiscard]] auto tensors() const& -> std::map<std::string, tensor_entry> const& {
    return tensors_;
  }
  void tensors() const&& = delete;  // the bytes would be gone
  [[nodiscard]] auto metadata() const& -> std::map<std::string, std::string> const& {
    return metadata_;
  }
  [[nodiscard]] auto metadata() && -> std::map<std::string, std::string> {
    return std::move(metadata_);
  }
  [[nodiscard]] auto contains(std::string const& name) const -> bool {
    return tensors_.contains(name);
  }
  /// Errors  safetensors_error where there is no such tensor
  [[nodiscard]] auto operator[](std::string const& name) const& -> tensor_entry const& {
    auto const found = tensors_.find(name);
    if (found == tensors_.end()) fail("has no tensor \"" + name + "\"");
    return found->second;
  }
  void operator[](std::string const& name) const&& = delete;

 private:
  using json = nlohmann::json;

  [[noreturn]] static void fail(std::string const& what) { throw safetensors_error(what); }

  /// The bytes of the header, by the first bytes of a file of `size` bytes.
  static auto header_length(std::span<std::byte const> file, std::uint64_t size) -> std::uint64_t {
    auto const first = std::string_view{reinterpret_cast<char const*>(file.data()), file.size()};
    if (first.starts_with("PK\3\4"))
      fail(
          "is a zip archive, as torch.save writes (.pt), and no safetensors file: convert it by "
          "safetensors.torch.save_file");
    if (size < 8) fail("expected at least 8 bytes, got " + std::to_string(size));
    auto length = std::uint64_t{0};
    for (auto i = std::size_t{8}; i-- > 0;)
      length = length << 8U | std::to_integer<std::uint64_t>(file[i]);
    if (length > longest_header)
      fail("a header has at most 100000000 bytes, this one says " + std::to_string(length));
    if (length > size - 8)
      fail("the header says " + std::to_string(length) + " bytes, the file has " +
           std::to_string(size - 8) + " after its length");
    return length;
  }
  /// What the header says of a file with `data` bytes after it.
  void parse_header(std::span<std::byte const> header, std::uint64_t data) {
    auto const text = std::string_view{reinterpret_cast<char const*>(header.data()), header.size()};
    if (not text.starts_with('{')) fail("the header does not begin with '{'");
    auto const parsed = parse_json(text);
    for (auto const& [name, value] : parsed.items())
      if (name == "__metadata__")
        parse_metadata(value);
      else
        tensors_[name] = parse_entry(name, value, data);
    check_coverage(data);
  }
  /// Every entry gets its part of the data.
  void look_into(std::span<std::byte const> data) {
    for (auto const& [begin, end, name] : places_)
      tensors_[name].bytes =
          data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    places_.clear();
  }

  /// The header as JSON in which no object has the same key twice.
  static auto parse_json(std::string_view text) -> json {
    auto keys = std::vector<std::set<std::string>>{};
    auto const each = [&](int, json::parse_event_t event, json& parsed) {
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key &&
          not keys.back().insert(parsed.get<std::string>()).second)
        fail("the header names \"" + parsed.get<std::string>() + "\" twice");
      return true;
    };
    if (text.find('\0') != std::string_view::npos) fail("the header has a NUL byte");
    if (is_too_deep(text))
      fail("the header has more than " + std::to_string(most_json_levels) + " levels");
    try {
      auto header = json::parse(text, each);
      if (not header.is_object()) fail("the header is no object");
      return header;
    } catch (json::exception const& e) {
      fail("the header is not JSON: " + valid_utf8(e.what()));
    }
  }
  void parse_metadata(json const& value) {
    if (value.is_null()) return;
    if (not value.is_object()) fail("__metadata__ is no object of strings");
    for (auto const& [key, text] : value.items()) {
      if (not text.is_string()) fail("__metadata__: \"" + key + "\" is no string");
      metadata_[key] = text.get<std::string>();
    }
  }
  auto parse_entry(std::string const& name, json const& value, std::uint64_t data) -> tensor_entry {
    auto const fail_entry = [&](std::string const& what) { fail('"' + name + "\": " + what); };
    if (not value.is_object()) fail_entry("expected an object of dtype, shape and data_offsets");
    auto const member = [&](char const* key) -> json const& {
      if (not value.contains(key)) fail_entry(std::string{"has no "} + key);
      return value[key];
    };
    auto const numbers = [&](char const* key) {
      auto const& list = member(key);
      if (not list.is_array()) fail_entry(std::string{key} + " is no list");
      auto result = std::vector<std::uint64_t>{};
      for (auto const& number : list) {
        if (not number.is_number_unsigned())
          fail_entry(std::string{key} + " has " + number.dump() +
                     ", which is no whole number >= 0");
        result.push_back(number.get<std::uint64_t>());
      }
      return result;
    };

    auto entry = tensor_entry{};
    auto const& type = member("dtype");
    auto const known = type.is_string() ? dtype_of(type.get<std::string>()) : std::nullopt;
    if (not known) fail('"' + name + "\": unknown dtype " + type.dump());
    entry.type = *known;
    entry.shape = numbers("shape");
    auto const taken = detail::bytes_taken(name, entry.type, entry.shape);

    auto const offsets = numbers("data_offsets");
    if (offsets.size() != 2)
      fail_entry("expected 2 data_offsets, got " + std::to_string(offsets.size()));
    auto const begin = offsets[0];
    auto const end = offsets[1];
    if (begin > end || end > data)
      fail_entry("data_offsets " + std::to_string(begin) + " to " + std::to_string(end) +
                 " are not within the file's " + std::to_string(data) + " bytes of data");
    detail::check_bytes(name, entry.type, entry.shape, taken, end - begin, "data_offsets give");
    places_.emplace_back(begin, end, name);
    return entry;
  }
  /// One tensor begins where the one before ends, and the last ends the file.
  void check_coverage(std::uint64_t data) {
    std::ranges::sort(places_);
    auto reached = std::uint64_t{0};
    for (auto const& [begin, end, name] : places_) {
      if (begin < reached)
        fail('"' + name + "\" overlaps the tensor before it, at byte " + std::to_string(begin) +
             " of the data");
      if (begin > reached)
        fail("no tensor covers bytes " + std::to_string(reached) + " to " + std::to_string(begin) +
             " of the data");
      reached = end;
    }
    if (reached != data) fail(std::to_string(data - reached) + " bytes follow the last tensor");
  }

  using place = std::tuple<std::uint64_t, std::uint64_t, std::string>;  // begin, end, name

  std::vector<place> places_;  // until the data is there
  std::vector<std::byte> file_;
  std::map<std::string, tensor_entry> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Collects tensors and writes them as one file, in the order of the format's own library: the
/// dtypes with the most bytes first, then by name, the header padded to 8 bytes.
///
/// Cost    the added memory is read when the file is written; it must live until then
/// Errors  safetensors_error for a name twice or one that the format keeps for itself, for bytes
///         that are not those of the shape, for texts that are no UTF-8: when they are added;
///         file_error where the file cannot be written
class safetensors_writer {
 public:
  /// Adds `bytes`, a tensor in row-major order, little-endian.
  void add(std::string const& name, dtype type, std::vector<std::uint64_t> shape,
           std::span<std::byte const> bytes) {
    check_utf8("the name of a tensor, \"" + valid_utf8(name) + '"', name);
    if (name == "__metadata__")
      throw safetensors_error("expected the name of a tensor, got \"" + name +
                              "\", which is that of the metadata");
    auto const taken = detail::bytes_taken(name, type, shape);
    detail::check_bytes(name, type, shape, taken, bytes.size(), "there are");
    for (auto const& [other, entry] : tensors_)
      if (other == name) throw safetensors_error("two tensors are named \"" + name + "\"");
    tensors_.push_back({name, {type, std::move(shape), bytes}});
  }
  /// The same of bytes that the writer keeps.
  void add_kept(std::string const& name, dtype type, std::vector<std::uint64_t> shape,
                std::vector<std::byte> bytes) {
    kept_.push_back(std::make_shared<std::vector<std::byte> const>(std::move(bytes)));
    add(name, type, std::move(shape), *kept_.back());
  }
  void set_metadata(std::string const& key, std::string value) {
    check_utf8("a key of the metadata, \"" + valid_utf8(key) + '"', key);
    check_utf8("the metadata's \"" + key + '"', value);
    metadata_[key] = std::move(value);
  }

  [[nodiscard]] auto bytes() const -> std::vector<std::byte> {
    auto sorted = tensors_;
    std::ranges::sort(sorted, [](auto const& a, auto const& b) {
      return std::pair{b.second.type, a.first} < std::pair{a.second.type, b.first};
    });
    auto header = nlohmann::ordered_json::object();
    if (not metadata_.empty()) header["__metadata__"] = metadata_;
    auto offset = std::uint64_t{0};
    for (auto const& [name, entry] : sorted) {
      auto const end = offset + entry.bytes.size();
      header[name] = {
          {"dtype", name_of(entry.type)}, {"shape", entry.shape}, {"data_offsets", {offset, end}}};
      offset = end;
    }
    auto text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    if (text.size() > safetensors::longest_header)
      throw safetensors_error("a header has at most 100000000 bytes, names and metadata take " +
                              std::to_string(text.size()));
    auto result = std::vector<std::byte>{};
    result.reserve(8 + text.size() + static_cast<std::size_t>(offset));
    for (auto i = 0U; i < 8; ++i)
      result.push_back(static_cast<std::byte>(std::uint64_t{text.size()} >> (8 * i)));
    auto const append = [&](std::span<std::byte const> part) {
      result.insert(result.end(), part.begin(), part.end());
    };
    append(std::as_bytes(std::span{text}));
    for (auto const& [name, entry] : sorted) append(entry.bytes);
    return result;
  }
  void write(std::filesystem::path const& path) const { write_file(path, {bytes()}); }

 private:
  static void check_utf8(std::string const& what, std::string const& text) {
    if (auto const fault = fault_of_utf8(text); not fault.empty())
      throw safetensors_error(what + ": " + fault);
  }

  std::vector<std::pair<std::string, tensor_entry>> tensors_;
  std::vector<std::shared_ptr<std::vector<std::byte> const>> kept_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace tessera
