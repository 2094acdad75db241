// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/repository.hpp>
#include <tessera/serve/router.hpp>

namespace tessera {

namespace detail {

/// The object that a request to the repository may bring, or an empty one.
[[nodiscard]] inline auto repository_request(std::string const& body) -> nlohmann::json {
  if (body.empty()) return nlohmann::json::object();
  auto value = json_of_body(body);
  if (value.is_object()) return value;
  throw http_error(400,
                   "expected an object as the body, if any, got " + value.dump().substr(0, 60));
}
/// Whether only what is ready is to be listed.
[[nodiscard]] inline auto asks_for_ready(std::string const& body) -> bool {
  auto const request = repository_request(body);
  auto const found = request.find("ready");
  if (found == request.end()) return false;
  if (found->is_boolean()) return found->get<bool>();
  throw http_error(400, "expected true or false as ready, got " + found->dump().substr(0, 60));
}
inline void refuse_parameters(std::string const& body) {
  auto const request = repository_request(body);
  auto const found = request.find("parameters");
  if (found == request.end() || found->empty()) return;
  throw http_error(400, "expected no parameters, as a model is loaded as its files say, got " +
                            found->dump().substr(0, 60));
}

}  // namespace detail

/// Triton's model repository extension, and the traffic between versions:
///
///     POST v2/repository/index {"ready": true} for those that are, all without
///     POST v2/repository/models/{m}/load, .../unload
///     GET, POST v2/repository/models/{m}/traffic {"weights": {"1": 90, "2": 10}}
///
/// Who may ask this may stop a model: give the server a token where others reach it.
///
/// Errors  400 with the reason where a version cannot be loaded, and for parameters of a load (a
///         config or files in place of the repository's), 404 for no such model; the
///         repository must outlive the router
inline void add_repository(router& to, model_repository& models, model_table& table) {
  // Files are read on the repository's thread.
  auto const later = [&models](std::shared_ptr<http_exchange> const& exchange,
                               std::function<http_response()> task) {
    models.later([exchange, task = std::move(task)] {
      try {
        exchange->answer(task());
      } catch (http_error const& e) {
        exchange->answer({.status = e.status, .body = error_body(e.status, e.what())});
      } catch (std::exception const& e) {
        exchange->answer({.status = 500, .body = error_body(500, e.what())});
      }
    });
  };
  to.on("POST", "/v2/repository/index", [&models, later](auto const& exchange, auto const&) {
    later(exchange, [&models, exchange]() -> http_response {
      auto const only_ready = detail::asks_for_ready(exchange->request().body);
      auto list = nlohmann::json::array();
      for (auto const& [name, version, state, reason] : models.index())
        if (not only_ready || state == "READY")
          list.push_back(
              {{"name", name}, {"version", version}, {"state", state}, {"reason", reason}});
      return {.body = list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
    });
  });
  to.on("POST", "/v2/repository/models/{model}/load",
        [&models, later](auto const& exchange, auto const& path) {
          later(exchange, [&models, exchange, name = path.at("model")]() -> http_response {
            detail::refuse_parameters(exchange->request().body);
            models.load(name);
            return {.body = "{}"};
          });
        });
  to.on("POST", "/v2/repository/models/{model}/unload",
        [&models, later](auto const& exchange, auto const& path) {
          later(exchange, [&models, name = path.at("model")]() -> http_response {
            models.unload(name);
            return {.body = "{}"};
          });
        });
  to.get("/v2/repository/models/{model}/traffic", [&table](auto const& path) -> http_response {
    return {.body = nlohmann::json{{"weights", table.weights(path.at("model"))}}.dump()};
  });
  to.on("POST", "/v2/repository/models/{model}/traffic",
        [&models, later](auto const& exchange, auto const& path) {
          later(exchange, [&models, exchange, name = path.at("model")]() -> http_response {
            auto const body = json_of_body(exchange->request().body);
            try {
              if (not body.is_object() || not body.contains("weights"))
                throw detail::config_error("traffic: expected an object with weights");
              models.set_weights(name, detail::weights_of_json(body));
            } catch (detail::config_error const& e) {
              throw http_error(400, e.what());
            }
            return {.body = "{}"};
          });
        });
}

}  // namespace tessera
