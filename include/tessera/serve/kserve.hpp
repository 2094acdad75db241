// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/http_metrics.hpp>
#include <tessera/serve/kserve_message.hpp>
#include <tessera/serve/models.hpp>

namespace tessera {

struct kserve_options {
  std::string server_name = "tessera";
  std::string server_version = "1";
  std::function<bool()> ready = [] { return true; };  ///< false while the server ends
};

namespace detail {

[[nodiscard]] inline auto json_of_specs(std::vector<tensor_spec> const& specs) -> json {
  auto list = json::array();
  for (auto const& one : specs)
    list.push_back({{"name", one.name}, {"datatype", name_of(one.type)}, {"shape", one.shape}});
  return list;
}
[[nodiscard]] inline auto json_of_model(model_table const& models, deployment const& one) -> json {
  return {{"name", one.name},
          {"versions", models.versions(one.name)},
          {"platform", "tessera"},
          {"inputs", json_of_specs(one.model->inputs())},
          {"outputs", json_of_specs(one.model->outputs())}};
}

/// What a request keeps until its answer.
struct pending_inference {
  std::shared_ptr<http_exchange> exchange;
  infer_message message;
  std::shared_ptr<deployment> model = {};

  explicit pending_inference(std::shared_ptr<http_exchange> const& from)
      : exchange(from), message(from->request()) {}

  void finish(inference_result const& result) const {
    try {
      if (not result.error.empty())
        throw http_error(result.refused ? 400 : 500, model->name + ": " + result.error);
      answer(message.answer(*model, result.outputs));
    } catch (http_error const& e) {
      answer({.status = e.status, .body = error_body(e.status, e.what()), .headers = e.headers});
    }
  }
  void answer(http_response response) const {
    model->count(response.status);
    response.headers.push_back({"X-Model-Version", model->version});
    exchange->answer(std::move(response));
  }
};

/// A version that is withdrawn while it is asked is not the last word: the next is asked.
inline void infer(model_table const& models, std::shared_ptr<http_exchange> const& exchange,
                  path_parameters const& path) {
  auto const request = std::make_shared<pending_inference>(exchange);
  auto const& message = request->message;
  auto const version = path.find("version");
  for (auto tries = 0; tries < 8; ++tries) {
    auto const model = version != path.end()
                           ? models.find(path.at("model"), version->second, message.sequence)
                           : models.choose(path.at("model"), message.user, message.sequence);
    request->model = model;
    try {
      message.check_outputs(*model->model);
      auto [inputs, rows] = message.inputs(*model);
      if (auto const why = model->model->objection(inputs); not why.empty())
        throw http_error(400, why);
      auto job = inference_job{
          .inputs = std::move(inputs),
          .rows = rows,
          .done = [request](inference_result const& result) { request->finish(result); },
          .wanted = [exchange] { return exchange->wanted(); }};
      if (model->submit(std::move(job), message.sequence)) return;
    } catch (http_error const& e) {
      model->count(e.status);
      throw;
    }
  }
  throw http_error(503, "the model is being replaced", {{"Retry-After", "1"}});
}

}  // namespace detail

/// KServe's protocol v2 (Open Inference Protocol) with Triton's sequences and binary tensors:
///
///     GET  v2, v2/health/live, v2/health/ready, v2/models/{m}[/versions/{v}][/ready]
///     POST v2/models/{m}[/versions/{v}]/infer
///
/// `parameters.user` and `parameters.sequence_id` choose among versions as models.hpp says; the
/// header X-Model-Version of an answer is the one that was asked.
///
/// Errors  {"error": "..."} with 400 for what does not fit the model and for a sequence that is not
///         open or has lost a request, 404 for no such model or version, 429 where too many wait;
///         the table must outlive the router
/// Source  KServe's Open Inference Protocol; Triton's sequence and binary tensor extensions
inline void add_kserve(router& to, model_table& models, kserve_options options = {}) {
  using detail::json;
  auto const server =
      json{{"name", options.server_name},
           {"version", options.server_version},
           {"extensions",
            {"sequence", "sequence(string_id)", "binary_tensor_data", "model_repository"}}}
          .dump();
  to.get("/v2", [server](auto const&) { return http_response{.body = server}; });
  to.get("/v2/health/live", [](auto const&) { return http_response{.body = R"({"live":true})"}; });
  to.get("/v2/health/ready", [ready = options.ready](auto const&) {
    if (not ready()) throw http_error(503, "the server is not ready");
    return http_response{.body = R"({"ready":true})"};
  });
  auto const find = [&models](path_parameters const& path) {
    auto const version = path.find("version");
    return version == path.end() ? models.choose(path.at("model"), {}, {})
                                 : models.find(path.at("model"), version->second);
  };
  for (auto const* const place : {"/v2/models/{model}", "/v2/models/{model}/versions/{version}"}) {
    to.get(place, [&models, find](auto const& path) {
      return http_response{.body = detail::json_of_model(models, *find(path)).dump()};
    });
    to.get(std::string{place} + "/ready", [find](auto const& path) {
      return http_response{.body = json{{"name", find(path)->name}, {"ready", true}}.dump()};
    });
    to.on("POST", std::string{place} + "/infer", [&models](auto const& exchange, auto const& path) {
      detail::infer(models, exchange, path);
    });
  }
}

}  // namespace tessera
