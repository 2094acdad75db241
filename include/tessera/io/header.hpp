// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/constant.hpp>
#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>
#include <tessera/io/number_text.hpp>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

namespace detail {

/// True for a word of C++20 itself, which names nothing else.
[[nodiscard]] inline auto is_keyword(std::string_view word) -> bool {
  static constexpr auto words = std::string_view{
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t"
      " char32_t char8_t class co_await co_return co_yield compl concept const const_cast"
      " consteval constexpr constinit continue decltype default delete do double dynamic_cast"
      " else enum explicit export extern false float for friend goto if inline int long"
      " mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected"
      " public register reinterpret_cast requires return short signed sizeof static"
      " static_assert static_cast struct switch template this thread_local throw true try"
      " typedef typeid typename union unsigned using virtual void volatile wchar_t while xor"
      " xor_eq "};
  return words.find(' ' + std::string{word} + ' ') != std::string_view::npos;
}

}  // namespace detail

/// Writes parameters as a C++ header: a table of numbers, exact in binary, and the signature of the
/// model, for constant_parameters<Model, space::signature>(space::values).
///
/// Cost    about 20 bytes of text for each number
/// Errors  std::invalid_argument where `space` is no name of a namespace, for a model without
///         parameters, and for a number that is not finite; file_error where the header cannot be
///         written
template <class P>
void write_header(std::filesystem::path const& path, std::string const& space, P const& p) {
  auto const letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto good = not space.empty() && letter(space[0]);
  for (auto const c : space) good = good && (letter(c) || (c >= '0' && c <= '9'));
  good = good && not detail::is_keyword(space);
  if (not good)
    throw std::invalid_argument("write_header: expected the name of a namespace, got '" + space +
                                "'");
  auto numbers = std::size_t{0};
  auto body = std::string{};
  for_each_parameter(
      [&](path_name const& where, auto const& w) {
        using S = shape_of<decltype(w)>;
        static_assert(std::same_as<scalar_of<decltype(w)>, float>, "write_header: floats");
        body += "    // " + json_escaped(where.c_str()) + " (";
        for (auto a = std::size_t{0}; a < S::rank; ++a)
          body += (a > 0 ? ", " : "") + std::to_string(bound_of(S::extents[a]));
        body += ")";
        for (auto i = std::size_t{0}; i < S::capacity; ++i) {
          auto const number = static_cast<double>(w.data()[i]);
          if (not std::isfinite(number))
            throw std::invalid_argument("write_header: expected finite numbers, got " +
                                        number_text(number, 9) + " in " + where.c_str());
          body += (i % 6 == 0 ? "\n    " : " ") + binary_number_text(number) + "F,";
        }
        body += "\n";
        numbers += S::capacity;
      },
      p);
  if (numbers == 0)
    throw std::invalid_argument("write_header: expected a model with parameters, got one without");
  char signature[20];
  (void)std::snprintf(signature, sizeof signature, "0x%016" PRIx64, signature_of(p));
  write_file(path,
             "// Written by tessera::write_header.\n#pragma once\n\n#include <cstdint>\n\n"
             "namespace " +
                 space + " {\n\ninline constexpr std::uint64_t signature = " + signature +
                 ";\ninline constexpr float values[" + std::to_string(numbers) + "] = {\n" + body +
                 "};\n\n}  // namespace " + space + "\n");
}

}  // namespace tessera
