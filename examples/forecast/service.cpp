// SPDX-License-Identifier: MIT
#include "service.hpp"

#include <tessera/serve/http_server.hpp>
#include <tessera/serve/kserve.hpp>
#include <tessera/serve/kserve_repository.hpp>
#include <tessera/serve/process_metrics.hpp>

#include <cstdio>

#include "drift_monitor.hpp"
#include "prediction.hpp"

namespace forecast {

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using json = nlohmann::ordered_json;

[[nodiscard]] auto field(nlohmann::json const& row, std::size_t number, char const* name)
    -> nlohmann::json const& {
  auto const found = row.find(name);
  if (found == row.end())
    throw http_error(400, "row " + std::to_string(number) + " of prices: expected " + name);
  return *found;
}
[[nodiscard]] auto number_in(nlohmann::json const& row, std::size_t number, char const* name)
    -> double {
  auto const& value = field(row, number, name);
  if (not value.is_number())
    throw http_error(400, "row " + std::to_string(number) + " of prices: expected a number as " +
                              name + ", got " + shortened(value.dump()));
  return value.get<double>();
}
/// Errors  http_error 400 with the row and what is wrong with it
[[nodiscard]] auto prices_of(nlohmann::json const& body) -> price_table {
  if (not body.is_object() || not body.contains("prices") || not body["prices"].is_array())
    throw http_error(400, "expected an object with a list of prices");
  auto prices = price_table{};
  for (auto const& row : body["prices"]) {
    auto const number = prices.size() + 1;
    if (not row.is_object())
      throw http_error(400, "row " + std::to_string(number) + " of prices: expected an object");
    auto const& date = field(row, number, "date");
    if (not date.is_string())
      throw http_error(400,
                       "row " + std::to_string(number) + " of prices: expected a text as date");
    prices.dates.push_back(date.get<std::string>());
    prices.open.push_back(number_in(row, number, "open"));
    prices.high.push_back(number_in(row, number, "high"));
    prices.low.push_back(number_in(row, number, "low"));
    prices.close.push_back(number_in(row, number, "close"));
    prices.volume.push_back(number_in(row, number, "volume"));
  }
  try {
    check_prices(prices, "prices");
  } catch (price_error const& e) {
    throw http_error(400, e.what());
  }
  return prices;
}
[[nodiscard]] auto text_in(nlohmann::json const& body, char const* name) -> std::string {
  auto const found = body.find(name);
  if (found == body.end()) return "";
  if (not found->is_string()) throw http_error(400, std::string{"expected a text as "} + name);
  return found->get<std::string>();
}

/// Answers to several requests, sent when the last is there.
class gathering {
 public:
  gathering(std::shared_ptr<http_exchange> to, std::size_t count, bool is_list)
      : to_(std::move(to)), answers_(count), left_(count), is_list_(is_list) {}
  void put(std::size_t i, http_response one) {
    {
      auto const lock = std::scoped_lock{mutex_};
      answers_[i] = std::move(one);
      if (--left_ > 0) return;
    }
    for (auto const& each : answers_)
      if (each.status != 200) return to_->answer(each);
    if (not is_list_) return to_->answer(answers_[0]);
    auto body = std::string{"{\"predictions\":["};
    for (auto const& each : answers_) body += (body.back() == '[' ? "" : ",") + each.body;
    to_->answer({.body = body + "]}"});
  }

 private:
  std::shared_ptr<http_exchange> to_;
  std::mutex mutex_;
  std::vector<http_response> answers_;
  std::size_t left_;
  bool is_list_;
};

class service {
 public:
  explicit service(service_settings const& s)
      : settings_(s),
        models_(s.repository, {{"forecast", [this](model_files const& f) { return make(f); }}},
                table_, counted_) {
    models_.refresh();
    for (auto const& one : models_.index())
      std::printf("%s version %s: %s %s\n", one.name.c_str(), one.version.c_str(),
                  one.state.c_str(), one.reason.c_str());
    if (table_.names().empty())
      throw usage_error(s.repository + ": has no model that can be served");
    models_.poll_every(std::chrono::milliseconds{static_cast<std::int64_t>(s.poll_seconds * 1000)});
    add_process_metrics(counted_);
    add_metrics(routes_, counted_);
    add_kserve(routes_, table_,
               {.server_name = "forecast", .ready = [this] { return ready_.load(); }});
    add_repository(routes_, models_, table_);
    add_own();
  }
  [[nodiscard]] auto run() -> int {
    auto options = http_options{.address = settings_.host,
                                .port = static_cast<std::uint16_t>(settings_.port),
                                .threads = settings_.threads,
                                .requests = settings_.requests,
                                .open_paths = {"/health", "/ready", "/live"},
                                .observe = count_requests(counted_)};
    if (not settings_.token_file.empty()) options.token = token_of(settings_.token_file);
    auto server =
        http_server(std::move(options), [this](auto const& exchange) { routes_(exchange); });
    auto const guard = interrupt_guard{};  // who reads that it listens may end it at once
    std::printf("listening on http://%s\n", http_place(settings_.host, server.port()).c_str());
    (void)std::fflush(stdout);
    auto const all = server.run_until_signal([this] { ready_ = false; });
    std::printf(all ? "all requests were answered\n" : "some requests were cut off\n");
    return all ? 0 : 1;
  }

