// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>
#include <tessera/program/detail/value.hpp>
#include <tessera/train/settings_text.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// What the user of a program decides, as a struct that names its members once:
///
///     struct settings {
///       double learning_rate = 3e-3;
///       std::optional<std::uint64_t> epochs;  // decided later, where the user does not
///       std::uint64_t threads = 0;
///
///       static void visit(auto const& f, auto& s) {
///         f("learning_rate", s.learning_rate, "at the start", {0, 10});
///         f("epochs", s.epochs, "passes over the data", {1, 1000});
///         f("threads", s.threads, "0 for all cores", {.changes_result = false});
///       }
///     };
///
/// Members are std::string, std::uint64_t, double, or an optional of one of them; another does not
/// compile: tests/fail/settings_member.cpp.
namespace tessera {

/// A value that is none, by the name of its option.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `visit` may tell of a member: where its numbers end, whether a training computes anything
/// else by it, and the only subcommand that has an option for it.
struct setting_rules {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool changes_result = true;
  std::string_view command = {};
};

/// Errors  usage_error: "--<name>: expected <expected>, got <got>"
template <detail::settable T>
[[noreturn]] void refuse(std::string const& name, std::string const& expected, T const& got) {
  throw usage_error(detail::option_name(name) + ": expected " + expected + ", got " +
                    shortened(detail::text_of_value(got)));
}

/// Errors  usage_error where value is not from low to high, or is no number
template <detail::settable T>
void check_range(std::string const& name, T value, std::type_identity_t<T> low,
                 std::type_identity_t<T> high) {
  if (not(value >= low && value <= high))
    refuse(name,
           "a number from " + detail::text_of_value(low) + " to " + detail::text_of_value(high),
           value);
}

/// Errors  usage_error where value is none of those allowed
inline void check_one_of(std::string const& name, std::string const& value,
                         std::vector<std::string> const& allowed) {
  auto list = std::string{};
  for (auto const& one : allowed) {
    if (value == one) return;
    list += (list.empty() ? "" : ", ") + one;
  }
  refuse(name, "one of " + list, value);
}

/// "a,b" as words.
///
/// Errors  usage_error where one is none of those allowed, or comes twice
[[nodiscard]] inline auto check_words(std::string const& name, std::string const& list,
                                      std::vector<std::string> const& allowed)
    -> std::vector<std::string> {
  auto result = std::vector<std::string>{};
  for (auto begin = std::size_t{0}; begin <= list.size();) {
    auto const end = std::min(list.find(',', begin), list.size());
    auto const word = list.substr(begin, end - begin);
    check_one_of(name, word, allowed);
    if (std::ranges::find(result, word) != result.end()) refuse(name, "each word once", list);
    result.push_back(word);
    begin = end + 1;
  }
  return result;
}

namespace detail {

template <settable T> void check_rules(char const* name, T const& value, setting_rules rules) {
  if constexpr (std::same_as<T, double>) {
    check_range(name, value, rules.low, rules.high);
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    auto const low = rules.low > 0 ? static_cast<T>(rules.low) : 0;
    auto const high = rules.high < 0x1p64 ? static_cast<T>(rules.high) : ~T{0};
    check_range(name, value, low, high);
  }
}

/// A parser takes minutes for 10 MB of lists.
inline constexpr auto most_settings_bytes = std::size_t{1} << 16U;

/// The keys and values of a YAML file; no node where it has none.
[[nodiscard]] inline auto yaml_map(std::string const& path) -> YAML::Node {
  auto const fail = [&](std::string const& what) { throw usage_error(path + ": " + what); };
  auto file = input_file(path);
  if (file.size() > most_settings_bytes)
    fail("has " + std::to_string(file.size()) + " bytes; settings take at most " +
         std::to_string(most_settings_bytes));
  auto const bytes = file.read(most_settings_bytes);
  auto const text = std::string{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  if (auto const fault = fault_of_utf8(text); not fault.empty()) fail(fault);
  // yaml-cpp takes NUL for the mark of its escapes.
  auto const is_control = [](char c) {
    auto const code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\t' && c != '\n' && c != '\r') || code == 0x7F;
  };
  if (std::ranges::any_of(text, is_control)) fail("has a control character");
  auto documents = std::vector<YAML::Node>{};
  try {
    // A quote that is not closed would end with the file, but not with a document.
    documents = YAML::LoadAll(text.ends_with('\n') ? text + "...\n" : text);
  } catch (YAML::Exception const& e) {
    fail("is not YAML: " + shortened(e.what(), 200));
  }
  if (documents.size() > 1) fail("has more than one document");
  if (documents.empty() || documents[0].IsNull()) return YAML::Node{};
  if (not documents[0].IsMap()) fail("expected keys and values");
  return documents[0];
}

/// Errors  usage_error for what yaml_map would refuse
template <class S> [[nodiscard]] auto settings_yaml(S const& s, bool all) -> std::string {
  auto yaml = YAML::Emitter{};
  yaml << YAML::BeginMap;
  S::visit(
      [&](char const* name, auto const& member, char const*, setting_rules rules = {}) {
        if (not all && not rules.changes_result) return;
        if_decided(member, [&](auto const& value) {
          auto const text = text_of_value(value);
          if (auto const fault = fault_of_utf8(text); not fault.empty())
            throw usage_error(option_name(name) + ": " + fault);
          yaml << YAML::Key << name << YAML::Value;
          if (text.find_first_of("\r\x7F") != std::string::npos)
            yaml << YAML::DoubleQuoted;  // else the one is a line's end, the other not escaped
          yaml << text;
        });
      },
      s);
  yaml << YAML::EndMap;
  auto text = std::string{yaml.c_str()} + '\n';
  for (auto at = text.find('\x7F'); at != std::string::npos; at = text.find('\x7F', at))
    text.replace(at, 1, "\\x7F");  // yaml-cpp writes it as it is
  if (text.size() > most_settings_bytes)
    throw usage_error("settings: expected at most " + std::to_string(most_settings_bytes) +
                      " bytes as YAML, got " + std::to_string(text.size()));
  return text;
}

}  // namespace detail

/// Checks every number that is decided against the rules of its member.
///
/// Errors  usage_error for the first one outside, in the order of `visit`
template <class S> void check_ranges(S const& s) {
  S::visit(
      [](char const* name, auto const& member, char const*, setting_rules rules = {}) {
        detail::if_decided(member,
                           [&](auto const& value) { detail::check_rules(name, value, rules); });
      },
      s);
}

/// Reads the keys and values of a map over `s`; `place` says in errors where it stands.
///
/// Errors  those of read_config for what it holds
template <class S> void read_settings(std::string const& place, YAML::Node const& map, S& s) {
  auto const fail = [&](std::string const& what) { throw usage_error(place + ": " + what); };
  auto seen = std::set<std::string>{};
  for (auto const& entry : map) {
    if (not entry.first.IsScalar()) fail("a key is no name");
    auto const& key = entry.first.Scalar();
    auto const& given = entry.second;
    auto const shown = shortened(key);
    if (not seen.insert(key).second) fail("the key " + shown + " comes twice");
    auto known = false;
    S::visit(
        [&](char const* name, auto& value, char const*, setting_rules = {}) {
          using T = detail::decided_value<std::remove_reference_t<decltype(value)>>;
          if (name != key) return;
          known = true;
          auto read = T{};
          auto const expected = shown + ": expected " + detail::expected_value<T>();
          if (not given.IsScalar()) fail(expected + ", got a list, a map or nothing");
          if (not detail::read_value(given.Scalar(), read))
            fail(expected + ", got " + shortened(given.Scalar()));
          value = read;
        },
        s);
    if (not known) fail("unknown key " + shown);
  }
}

/// Reads a YAML file over `s`: whole numbers in decimal digits, finite numbers, texts.
///
/// Errors  usage_error for a file of more than 64 KiB or that is no such file, an unknown key or
///         one that comes twice, a value of another type; file_error where it cannot be read
template <class S> void read_config(std::string const& path, S& s) {
  read_settings(path, detail::yaml_map(path), s);
}

/// The settings that are decided as YAML, which read_config reads as the same bits.
///
/// Errors  usage_error for a text that is no UTF-8, and for more than 64 KiB
template <class S> [[nodiscard]] auto to_yaml(S const& s) -> std::string {
  return detail::settings_yaml(s, true);
}
/// The same without what changes no result: what a training is resumed by.
template <class S> [[nodiscard]] auto to_result_yaml(S const& s) -> std::string {
  return detail::settings_yaml(s, false);
}

}  // namespace tessera
