// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf/cursor.hpp>
#include <tessera/io/mapped_file.hpp>

#include <array>
#include <cstdint>
#include <numeric>

/// The GGUF format, version 3, little-endian, read strictly: metadata as pairs of key and value,
/// and tensors, some of them in blocks.
namespace tessera {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

/// One tensor of a file: where its bytes are, and what they mean.
struct gguf_tensor {
  std::string_view name;
  std::array<std::uint64_t, 4> extents{1, 1, 1, 1};  ///< the fastest first, as in the file
  std::uint32_t rank = 0;
  ggml_type_facts const* type = nullptr;
  std::span<std::byte const> bytes;  ///< as stored, whatever the type

  [[nodiscard]] auto size() const -> std::uint64_t {
    return extents[0] * extents[1] * extents[2] * extents[3];
  }
  /// The extents with the fastest last, as tensors and other files have them.
  [[nodiscard]] auto shape() const -> std::vector<std::uint64_t> {
    auto const* const last = extents.begin() + rank;
    return {std::make_reverse_iterator(last), std::make_reverse_iterator(extents.begin())};
  }
};

struct gguf_pair {
  std::string_view key;
  gguf_value value;
};

/// The metadata and tensors of a GGUF file: looks into bytes that somebody else keeps, and that
/// must live as long as the object and all that it hands out.
///
/// Cost    one pass over the metadata; 56 bytes for each pair and 104 for each tensor, which is at
///         most 5 times the file's size; no string, array or tensor is copied
/// Errors  file_error, which names the file, the key or tensor, what was expected and what came,
///         for everything that the format does not allow, and for arrays of arrays. The file is
///         judged as a whole before anything is handed out: tests/io/gguf_hostile.cpp
/// Source  ggml's docs/gguf.md; files of PyPI's gguf: tests/reference/gguf_files.py
class gguf {
 public:
  static constexpr auto longest_key = std::size_t{65535};
  static constexpr auto longest_name = std::size_t{64};
  static constexpr auto highest_rank = std::uint32_t{4};
  static constexpr auto usual_alignment = std::uint64_t{32};

  explicit gguf(mapped_file const& file) : gguf(file.bytes(), file.path()) {}
  explicit gguf(mapped_file const&&) = delete;
  /// The same of bytes, under the name that messages give them.
  gguf(std::span<std::byte const> bytes, std::filesystem::path path) : path_(std::move(path)) {
    auto in = detail::gguf_cursor(bytes, path_);
    auto const [tensors, pairs] = read_start(in);
    read_pairs(in, pairs);
    read_alignment();
    auto const places = read_tensors(in, tensors);
    auto const begin = (bytes.size() - in.left() + alignment_ - 1) / alignment_ * alignment_;
    place_tensors(bytes.subspan(std::min<std::size_t>(begin, bytes.size())), places);
  }

  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto alignment() const -> std::uint64_t { return alignment_; }
  [[nodiscard]] auto metadata() const -> std::span<gguf_pair const> { return pairs_; }
  [[nodiscard]] auto tensors() const -> std::span<gguf_tensor const> { return tensors_; }

  [[nodiscard]] auto find_value(std::string_view key) const -> gguf_value const* {
    auto const* const pair = found(pairs_, sorted_pairs_, key, &gguf_pair::key);
    return pair == nullptr ? nullptr : &pair->value;
  }
  [[nodiscard]] auto find_tensor(std::string_view name) const -> gguf_tensor const* {
    return found(tensors_, sorted_tensors_, name, &gguf_tensor::name);
  }

  /// The value of a key as T (gguf_value::as), if the file has the key.
  ///
  /// Errors  file_error where the value is no T
  template <class T> [[nodiscard]] auto find(std::string_view key) const -> std::optional<T> {
    auto const* const value = find_value(key);
    if (value == nullptr) return std::nullopt;
    auto const result = value->as<T>();
    if (not result) fail_type(key, std::string{name_of(gguf_type_of<T>())}, *value);
    return result;
  }
  /// Errors  file_error also where the file has no such key
  template <class T> [[nodiscard]] auto get(std::string_view key) const -> T {
    auto const result = find<T>(key);
    if (not result) fail("has no key " + detail::quoted_name(key));
    return *result;
  }
  /// The array of a key, whose elements are of exactly this type.
  template <class T>
  [[nodiscard]] auto find_array(std::string_view key) const -> std::optional<gguf_array<T>> {
    auto const* const value = find_value(key);
    if (value == nullptr) return std::nullopt;
    auto const result = value->as_array<T>();
    if (not result) fail_type(key, "array of " + std::string{name_of(gguf_type_of<T>())}, *value);
    return result;
  }
  template <class T> [[nodiscard]] auto get_array(std::string_view key) const -> gguf_array<T> {
    auto const result = find_array<T>(key);
    if (not result) fail("has no key " + detail::quoted_name(key));
    return *result;
  }

