// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/serve/http_metrics.hpp>
#include <tessera/serve/http_server.hpp>
#include <tessera/serve/openai.hpp>
#include <tessera/serve/process_metrics.hpp>

#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "model_options.hpp"
#include "sentences.hpp"

namespace agents {

namespace {

using namespace tessera;

struct serve_settings {
  model_options model;
  std::string name;
  std::string sentences;
  std::string host = "127.0.0.1";
  std::uint64_t port = 8000;
  std::string token_file;
  std::string allowed_origin;
  double answer_seconds = 600;
};

/// What an engine has done, for those who scrape it, as long as it is there: what counts lives
/// longer.
void add_engine_metrics(metrics& to, std::shared_ptr<engine> const& runs) {
  auto const gauge = [&](char const* name, char const* help, auto const& value) {
    to.ask(name, help, "gauge", [held = std::weak_ptr(runs), value] {
      auto const engine = held.lock();
      return engine ? static_cast<double>(value(engine->counts())) : 0;
    });
  };
  gauge("generation_active_sequences", "Lanes with a sequence.",
        [](engine_counts const& c) { return c.active; });
  gauge("generation_waiting_sequences", "Requests without a lane.",
        [](engine_counts const& c) { return c.waiting; });
  gauge("generation_cached_tokens", "Tokens in the caches of active lanes.",
        [](engine_counts const& c) { return c.held; });
}
[[nodiscard]] auto header_text() -> CLI::Validator {
  return {[](std::string& text) {
            auto const fine = [](char one) { return one > ' ' && one < 0x7F; };
            return std::ranges::all_of(text, fine) ? std::string{}
                                                   : std::string{"expected letters of a URL"};
          },
          ""};
}
[[nodiscard]] auto serve(serve_settings const& s) -> int {
  auto counted = metrics{};
  auto options = openai_options{.models = {}, .counted = &counted};
  check_range("answer_seconds", s.answer_seconds, 1, 86400);
  auto const model = open_model(s.model.path, s.model.how);
  auto const name = s.name.empty() ? model.name : s.name;
  options.models[name] = std::make_shared<engine_service>(model.runs, model.texts);
  if (not s.sentences.empty()) {
    auto const vectors = service_of_sentences(std::make_shared<sentences>(s.sentences));
    auto const folder = (std::filesystem::path(s.sentences) / "").lexically_normal().parent_path();
    if (not options.models.emplace(folder.filename().string(), vectors).second)
      throw usage_error("--embeddings: the name " + folder.filename().string() +
                        " is the other model's");
  }
  auto routes = router{};
  add_process_metrics(counted);
  add_engine_metrics(counted, model.runs);
  add_metrics(routes, counted);
  routes.get("/health", [](auto const&) { return http_response{.body = "{\"status\":\"ok\"}"}; });
  add_openai(routes, options);
  auto http = http_options{
      .address = s.host,
      .port = static_cast<std::uint16_t>(s.port),
      .request_timeout =
          std::chrono::milliseconds{static_cast<std::int64_t>(s.answer_seconds * 1000)},
      .open_paths = {"/health"},
      .allowed_origin = s.allowed_origin,
      .error_body = openai_error_body,
      .observe = count_requests(counted)};
  if (not s.token_file.empty()) {
    http.token = read_text(s.token_file);
    while (not http.token.empty() && (http.token.back() == '\n' || http.token.back() == '\r'))
      http.token.pop_back();
    if (http.token.empty()) throw file_error(s.token_file, "expected a token, got nothing");
  }
  auto server = http_server(std::move(http), [&](auto const& exchange) { routes(exchange); });
  auto const guard = interrupt_guard{};  // who reads that it listens may end it at once
  for (auto const& [each, service] : options.models) std::printf("model %s\n", each.c_str());
  std::printf("listening on http://%s/v1\n", http_place(s.host, server.port()).c_str());
  (void)std::fflush(stdout);
  (void)server.run_until_signal({}, [&] { model.runs->cancel(); });
  return 0;
}

}  // namespace

auto add_serve(CLI::App& program) -> command {
  auto* const app = program.add_subcommand("serve", "answer OpenAI's clients");
  auto const s = std::make_shared<serve_settings>();
  s->model.add_to(*app);
  app->add_option("--name", s->name, "that clients ask for; the file's own if not said")
      ->check(utf8_text());
  app->add_option("--embeddings", s->sentences, "a folder of bert, for /v1/embeddings");
  app->add_option("--host", s->host, "an address or a name to listen on")->capture_default_str();
  app->add_option("--port", s->port, "0: one that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  app->add_option("--queue", s->model.how.queue, "requests that wait; more are answered 429")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  add_option(*app, "answer_seconds", s->answer_seconds, "the longest time for an answer");
  app->add_option("--allow-origin", s->allowed_origin,
                  "of web pages whose scripts may ask, as http://host:port; *: of all")
      ->check(header_text());
  app->add_option("--token-file", s->token_file, "a secret that clients have to send");
  return {app, [s] { return serve(*s); }};
}

}  // namespace agents
