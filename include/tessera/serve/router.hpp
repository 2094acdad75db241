// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/http.hpp>

#include <map>
#include <span>

namespace tessera {

/// What stands in a path where its pattern has names.
using path_parameters = std::map<std::string, std::string, std::less<>>;

namespace detail {

[[nodiscard]] inline auto path_parts(std::string_view path) -> std::vector<std::string_view> {
  auto parts = std::vector<std::string_view>{};
  while (path.starts_with('/')) path.remove_prefix(1);
  while (not path.empty()) {
    auto const end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}
[[nodiscard]] inline auto hex_digit(char c) -> int {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
/// Errors  http_error 400 for a % without two hexadecimal digits, and for a NUL
[[nodiscard]] inline auto percent_decoded(std::string_view text) -> std::string {
  auto result = std::string{};
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    auto const high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    auto const low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0 || high * 16 + low == 0)
      throw http_error(400, "the path has a % that is not followed by two hexadecimal digits");
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

}  // namespace detail

/// Which handler a request is for, by its method and path.
///
///     routes.on("POST", "/v2/models/{model}/infer", [](auto const& exchange, auto const& path) {
///       exchange->answer({.body = path.at("model")});
///     });
///
/// A name in braces stands for one part of a path, decoded; at the end with dots, {name...}, for
/// the rest of it, one part at least. HEAD is answered as GET is.
///
/// Errors  http_error 404 for a path that no pattern has, 405 with Allow where one has it for
///         another method, 400 for a part that cannot be decoded
class router {
 public:
  using handler =
      std::function<void(std::shared_ptr<http_exchange> const&, path_parameters const&)>;

  void on(std::string method, std::string pattern, handler answer) {
    routes_.push_back({std::move(method), std::move(pattern), {}, std::move(answer)});
    for (auto const part : detail::path_parts(routes_.back().pattern))
      routes_.back().parts.emplace_back(part);
  }
  /// A handler that answers at once.
  void get(std::string pattern, std::function<http_response(path_parameters const&)> answer) {
    on("GET", std::move(pattern),
       [answer = std::move(answer)](auto const& exchange, auto const& path) {
         exchange->answer(answer(path));
       });
  }

  void operator()(std::shared_ptr<http_exchange> const& exchange) const {
    auto const& request = exchange->request();
    auto const parts = detail::path_parts(request.path);
    auto const method = request.method == "HEAD" ? std::string_view{"GET"} : request.method;
    auto allowed = std::string{};
    for (auto const& one : routes_) {
      if (not fits(one, parts)) continue;
      exchange->route = one.pattern;
      if (one.method == method) {
        one.answer(exchange, parameters(one, parts));
        return;
      }
      allowed += (allowed.empty() ? "" : ", ") + one.method;
    }
    if (not allowed.empty())
      throw http_error(405, "expected " + allowed + ", got " + request.method.substr(0, 20),
                       {{"Allow", allowed}});
    throw http_error(404, "there is no " + request.path.substr(0, 100));
  }

 private:
  struct route {
    std::string method;
    std::string pattern;
    std::vector<std::string> parts;
    handler answer;
  };
  [[nodiscard]] static auto is_name(std::string_view part) -> bool { return part.starts_with('{'); }
  [[nodiscard]] static auto is_rest(std::string_view part) -> bool {
    return is_name(part) && part.ends_with("...}");
  }
  [[nodiscard]] static auto fits(route const& one, std::vector<std::string_view> const& parts)
      -> bool {
    auto given = std::span{parts};
    if (not one.parts.empty() && is_rest(one.parts.back()))
      given = given.first(std::min(one.parts.size(), given.size()));
    return std::ranges::equal(
        one.parts, given, [](auto const& want, auto got) { return is_name(want) || want == got; });
  }
  [[nodiscard]] static auto parameters(route const& one, std::vector<std::string_view> const& parts)
      -> path_parameters {
    auto result = path_parameters{};
    for (auto i = std::size_t{0}; i < one.parts.size(); ++i) {
      auto const& part = one.parts[i];
      if (not is_name(part)) continue;
      auto& value = result[part.substr(1, part.size() - (is_rest(part) ? 5 : 2))];
      value = detail::percent_decoded(parts[i]);
      if (not is_rest(part)) continue;
      for (auto const more : std::span{parts}.subspan(i + 1))
        value += '/' + detail::percent_decoded(more);
    }
    return result;
  }

  std::vector<route> routes_;
};

}  // namespace tessera