  [[nodiscard]] auto tensor(std::string_view name) const -> gguf_tensor const& {
    auto const* const result = find_tensor(name);
    if (result == nullptr) fail("has no tensor " + detail::quoted_name(name));
    return *result;
  }
  /// The bytes of a tensor of a type that is read.
  ///
  /// Errors  file_error for a type that is known by name alone
  [[nodiscard]] auto data(gguf_tensor const& t) const -> std::span<std::byte const> {
    if (not is_readable(*t.type))
      fail("tensor " + detail::quoted_name(t.name) +
           ": expected a type of F32, F16, BF16, Q4_0, Q4_1, Q8_0, got " +
           std::string{t.type->name});
    return t.bytes;
  }
  /// The numbers or blocks of a tensor as they stand in the file.
  ///
  /// Errors  file_error for another type, and where the bytes lie at an address that T may not have
  template <class T> [[nodiscard]] auto data(gguf_tensor const& t) const -> std::span<T const> {
    constexpr auto want = facts_of(ggml_type_of<T>());
    static_assert(sizeof(T) == want.bytes, "gguf: a block is as long as the file says");
    if (t.type->number != want.number)
      fail("tensor " + detail::quoted_name(t.name) + ": expected type " + std::string{want.name} +
           ", got " + std::string{t.type->name});
    if (reinterpret_cast<std::uintptr_t>(t.bytes.data()) % alignof(T) != 0)
      fail("tensor " + detail::quoted_name(t.name) + ": is not aligned in memory");
    return {reinterpret_cast<T const*>(t.bytes.data()), t.bytes.size() / sizeof(T)};
  }

  [[noreturn]] void fail(std::string const& what) const { throw file_error(path_, what); }

 private:
  struct place {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  [[noreturn]] void fail_type(std::string_view key, std::string const& want,
                              gguf_value const& got) const {
    auto text = got.is_array() ? "array of " + std::string{name_of(got.element())}
                               : std::string{name_of(got.type())};
    if (auto const number = got.as<std::int64_t>()) text += ' ' + std::to_string(*number);
    fail("key " + detail::quoted_name(key) + ": expected " + want + ", got " + text);
  }
  /// The numbers of tensors and of pairs, which the file is long enough for.
  static auto read_start(detail::gguf_cursor& in) -> std::pair<std::uint64_t, std::uint64_t> {
    auto const magic = in.take(std::min<std::size_t>(4, in.left()), "the start");
    auto const text = std::string_view{reinterpret_cast<char const*>(magic.data()), magic.size()};
    if (text != "GGUF")
      in.fail("expected a file that begins with \"GGUF\", got " + detail::quoted_name(text));
    auto const version = in.take_number<std::uint32_t>("the version");
    if (version == 0x03000000U) in.fail("expected numbers in little-endian order, got big-endian");
    if (version != 3) in.fail("expected GGUF version 3, got " + std::to_string(version));
    auto const tensors = in.take_number<std::uint64_t>("the number of tensors");
    auto const pairs = in.take_number<std::uint64_t>("the number of pairs");
    constexpr auto shortest_pair = std::uint64_t{8 + 1 + 4 + 1};
    constexpr auto shortest_tensor = std::uint64_t{8 + 1 + 4 + 4 + 8};
    check_count(in, "pairs", pairs, in.left() / shortest_pair);
    check_count(in, "tensors", tensors, (in.left() - pairs * shortest_pair) / shortest_tensor);
    return {tensors, pairs};
  }
  static void check_count(detail::gguf_cursor const& in, std::string const& of, std::uint64_t count,
                          std::uint64_t most) {
    if (count > most)
      in.fail("says that it has " + std::to_string(count) + ' ' + of + ", and has room for " +
              std::to_string(most) + ": it is not whole, or no GGUF file");
  }

