// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

/// "http://localhost:8000/v1" in its parts.
///
/// Errors  std::invalid_argument for another scheme, for a host that is no name and no address, for
///         a port beyond 65535, and for what is no path:
///         tests/io/http_address.cpp
struct http_address {
  std::string host;  ///< as headers have it: an address of IPv6 in brackets
  std::string port = "80";
  std::string prefix;  ///< of paths; it ends without a slash

  explicit http_address(std::string_view url) {
    constexpr auto scheme = std::string_view{"http://"};
    if (not url.starts_with(scheme)) refuse(url);
    auto const rest = url.substr(scheme.size());
    auto const slash = std::min(rest.find('/'), rest.size());
    auto const place = rest.substr(0, slash);
    auto const end = place.starts_with('[') ? place.find(']') : 0;
    if (end == std::string_view::npos) refuse(url);
    auto const colon = place.find(':', end);
    host = place.substr(0, colon);
    if (colon != std::string_view::npos) port = place.substr(colon + 1);
    prefix = rest.substr(slash);
    while (prefix.ends_with('/')) prefix.pop_back();
    if (not is_host(host) || not is_port(port) || not std::ranges::all_of(prefix, is_of_path))
      refuse(url);
  }
  /// As resolvers have it: without brackets.
  [[nodiscard]] auto name() const -> std::string {
    return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  }

 private:
  [[nodiscard]] static auto is_of_path(char one) -> bool {
    return one > ' ' && one < 0x7F && one != '?' && one != '#';
  }
  [[nodiscard]] static auto is_letter_or_digit(char one) -> bool {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9');
  }
  [[nodiscard]] static auto is_host(std::string_view text) -> bool {
    auto others = std::string_view{"-._"};
    if (text.starts_with('[')) {
      if (not text.ends_with(']') || text.size() < 4) return false;
      text = text.substr(1, text.size() - 2);
      others = ":.%";
    }
    return not text.empty() && std::ranges::all_of(text, [&](char one) {
      return is_letter_or_digit(one) || others.find(one) != std::string_view::npos;
    });
  }
  [[nodiscard]] static auto is_port(std::string_view text) -> bool {
    auto number = 0;
    for (auto const one : text) {
      if (one < '0' || one > '9') return false;
      number = std::min(number * 10 + (one - '0'), 65536);
    }
    return number > 0 && number < 65536;
  }
  [[noreturn]] static void refuse(std::string_view url) {
    throw std::invalid_argument("expected http://<host>:<port>, got " + std::string{url});
  }
};

}  // namespace tessera
