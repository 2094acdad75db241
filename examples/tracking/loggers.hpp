// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>
#include <tessera/track/logger.hpp>
#include <tessera/train/callback.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// What the applications share to tell loggers of their trainings.
namespace tracking {

/// Which loggers the user asks for: a member of a program's settings, whose `visit` calls this one.
struct logger_settings {
  std::string loggers = "none";
  std::string mlflow_url = "http://127.0.0.1:5000";

  static void visit(auto const& f, auto& s, std::string_view command = {}) {
    auto const rules = tessera::setting_rules{.changes_result = false, .command = command};
    f("loggers", s.loggers, "csv, json, tensorboard, wandb, mlflow, several, or none", rules);
    f("mlflow_url", s.mlflow_url, "of the MLflow server", rules);
  }
  /// "csv,tensorboard" as words, each once; none for "none".
  ///
  /// Errors  usage_error for another word
  [[nodiscard]] auto names() const -> std::vector<std::string>;
  friend auto operator==(logger_settings const&, logger_settings const&) -> bool = default;
};

/// The settings of a program, as loggers are told of them.
template <class Settings>
[[nodiscard]] auto described(Settings const& s) -> std::vector<tessera::named_setting> {
  auto result = std::vector<tessera::named_setting>{};
  auto const add = [&](char const* name, auto const& value) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, std::uint64_t>)
      result.push_back({name, static_cast<std::int64_t>(value)});
    else
      result.push_back({name, value});
  };
  Settings::visit(
      [&](char const* name, auto const& member, char const*, tessera::setting_rules = {}) {
        if constexpr (requires { member.has_value(); }) {
          if (member) add(name, *member);
        } else {
          add(name, member);
        }
      },
      s);
  return result;
}

/// Adds who tells the loggers of a training, from its first batch to its end; nothing where there
/// are none, and nothing is told of a trial (fast_dev_run).
///
/// Files lie in folder/<name>, folder/tensorboard/<name> and folder/wandb. A name that is taken
/// gets a number: what loggers wrote of a training that goes on stays as it is.
void add_loggers(tessera::callbacks& to, logger_settings const& which,
                 std::filesystem::path const& folder, tessera::run_info run);

}  // namespace tracking
