// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/serve/http.hpp>

#include <nlohmann/json.hpp>

namespace tessera {

struct json_limits {
  std::size_t depth = 16;
  std::size_t values = std::size_t{1} << 20U;  ///< each takes many times its place in the text
};

/// The JSON of a request: what is no JSON, is too deep or has too many values costs little, and is
/// refused before it is built.
///
/// Errors  http_error 400
[[nodiscard]] inline auto json_of_body(std::string_view text, json_limits limits = {})
    -> nlohmann::json {
  auto values = std::size_t{0};
  detail::for_each_json_mark(text, [&](char letter, std::size_t depth) {
    if (letter != ']' && letter != '}') ++values;
    if (depth > limits.depth)
      throw http_error(
          400, "expected JSON of at most " + std::to_string(limits.depth) + " levels, got more");
    if (values > limits.values)
      throw http_error(
          400, "expected JSON of at most " + std::to_string(limits.values) + " values, got more");
    return true;
  });
  try {
    return nlohmann::json::parse(text);
  } catch (nlohmann::json::parse_error const& e) {
    throw http_error(400, "expected JSON; byte " + std::to_string(e.byte) + " of " +
                              std::to_string(text.size()) + " fits none");
  } catch (nlohmann::json::exception const&) {
    throw http_error(400, "expected JSON, got a number that is too large");
  }
}

}  // namespace tessera
