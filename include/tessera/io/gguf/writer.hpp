// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf.hpp>
#include <tessera/io/gguf/blocks.hpp>

#include <memory>
#include <ranges>
#include <set>

namespace tessera {

namespace detail {

/// Bytes of a file that grow by numbers and strings.
struct gguf_bytes : std::vector<std::byte> {
  void append(std::span<std::byte const> bytes) { insert(end(), bytes.begin(), bytes.end()); }
  template <class T> void append_value(T const& value) {
    if constexpr (std::same_as<T, std::string_view>) {
      append_value(std::uint64_t{value.size()});
      append(std::as_bytes(std::span{value}));
    } else {
      append(std::as_bytes(std::span{&value, 1}));
    }
  }
};

}  // namespace detail

/// Collects metadata and tensors for save_gguf, which writes them in the order in which they came.
///
/// Cost    bytes that are added are read when the file is written, and must live until then; what
///         is converted is kept
/// Errors  std::invalid_argument, which names the key or tensor and says what was expected
class gguf_writer {
 public:
  /// Sets a key once: a number of a fixed size, bool, or text.
  template <class T> void set(std::string const& key, T const& value) {
    check_free(key);
    set_value<stored_as<T>>(key, value);
  }
  /// The same for the elements of any range.
  template <class Range> void set_array(std::string const& key, Range const& elements) {
    using T = stored_as<std::ranges::range_value_t<Range>>;
    check_free(key);
    begin_pair(key, gguf_type::array);
    pairs_.append_value(gguf_type_of<T>());
    pairs_.append_value(static_cast<std::uint64_t>(std::ranges::distance(elements)));
    for (auto const& e : elements) pairs_.append_value<T>(e);
  }
  /// Where tensors begin: at multiples of this power of two.
  void set_alignment(std::uint32_t alignment) {
    if (alignment < 8 || not std::has_single_bit(alignment))
      throw std::invalid_argument("gguf: expected an alignment of a power of two from 8, got " +
                                  std::to_string(alignment));
    set_value<std::uint32_t>("general.alignment", alignment);
    alignment_ = alignment;
    zeros_.resize(alignment);
  }

  /// Adds a tensor as it is stored; its shape has the fastest extent last.
  void add(std::string const& name, ggml_type type, std::vector<std::uint64_t> shape,
           std::span<std::byte const> bytes) {
    auto const& facts = facts_of(type);
    auto const fail = [&](std::string const& what) {
      throw std::invalid_argument("gguf: tensor " + detail::quoted_name(name) + ": expected " +
                                  what);
    };
    check_name(name, gguf::longest_name - 1);  // llama.cpp wants room for a NUL
    if (shape.size() > gguf::highest_rank)
      fail("a rank of 0 to 4, got " + std::to_string(shape.size()));
    auto size = std::uint64_t{1};
    for (auto const n : shape)
      if (n == 0 || __builtin_mul_overflow(size, n, &size)) fail("extents from 1");
    if ((shape.empty() ? 1 : shape.back()) % facts.numbers != 0)
      fail("rows in blocks of 32 for " + std::string{facts.name} + ", got " +
           std::to_string(shape.empty() ? 1 : shape.back()));
    if (bytes.size() / facts.bytes != size / facts.numbers || bytes.size() % facts.bytes != 0)
      fail(std::to_string(size / facts.numbers) + " times " + std::to_string(facts.bytes) +
           " bytes, got " + std::to_string(bytes.size()));
    if (not names_.insert(name).second) fail("no other of this name");
    tensors_.push_back({name, type, std::move(shape), bytes});
  }
  /// Adds numbers, which are stored as `type` and kept.
  ///
  /// Errors  std::invalid_argument also where a number has no place in the type: encode_numbers
  void add_numbers(std::string const& name, ggml_type type, std::vector<std::uint64_t> shape,
                   std::span<float const> numbers) {
    auto bytes = std::make_shared<std::vector<std::byte>>();
    try {
      *bytes = encode_numbers(type, numbers);
    } catch (std::invalid_argument const& e) {
      throw std::invalid_argument("gguf: tensor " + detail::quoted_name(name) + ": " + e.what());
    }
    add(name, type, std::move(shape), *bytes);
    kept_.push_back(std::move(bytes));
  }

