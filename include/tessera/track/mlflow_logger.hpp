// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/detail/http.hpp>
#include <tessera/track/detail/numbers.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace tessera {

struct mlflow_options {
  std::string url = "http://127.0.0.1:5000";
  std::chrono::milliseconds timeout{3'000};             ///< of one request
  std::chrono::milliseconds artifact_patience{10'000};  ///< with a server that takes no artifacts
};

/// A run of an MLflow server, by its REST interface: metrics, parameters, tags; pictures and texts
/// as artifacts, where the server takes these itself. One that it refuses, or is too busy for
/// longer than `artifact_patience`, is left out, and a tag of the run says so. The project is the
/// experiment.
///
/// Metrics are sent by flush, and by the thousand. A parameter keeps its first value, as MLflow
/// wants it. Letters that MLflow has in no name become '_', and parts of a path that it refuses are
/// left out; of names that become the same, the later ones get a number.
///
/// Errors  try_again where the server is down or busy; std::runtime_error with its words where it
///         refuses; std::invalid_argument for an address that is not http://<host>:<port>
/// Source  mlflow.org, "REST API": at most 1,000 metrics and 100 parameters or tags a request
class mlflow_logger final : public logger {
 public:
  static constexpr auto most_metrics = std::size_t{1000};
  static constexpr auto most_parameters = std::size_t{100};

  explicit mlflow_logger(mlflow_options options = {})
      : client_(std::move(options.url), options.timeout),
        artifact_patience_(options.artifact_patience) {}

  [[nodiscard]] auto title() const -> std::string override { return "MLflow"; }
  [[nodiscard]] auto run_id() const -> std::string const& { return run_; }

  void begin(run_info const& run) override {
    if (experiment_.empty()) experiment_ = found_experiment(run.project);
    if (run_.empty()) create_run(run);
    send_parameters(run.settings);
  }
  void scalars(moment when, std::span<named_value const> values) override {
    if (metrics_.size() >= most_metrics) flush();
    for (auto const& [name, value] : values)
      metrics_.push_back({{"key", key_of(name)},
                          {"value", number(value)},
                          {"timestamp", detail::milliseconds_of(when.time)},
                          {"step", when.step}});
    last_step_ = std::max(last_step_, when.step);
  }
  void image(moment when, std::string_view name, png_image const& picture) override {
    put_artifact("images/" + key_of(name) + '_' + std::to_string(when.step) + ".png", "image/png",
                 {reinterpret_cast<char const*>(picture.bytes.data()), picture.bytes.size()});
  }
  void text(moment when, std::string_view name, std::string_view words) override {
    put_artifact("texts/" + key_of(name) + '_' + std::to_string(when.step) + ".txt", "text/plain",
                 std::string{words});
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    send_parameters(settings);
    scalars(last_step_, metrics);
  }
  void flush() override {
    while (not metrics_.empty()) {
      auto const n = static_cast<std::ptrdiff_t>(std::min(metrics_.size(), most_metrics));
      post("runs/log-batch",
           {{"run_id", run_}, {"metrics", json::array_t(metrics_.begin(), metrics_.begin() + n)}});
      metrics_.erase(metrics_.begin(), metrics_.begin() + n);
    }
  }
  void finish(run_state state) override {
    flush();
    post("runs/update", {{"run_id", run_},
                         {"status", state == run_state::finished ? "FINISHED"
                                    : state == run_state::failed ? "FAILED"
                                                                 : "KILLED"},
                         {"end_time", detail::milliseconds_of(std::chrono::system_clock::now())}});
  }
  void interrupt() noexcept override { client_.interrupt(); }

 private:
  static constexpr auto patience = std::chrono::seconds{30};  // with what is slow, or done once
  using json = nlohmann::json;
  using verb = boost::beast::http::verb;

  static constexpr auto longest_name = std::size_t{250};

  /// MLflow's names have letters, digits, and "_-. :/"; they are paths that nothing can shorten,
  /// and lead nowhere else.
  [[nodiscard]] static auto safe(std::string_view name, std::size_t most = longest_name)
      -> std::string {
    auto text = std::string{};
    for (name = name.substr(0, most); not name.empty();) {
      auto const part = name.substr(0, name.find('/'));
      name.remove_prefix(std::min(name.size(), part.size() + 1));
      if (part.empty() || part == ".") continue;
      if (not text.empty()) text += '/';
      for (auto const letter :
           part.starts_with("..") ? "__" + std::string{part.substr(2)} : std::string{part})
        text += is_safe(letter) ? letter : '_';
    }
    return text.empty() ? "_" : text;
  }
  [[nodiscard]] static auto is_safe(char letter) -> bool {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view{"_-. :"}.find(letter) != std::string_view::npos;
  }
  /// The name that the run has for another, the same at all times.
  [[nodiscard]] auto key_of(std::string_view name) -> std::string const& {
    auto const [known, is_new] = keys_.try_emplace(std::string{name});
    if (not is_new) return known->second;
    auto key = safe(name);
    for (auto n = std::size_t{2}; not taken_.insert(key).second; ++n) {
      auto const end = '_' + std::to_string(n);
      key = safe(name, longest_name - end.size()).append(end);
    }
    return known->second = key;
  }
  /// As protobuf's JSON has what is no number.
  [[nodiscard]] static auto number(double value) -> json {
    if (std::isfinite(value)) return value;
    return detail::digits_of(value, "NaN", "Infinity");
  }
  /// A parameter or a tag.
  [[nodiscard]] auto pair(std::string const& key, std::string value, std::size_t most) -> json {
    value.resize(std::min(value.size(), most));
    return {{"key", key_of(key)}, {"value", std::move(value)}};
  }

  [[nodiscard]] auto ask(verb how, std::string const& method, json const& body,
                         std::chrono::milliseconds at_least = {}) -> detail::http_answer {
    auto answer = client_.send(how, "/api/2.0/mlflow/" + method,
                               body.dump(-1, ' ', false, json::error_handler_t::replace),
                               "application/json", at_least);
    require_luck(answer, method);
    return answer;
  }
  void require_luck(detail::http_answer const& answer, std::string const& method) const {
    if (answer.status == 429 || answer.status >= 500)
      throw try_again(client_.url() + " answers " + std::to_string(answer.status) + " to " +
                      method);
  }
  auto post(std::string const& method, json const& body, std::chrono::milliseconds at_least = {})
      -> json {
    return checked(ask(verb::post, method, body, at_least), method);
  }
  /// What the server says, where it says it in JSON.
  [[nodiscard]] auto checked(detail::http_answer const& answer, std::string const& method) const
      -> json {
    auto said = json::parse(answer.body, nullptr, false);
    if (answer.status < 300 && said.is_object()) return said;
    auto const why = said.is_object() && said.contains("message") ? said["message"].dump()
                                                                  : answer.body.substr(0, 200);
    throw std::runtime_error(client_.url() + " answers " + std::to_string(answer.status) + " to " +
                             method + ": " + why);
  }
  [[nodiscard]] auto text_at(json const& said, char const* outer, char const* inner) const
      -> std::string {
    auto const at = json::json_pointer(std::string{"/"} + outer + '/' + inner);
    if (said.contains(at) && said[at].is_string()) return said[at];
    throw std::runtime_error(client_.url() + " gives no " + inner + ": it is no MLflow server");
  }

  [[nodiscard]] auto found_experiment(std::string const& name) -> std::string {
    auto const body = json{{"name", name}};
    auto const found =
        ask(verb::get, "experiments/get-by-name?experiment_name=" + escaped(name), {});
    if (found.status != 404)
      return text_at(checked(found, "experiments/get-by-name"), "experiment", "experiment_id");
    auto const made = ask(verb::post, "experiments/create", body);
    if (made.status == 400)  // another run made it meanwhile, or the name is refused
      return text_at(
          checked(ask(verb::get, "experiments/get-by-name?experiment_name=" + escaped(name), {}),
                  "experiments/get-by-name"),
          "experiment", "experiment_id");
    return checked(made, "experiments/create").value("experiment_id", "0");
  }
  void create_run(run_info const& run) {
    auto tags = json::array();
    for (auto const& tag : run.tags) tags.push_back(pair(tag, "true", 5));
    if (not run.group.empty()) tags.push_back(pair("group", run.group, 5000));
    auto const said = post("runs/create",
                           {{"experiment_id", experiment_},
                            {"run_name", run.name},
                            {"start_time", detail::milliseconds_of(run.started)},
                            {"tags", tags}},
                           patience);  // as a second try would make a second run
    run_ = text_at(said["run"], "info", "run_id");
    artifacts_ = text_at(said["run"], "info", "artifact_uri");
  }
  void send_parameters(std::span<named_setting const> settings) {
    auto rows = std::vector<json>{};
    auto names = sent_;
    for (auto const& [name, value] : settings)
      if (names.insert(name).second) rows.push_back(pair(name, detail::text_of(value), 6000));
    for (auto at = rows.begin(); at != rows.end();) {
      auto const n = std::min<std::ptrdiff_t>(rows.end() - at, most_parameters);
      post("runs/log-batch", {{"run_id", run_}, {"params", json::array_t(at, at + n)}});
      at += n;
    }
    sent_ = std::move(names);
  }
  void put_artifact(std::string const& name, char const* type, std::string body) {
    constexpr auto served = std::string_view{"mlflow-artifacts:/"};
    if (not artifacts_.starts_with(served)) return;
    auto const path = "/api/2.0/mlflow-artifacts/artifacts/" + artifacts_.substr(served.size()) +
                      '/' + escaped(name, true);
    auto const answer = client_.send(verb::put, path, std::move(body), type, patience);
    if (answer.status < 300) {
      refused_since_.reset();
      return;
    }
    auto const now = std::chrono::steady_clock::now();
    if (not refused_since_) refused_since_ = now;
    if (now - *refused_since_ < artifact_patience_) require_luck(answer, "mlflow-artifacts");
    // Metrics are worth more than what this server does not take: it is told in the run.
    post("runs/set-tag", {{"run_id", run_},
                          {"key", "artifacts"},
                          {"value", safe(name) + " is missing: the server answers " +
                                        std::to_string(answer.status)}});
  }
  /// Percent signs for all but letters and digits.
  [[nodiscard]] static auto escaped(std::string_view text, bool keeps_slashes = false)
      -> std::string {
    auto result = std::string{};
    for (auto const letter : text) {
      auto const byte = static_cast<unsigned char>(letter);
      if (std::isalnum(byte) != 0 || letter == '-' || letter == '_' || letter == '.' ||
          (keeps_slashes && letter == '/')) {
        result += letter;
      } else {
        constexpr auto digits = std::string_view{"0123456789ABCDEF"};
        result += {'%', digits[byte / 16U], digits[byte % 16U]};
      }
    }
    return result;
  }

  detail::http_client client_;
  std::string experiment_;
  std::string run_;
  std::string artifacts_;
  std::chrono::milliseconds artifact_patience_;
  std::optional<std::chrono::steady_clock::time_point>
      refused_since_;  // artifacts, without a break
  std::set<std::string> sent_;
  std::map<std::string, std::string, std::less<>> keys_;
  std::set<std::string> taken_;
  std::vector<json> metrics_;
  std::uint64_t last_step_ = 0;
};

}  // namespace tessera