  void read_pairs(detail::gguf_cursor& in, std::uint64_t count) {
    pairs_.reserve(static_cast<std::size_t>(count));
    for (auto i = std::uint64_t{0}; i < count; ++i) {
      auto const key = in.take_name("the key of pair " + std::to_string(i), longest_key);
      pairs_.push_back({key, in.take_value("key " + detail::quoted_name(key))});
    }
    sorted_pairs_ = sorted(pairs_, "key", &gguf_pair::key);
  }
  void read_alignment() {
    auto const* const value = find_value("general.alignment");
    if (value == nullptr) return;
    auto const alignment = value->as<std::uint32_t>();
    if (value->type() != gguf_type::u32 || not alignment)
      fail_type("general.alignment", "u32", *value);
    alignment_ = *alignment;
    if (alignment_ < 8 || not std::has_single_bit(alignment_))
      fail("key \"general.alignment\": expected a power of two of at least 8, got " +
           std::to_string(alignment_));
  }
  auto read_tensors(detail::gguf_cursor& in, std::uint64_t count) -> std::vector<place> {
    auto places = std::vector<place>{};
    tensors_.reserve(static_cast<std::size_t>(count));
    places.reserve(static_cast<std::size_t>(count));
    for (auto i = std::uint64_t{0}; i < count; ++i) {
      auto const name = in.take_name("the name of tensor " + std::to_string(i), longest_name);
      places.push_back(read_tensor(in, name, "tensor " + detail::quoted_name(name)));
    }
    sorted_tensors_ = sorted(tensors_, "tensor", &gguf_tensor::name);
    return places;
  }
  auto read_tensor(detail::gguf_cursor& in, std::string_view name, std::string const& what)
      -> place {
    auto t = gguf_tensor{};
    t.name = name;
    t.rank = in.take_number<std::uint32_t>(what + ", its rank");
    if (t.rank > highest_rank)
      fail(what + ": expected a rank of 0 to 4, got " + std::to_string(t.rank));
    auto size = std::uint64_t{1};
    for (auto axis = 0U; axis < t.rank; ++axis) {
      t.extents[axis] = in.take_number<std::uint64_t>(what + ", its extents");
      if (t.extents[axis] == 0) fail(what + ": expected extents of at least 1, got 0");
      if (__builtin_mul_overflow(size, t.extents[axis], &size))
        fail(what + ": its extents are too large for any file");
    }
    auto const type = in.take_number<std::uint32_t>(what + ", its type");
    t.type = facts_of_ggml_type(type);
    if (t.type == nullptr) fail(what + ": expected a known type, got " + std::to_string(type));
    if (t.extents[0] % t.type->numbers != 0)
      fail(what + ": expected rows in blocks of " + std::to_string(t.type->numbers) + " for " +
           std::string{t.type->name} + ", got " + std::to_string(t.extents[0]));
    auto bytes = std::uint64_t{0};
    if (__builtin_mul_overflow(size / t.type->numbers, std::uint64_t{t.type->bytes}, &bytes))
      fail(what + ": its extents are too large for any file");
    auto const offset = in.take_number<std::uint64_t>(what + ", its offset");
    if (offset % alignment_ != 0)
      fail(what + ": expected an offset aligned to " + std::to_string(alignment_) + ", got " +
           std::to_string(offset));
    tensors_.push_back(t);
    return {offset, bytes};
  }
  /// Every tensor gets its part of the data, which no other has.
  void place_tensors(std::span<std::byte const> data, std::vector<place> const& places) {
    auto order = in_order(tensors_.size());
    for (auto const i : order) {
      auto const [offset, bytes] = places[i];
      if (offset > data.size() || bytes > data.size() - offset)
        fail("tensor " + detail::quoted_name(tensors_[i].name) + ": expected " +
             std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of the data, got " +
             std::to_string(data.size()) + " bytes of data");
      tensors_[i].bytes =
          data.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
    }
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{places[i].offset, i}; });
    for (auto k = std::size_t{1}; k < order.size(); ++k) {
      auto const& before = places[order[k - 1]];
      if (places[order[k]].offset < before.offset + before.bytes)
        fail("tensor " + detail::quoted_name(tensors_[order[k]].name) + ": overlaps tensor " +
             detail::quoted_name(tensors_[order[k - 1]].name) + ", at byte " +
             std::to_string(places[order[k]].offset) + " of the data");
    }
  }

  // -- finding by name ---------------------------------------------------------------------------
  [[nodiscard]] static auto in_order(std::size_t n) -> std::vector<std::size_t> {
    auto result = std::vector<std::size_t>(n);
    std::iota(result.begin(), result.end(), std::size_t{0});
    return result;
  }
  template <class Row>
  [[nodiscard]] auto sorted(std::vector<Row> const& rows, std::string const& kind,
                            std::string_view Row::* name) const -> std::vector<std::size_t> {
    auto result = in_order(rows.size());
    auto const name_of_row = [&](std::size_t i) { return rows[i].*name; };
    std::ranges::sort(result, {}, name_of_row);
    auto const twice = std::ranges::adjacent_find(result, {}, name_of_row);
    if (twice != result.end())
      fail("has two of " + kind + ' ' + detail::quoted_name(name_of_row(*twice)));
    return result;
  }
  template <class Row>
  [[nodiscard]] static auto found(std::vector<Row> const& rows,
                                  std::vector<std::size_t> const& sorted, std::string_view name,
                                  std::string_view Row::* of_row) -> Row const* {
    auto const name_of_row = [&](std::size_t i) { return rows[i].*of_row; };
    auto const at = std::ranges::lower_bound(sorted, name, {}, name_of_row);
    return at != sorted.end() && name_of_row(*at) == name ? &rows[*at] : nullptr;
  }

  std::filesystem::path path_;
  std::uint64_t alignment_ = usual_alignment;
  std::vector<gguf_pair> pairs_;
  std::vector<gguf_tensor> tensors_;
  std::vector<std::size_t> sorted_pairs_;
  std::vector<std::size_t> sorted_tensors_;
};

}  // namespace tessera
