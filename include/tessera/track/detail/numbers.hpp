// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/track/logger.hpp>
#include <tessera/train/described.hpp>

#include <cmath>

#include <unistd.h>

/// Numbers, names and times as texts that programs read back without a loss.
namespace tessera::detail {

/// The shortest digits that give the number again; `nan` and `infinity` for what is none.
[[nodiscard]] inline auto digits_of(double value, char const* nan, char const* infinity)
    -> std::string {
  if (std::isnan(value)) return nan;
  if (std::isinf(value)) return (value < 0 ? "-" : "") + std::string{infinity};
  return described(value);
}
/// A setting as JSON has it; what is no number is `nan` or `infinity`.
[[nodiscard]] inline auto json_of(setting_value const& value, char const* nan, char const* infinity)
    -> std::string {
  if (auto const* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (auto const* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (auto const* number = std::get_if<double>(&value)) return digits_of(*number, nan, infinity);
  return json_text(std::get<std::string>(value));
}
/// A setting as plain text.
[[nodiscard]] inline auto text_of(setting_value const& value) -> std::string {
  auto const* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : json_of(value, "nan", "inf");
}
[[nodiscard]] inline auto seconds_of(std::chrono::system_clock::time_point time) -> double {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}
[[nodiscard]] inline auto milliseconds_of(std::chrono::system_clock::time_point time)
    -> std::int64_t {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
[[nodiscard]] inline auto name_of(run_state state) -> char const* {
  return state == run_state::finished ? "finished"
         : state == run_state::failed ? "failed"
                                      : "stopped";
}
[[nodiscard]] inline auto host_name() -> std::string {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}
/// `settings` with `more`: one of the same name has the newer value.
inline void merge(std::vector<named_setting>& settings, std::span<named_setting const> more) {
  for (auto const& each : more) {
    auto found = settings.begin();
    while (found != settings.end() && found->name != each.name) ++found;
    if (found == settings.end())
      settings.push_back(each);
    else
      found->value = each.value;
  }
}

}  // namespace tessera::detail