 private:
  [[nodiscard]] static auto token_of(fs::path const& file) -> std::string {
    auto token = read_text(file);
    while (not token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    if (token.empty()) throw usage_error(file.string() + ": expected a token, got nothing");
    return token;
  }
  [[nodiscard]] auto make(model_files const& files) -> std::shared_ptr<served_model const> {
    return std::make_shared<served_version_model>(
        load_model(files.folder), counted_,
        metric_labels{{"model", files.name}, {"version", files.version}});
  }
  [[nodiscard]] static auto version_of(deployment const& one) -> served_version_model const& {
    return dynamic_cast<served_version_model const&>(*one.model);
  }
  void add_own() {
    for (auto const* path : {"/health", "/live"})
      routes_.get(path, [](auto const&) { return http_response{.body = R"({"status":"ok"})"}; });
    routes_.get("/ready", [this](auto const&) -> http_response {
      if (not ready_) throw http_error(503, "the server is not ready");
      return {.body = R"({"status":"ready"})"};
    });
    routes_.get("/features/schema", [this](auto const&) { return schema(); });
    routes_.get("/model/info", [this](auto const&) { return info(); });
    routes_.on("POST", "/predict", [this](auto const& exchange, auto const&) {
      auto const body = json_of_body(exchange->request().body);
      predict(body, std::make_shared<gathering>(exchange, 1, false), 0);
    });
    routes_.on("POST", "/predict/batch", [this](auto const& exchange, auto const&) {
      auto const body = json_of_body(exchange->request().body);
      if (not body.is_object() || not body.contains("requests") || not body["requests"].is_array())
        throw http_error(400, "expected an object with a list of requests");
      auto const& all = body["requests"];
      if (all.empty() || all.size() > 100)
        throw http_error(400, "expected 1 to 100 requests, got " + std::to_string(all.size()));
      auto const to = std::make_shared<gathering>(exchange, all.size(), true);
      for (auto i = std::size_t{0}; i < all.size(); ++i) try {
          predict(all[i], to, i);
        } catch (http_error const& e) {
          to->put(i, {.status = e.status,
                      .body = error_body(e.status,
                                         "request " + std::to_string(i + 1) + ": " + e.what()),
                      .headers = e.headers});
        }
    });
  }
  /// The first model where none is asked for.
  void predict(nlohmann::json const& body, std::shared_ptr<gathering> const& to, std::size_t i) {
    auto const prices = prices_of(body);
    auto const asked = text_in(body, "target");
    auto const names = table_.names();
    if (asked.empty() && names.empty()) throw http_error(503, "no model is served");
    auto const name = asked.empty() ? names.front() : asked;
    for (auto tries = 0; tries < 8; ++tries) {
      auto const chosen = table_.choose(name, text_in(body, "user"), {});
      if (submit(chosen, prices, to, i)) return;
    }
    throw http_error(503, "the model is being replaced", {{"Retry-After", "1"}});
  }
  [[nodiscard]] static auto submit(model_table::entry const& chosen, price_table const& prices,
                                   std::shared_ptr<gathering> const& to, std::size_t i) -> bool {
    auto const& d = version_of(*chosen).description;
    auto inputs = std::vector<served_tensor>{};
    try {
      auto rows = last_features(d, prices);
      version_of(*chosen).tell_date(rows, prices.dates.back());
      inputs.push_back(
          {"features",
           {1, static_cast<std::int64_t>(d.look_back), static_cast<std::int64_t>(feature_count)},
           std::move(rows)});
    } catch (price_error const& e) {
      throw http_error(400, e.what());
    }
    return chosen->submit(
        {.inputs = std::move(inputs),
         .done =
             [chosen, to, i, day = prices.dates.back()](inference_result const& result) {
               to->put(i, answer_of(*chosen, day, result));
             }},
        {});
  }
  [[nodiscard]] static auto answer_of(deployment const& one, std::string const& day,
                                      inference_result const& result) -> http_response {
    if (not result.error.empty())
      return {.status = 500, .body = error_body(500, one.name + ": " + result.error)};
    auto const y = std::get<std::vector<double>>(result.outputs[0].values)[0];
    auto const p = with_intervals(version_of(one).description, day, y);
    if (not is_finite(p)) {
      auto const why = "expected prices that can be forecast, got a forecast of " +
                       std::to_string(y) + " or intervals that are not finite";
      return {.status = 400, .body = error_body(400, why)};
    }
    auto body = json{{"model", one.name}, {"version", one.version}};
    body.update(to_json(p));
    return {.body = body.dump(), .headers = {{"X-Model-Version", one.version}}};
  }
  [[nodiscard]] auto schema() const -> http_response {
    auto body = json{{"columns", {"date", "open", "high", "low", "close", "volume"}},
                     {"features", feature_names}};
    for (auto const& name : table_.names()) {
      auto const& d = version_of(*table_.choose(name, {}, {})).description;
      body["least_rows"][name] = d.look_back + warm_up;
    }
    return {.body = body.dump()};
  }
  [[nodiscard]] auto info() const -> http_response {
    auto body = json::array();
    for (auto const& name : table_.names())
      for (auto const& version : table_.versions(name)) {
        auto const& d = version_of(*table_.find(name, version)).description;
        body.push_back({{"model", name},
                        {"version", version},
                        {"kind", d.choice.kind},
                        {"hidden", d.choice.hidden},
                        {"target", name_of(d.kind)},
                        {"horizon", d.horizon},
                        {"look_back", d.look_back},
                        {"trained_from", d.learned.begin},
                        {"trained_until", d.learned.end}});
      }
    return {.body = json{{"models", body}}.dump()};
  }

  service_settings settings_;
  metrics counted_;
  model_table table_;
  router routes_;
  std::atomic<bool> ready_ = true;
  model_repository models_;
};

}  // namespace

auto serve(service_settings const& s) -> int {
  check_ranges(s);
  if (s.repository.empty()) throw usage_error("--repository: expected a folder, got nothing");
  return service(s).run();
}

}  // namespace forecast
