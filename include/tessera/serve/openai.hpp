// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/detail/openai_generation.hpp>
#include <tessera/serve/router.hpp>

namespace tessera::inline TESSERA_TARGET {

struct openai_options {
  /// By the names that clients ask for.
  std::map<std::string, std::shared_ptr<text_service>, std::less<>> models;
  std::size_t most_choices = 16;  ///< of one request: n, times the prompts
  std::size_t most_texts = 2048;  ///< to embed in one request
  std::string owned_by = "tessera";
  metrics* counted = nullptr;  ///< tokens and times, unless null; outlives the services' threads
};

/// The body of errors that the server itself answers: pass it as http_options.error_body.
[[nodiscard]] inline auto openai_error_body(unsigned status, std::string const& message)
    -> std::string {
  return detail::dumped(detail::json_of_error(detail::openai_error(status, message)));
}

}  // namespace tessera::inline TESSERA_TARGET

namespace tessera::detail::inline TESSERA_TARGET {

struct openai_server {
  openai_options options;
  std::int64_t created = seconds_of_now();
  std::atomic<std::uint64_t> next = 0;

  explicit openai_server(openai_options o) : options(std::move(o)) {}

  [[nodiscard]] auto model(std::string const& name) const -> text_service& {
    auto const found = options.models.find(name);
    if (found == options.models.end())
      throw openai_error(404, "The model '" + name.substr(0, 100) + "' does not exist", "model",
                         "model_not_found");
    return *found->second;
  }
  [[nodiscard]] auto json_of_model(std::string const& name) const -> json {
    return {
        {"id", name}, {"object", "model"}, {"created", created}, {"owned_by", options.owned_by}};
  }
  /// Clients tell answers apart by it.
  [[nodiscard]] auto id(char const* kind) -> std::string {
    return kind + std::to_string(created) + "-" + std::to_string(next++);
  }

  void generate(std::shared_ptr<http_exchange> const& exchange, bool chat) {
    auto const& body = exchange->request().body;
    auto asked = read_text_request(json_of_body(body), chat,
                                   static_cast<std::int64_t>(options.most_choices));
    auto& service = model(asked.model);
    if (not service.generates())
      throw openai_error(400, "The model '" + asked.model + "' generates no text", "model");
    auto head = openai_head{id(chat ? "chatcmpl-" : "cmpl-"), seconds_of_now(), asked.model, chat};
    std::make_shared<openai_generation>(exchange, std::move(asked), std::move(head),
                                        options.counted)
        ->start(service);
  }
  void embed(std::shared_ptr<http_exchange> const& exchange) const {
    auto const body = json_of_body(exchange->request().body);
    auto const fields = openai_fields(body);
    auto const name = fields.text("model");
    auto& service = model(name);
    if (not service.embeds())
      throw openai_error(400, "The model '" + name + "' has no embeddings", "model");
    auto given = fields.texts_or_tokens("input", options.most_texts);
    fields.refuse_features({"dimensions"});
    auto const format = fields.find("encoding_format") == nullptr ? std::string{"float"}
                                                                  : fields.text("encoding_format");
    if (format != "float" && format != "base64")
      openai_fields::refuse("encoding_format", "float or base64", json(format));
    auto request = embedding_request{.texts = std::move(given.texts),
                                     .tokens = std::move(given.tokens),
                                     .wanted = [exchange] { return exchange->wanted(); }};
    try {
      refuse_unless_admitted(service.embed(
          std::move(request), [exchange, name, format](embedding_result const& result) {
            answer_embedding(*exchange, name, format == "base64", result);
          }));
    } catch (context_error const& e) {
      throw beyond_context(e, 0, "input");
    } catch (std::invalid_argument const& e) {
      throw openai_error(400, e.what(), "input");
    }
  }
  static void answer_embedding(http_exchange& exchange, std::string const& name, bool in_base64,
                               embedding_result const& result) {
    if (not result.error.empty()) {
      answer_error(exchange, result.closed ? openai_error(503, "The server ends")
                                           : openai_error(500, result.error));
      return;
    }
    auto list = json::array();
    for (auto const& one : result.vectors) {
      auto entry = json{{"object", "embedding"}, {"index", list.size()}};
      if (in_base64)
        entry["embedding"] = base64_of(one);
      else
        entry["embedding"] = one;
      list.push_back(std::move(entry));
    }
    exchange.answer(
        {.body = dumped(
             {{"object", "list"},
              {"data", std::move(list)},
              {"model", name},
              {"usage", {{"prompt_tokens", result.tokens}, {"total_tokens", result.tokens}}}})});
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET

namespace tessera::inline TESSERA_TARGET {

/// OpenAI's interface over models of texts:
///
///     GET  v1/models, v1/models/{model}: the name may have slashes
///     POST v1/chat/completions, v1/completions, v1/embeddings
///
/// Answers are whole or streamed as server-sent events; several choices of a request are sequences
/// of their own, whose draws differ. A client that leaves frees what it took.
///
/// Errors  {"error": {message, type, param, code}}: 400 for what cannot be read, by name for what
///         is not supported (tools, response formats, grammars, echo, and any other field that is
///         not known and asks for something), and with the code context_length_exceeded for a
///         prompt beyond the context, 404 for no such model, 429 where the model's queue is full,
///         503 while it ends; in a stream that has begun, as an event
/// Source  OpenAI's API reference; its Python package: tests/serve/openai.cpp says what it asks
inline void add_openai(router& to, openai_options options) {
  auto const server = std::make_shared<detail::openai_server>(std::move(options));
  to.get("/v1/models", [server](auto const&) {
    auto list = nlohmann::json::array();
    for (auto const& [name, service] : server->options.models)
      list.push_back(server->json_of_model(name));
    return http_response{.body = detail::dumped({{"object", "list"}, {"data", std::move(list)}})};
  });
  auto const on = [&to](char const* method, char const* path, auto const& answer) {
    to.on(method, path, [answer](auto const& exchange, auto const& parts) {
      try {
        answer(exchange, parts);
      } catch (detail::openai_error const& e) {
        detail::answer_error(*exchange, e);
      } catch (http_error const& e) {
        detail::answer_error(*exchange, detail::openai_error(e.status, e.what()));
      }
    });
  };
  on("GET", "/v1/models/{model...}", [server](auto const& exchange, auto const& path) {
    auto const& name = path.at("model");
    (void)server->model(name);
    exchange->answer({.body = detail::dumped(server->json_of_model(name))});
  });
  on("POST", "/v1/chat/completions",
     [server](auto const& exchange, auto const&) { server->generate(exchange, true); });
  on("POST", "/v1/completions",
     [server](auto const& exchange, auto const&) { server->generate(exchange, false); });
  on("POST", "/v1/embeddings",
     [server](auto const& exchange, auto const&) { server->embed(exchange); });
}

}  // namespace tessera::inline TESSERA_TARGET
