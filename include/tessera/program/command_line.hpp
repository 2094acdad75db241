// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>

#include <CLI/CLI.hpp>

#include <concepts>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

/// Settings by options of the command line, which CLI11 reads, over those of a file, over their
/// defaults.
namespace tessera {

namespace detail {

template <class M>
auto add_value(CLI::App& app, std::string const& name, M& value, std::string const& help)
    -> CLI::Option* {
  using value_type = decided_value<M>;
  auto* const option = app.add_option_function<std::string>(
      option_name(name),
      [&value, name](std::string const& given) {
        auto read = value_type{};
        if (not read_value(given, read)) refuse(name, expected_value<value_type>(), given);
        value = read;
      },
      help);
  if constexpr (std::same_as<value_type, double>)
    option->type_name("FLOAT");
  else if constexpr (std::same_as<value_type, std::uint64_t>)
    option->type_name("UINT");
  return option;
}

}  // namespace detail

/// Adds the option --<name>, with - for _, whose value is read as that of a file is: see
/// read_config. Help prints the value that is there as the default.
///
/// Errors  usage_error, when it is parsed, for a value of another type
template <detail::settable T>
void add_option(CLI::App& app, std::string const& name, T& value, char const* help) {
  detail::add_value(app, name, value, help)->default_str(detail::text_of_value(value));
}

/// The same of a member that is decided later, where it has no value yet: help tells by what.
template <detail::settable T>
void add_optional(CLI::App& app, std::string const& name, std::optional<T>& value, char const* help,
                  char const* by) {
  if (value)
    detail::add_value(app, name, value, help)->default_str(detail::text_of_value(*value));
  else
    detail::add_value(app, name, value, help + std::string{" (default "} + by + ")");
}

/// Adds an option for every member of `s`, which outlives `app`, but for those that only another
/// command has. Of an optional one help tells only what decides it, as "default by mode".
template <class S>
void add_options(CLI::App& app, S& s, char const* optional_by = "by the others") {
  S::visit(
      [&](char const* name, auto& value, char const* help, setting_rules rules = {}) {
        if (not rules.command.empty() && rules.command != app.get_name()) return;
        if constexpr (detail::is_optional<std::remove_reference_t<decltype(value)>>)
          add_optional(app, name, value, help, optional_by);
        else
          add_option(app, name, value, help);
      },
      s);
}

/// Adds the option --config FILE and reads the file over `s` at once, so that the command line is
/// written over it: called before add_options, whose defaults are the file's then.
///
/// Errors  those of read_config
template <class S> void add_config(CLI::App& app, int count, char const* const* arguments, S& s) {
  app.add_option_function<std::string>(
      "--config", [](std::string const&) {}, "YAML file of these options, with _ for -");
  for (auto i = 1; i < count; ++i) {
    auto const word = std::string{arguments[i]};
    if (word == "--config" && i + 1 < count) read_config(arguments[i + 1], s);
    if (word.starts_with("--config=")) read_config(word.substr(9), s);
  }
}

/// For the check of an option that is a text: what is no UTF-8 is refused.
[[nodiscard]] inline auto utf8_text() -> CLI::Validator {
  return {[](std::string& text) { return fault_of_utf8(text); }, ""};
}

namespace detail {

/// The words of a command line, --<name>= as two: CLI11 would take the next word for its value.
[[nodiscard]] inline auto words_of_command_line(int count, char const* const* arguments)
    -> std::vector<std::string> {
  auto words = std::vector<std::string>{};
  for (auto i = 0; i < count; ++i) {
    auto word = std::string{arguments[i]};
    auto const is_empty = i > 0 && word.starts_with("--") && word.find('=') + 1 == word.size();
    if (is_empty) word.pop_back();
    words.push_back(std::move(word));
    if (is_empty) words.emplace_back();
  }
  return words;
}

}  // namespace detail

/// False where help was asked for, and is printed.
///
/// Errors  usage_error for what `app` does not take
[[nodiscard]] inline auto parse_command_line(CLI::App& app, int count, char const* const* arguments)
    -> bool {
  auto const words = detail::words_of_command_line(count, arguments);
  auto given = std::vector<char const*>{};
  for (auto const& word : words) given.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(given.size()), given.data());
    return true;
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() != 0) throw usage_error(shortened(e.what(), 300));
    app.exit(e);
    return false;
  }
}

/// Runs a program: the code that `run` returns, or 2 and one line "<name>: <why>" for what it
/// throws, and for output that cannot be written.
template <class Run> [[nodiscard]] auto run_program(char const* name, Run const& run) -> int {
  try {
    int const code = run();
    if (std::cout.flush(); std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::runtime_error("standard output cannot be written");
    return code;
  } catch (std::exception const& e) {
    (void)std::fprintf(stderr, "%s: %s\n", name, shortened(e.what(), 1000).c_str());
    return 2;
  }
}

}  // namespace tessera