  /// What stands before the tensors, up to where the first begins.
  [[nodiscard]] auto header() const -> std::vector<std::byte> {
    auto out = detail::gguf_bytes{};
    for (auto const c : {'G', 'G', 'U', 'F'}) out.append_value(c);
    out.append_value(std::uint32_t{3});
    out.append_value(std::uint64_t{tensors_.size()});
    out.append_value(std::uint64_t{keys_.size()});
    out.append(pairs_);
    auto offset = std::uint64_t{0};
    for (auto const& t : tensors_) {
      out.append_value<std::string_view>(t.name);
      out.append_value(static_cast<std::uint32_t>(t.shape.size()));
      for (auto const n : t.shape | std::views::reverse) out.append_value(n);
      out.append_value(t.type);
      out.append_value(offset);
      offset += t.bytes.size() + padding(t.bytes.size());
    }
    out.resize(out.size() + padding(out.size()));
    return out;
  }
  /// The parts of the file, which look into `header` and into the writer.
  [[nodiscard]] auto parts(std::span<std::byte const> header) const
      -> std::vector<std::span<std::byte const>> {
    auto result = std::vector{header};
    for (auto const& t : tensors_) {
      result.push_back(t.bytes);
      result.push_back(std::span{zeros_}.first(padding(t.bytes.size())));
    }
    return result;
  }

 private:
  struct tensor {
    std::string name;
    ggml_type type;
    std::vector<std::uint64_t> shape;
    std::span<std::byte const> bytes;
  };
  template <class T>
  using stored_as =
      std::conditional_t<std::convertible_to<T, std::string_view>, std::string_view, T>;

  static void check_name(std::string_view name, std::size_t longest) {
    if (name.empty() || name.size() > longest)
      throw std::invalid_argument("gguf: expected a name of 1 to " + std::to_string(longest) +
                                  " bytes, got " + detail::quoted_name(name));
    for (auto at = std::size_t{0}; at < name.size();) {
      auto const piece = detail::utf8_piece_at(name, at);
      if (not piece.is_letter || name[at] == '\0')
        throw std::invalid_argument("gguf: expected a name in UTF-8 without NUL, got " +
                                    detail::quoted_name(name));
      at += piece.bytes;
    }
  }
  static void check_free(std::string const& key) {
    if (key == "general.alignment")
      throw std::invalid_argument("gguf: expected set_alignment for \"general.alignment\"");
  }
  void begin_pair(std::string const& key, gguf_type type) {
    check_name(key, gguf::longest_key);
    if (not keys_.insert(key).second)
      throw std::invalid_argument("gguf: key " + detail::quoted_name(key) + " is set twice");
    pairs_.append_value<std::string_view>(key);
    pairs_.append_value(type);
  }
  template <class T> void set_value(std::string const& key, T const& value) {
    begin_pair(key, gguf_type_of<T>());
    pairs_.append_value(value);
  }
  [[nodiscard]] auto padding(std::size_t bytes) const -> std::size_t {
    return (alignment_ - bytes % alignment_) % alignment_;
  }

  detail::gguf_bytes pairs_;
  std::set<std::string> keys_;
  std::set<std::string> names_;
  std::vector<tensor> tensors_;
  std::vector<std::shared_ptr<std::vector<std::byte> const>> kept_;
  std::size_t alignment_ = gguf::usual_alignment;
  std::vector<std::byte> zeros_ = std::vector<std::byte>(gguf::usual_alignment);
};

/// Writes a file all or nothing: see write_file.
///
/// Errors  file_error
inline void save_gguf(std::filesystem::path const& path, gguf_writer const& content) {
  auto const header = content.header();
  detail::write_parts(path, content.parts(header));
}

}  // namespace tessera
