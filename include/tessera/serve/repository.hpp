// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/told_once.hpp>
#include <tessera/serve/json_body.hpp>
#include <tessera/serve/models.hpp>

#include <set>

/// Models in a folder:
///
///     <name>/config.json                    what every version has; may be missing
///     <name>/traffic.json                   {"weights": {"1": 90, "2": 10}}; may be missing
///     <name>/<version>/model.safetensors
///     <name>/<version>/config.json          what this version has besides; may be missing
///
/// A config says `kind`, which of the compiled models it is (the folder's name where it does not),
/// `batch` {max_batch_size, preferred_batch_size, max_queue_delay_microseconds, max_queue_size,
/// instances}, `sequence` {max_sequences, max_sequence_idle_microseconds}, and what the model's own
/// factory reads.
namespace tessera {

/// What a factory makes a model of.
struct model_files {
  std::string name;
  std::string version;
  std::filesystem::path folder;
  nlohmann::json config;

  [[nodiscard]] auto weights() const -> std::filesystem::path {
    return folder / "model.safetensors";
  }
};
using model_factory = std::function<std::shared_ptr<served_model const>(model_files const&)>;
using model_factories = std::map<std::string, model_factory>;

namespace detail {

/// Refused by a config: `where` is its path.
struct config_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The object in a file of JSON; an empty one where there is no file.
[[nodiscard]] inline auto object_in_file(std::filesystem::path const& path) -> nlohmann::json {
  auto error = std::error_code{};
  if (not std::filesystem::exists(path, error) && not error) return nlohmann::json::object();
  auto const text = read_text(path);
  try {
    auto value = json_of_body(text, {.values = 10'000});
    if (value.is_object()) return value;
  } catch (http_error const& e) {
    throw config_error(path.string() + ": " + e.what());
  }
  throw config_error(path.string() + ": expected an object");
}
/// A whole number of a section, where it is there.
template <class T>
void read_setting(nlohmann::json const& section, char const* key, T& to, std::uint64_t low) {
  auto const found = section.find(key);
  if (found == section.end()) return;
  if (not found->is_number_unsigned() || found->template get<std::uint64_t>() < low ||
      found->template get<std::uint64_t>() > 1'000'000'000'000)
    throw config_error(std::string{"config: expected a whole number from "} + std::to_string(low) +
                       " on as " + key + ", got " + found->dump().substr(0, 60));
  to = T(found->template get<std::int64_t>());
}
[[nodiscard]] inline auto section_of(nlohmann::json const& config, char const* name,
                                     std::set<std::string> const& known) -> nlohmann::json {
  auto const found = config.find(name);
  if (found == config.end()) return nlohmann::json::object();
  if (not found->is_object())
    throw config_error(std::string{"config: expected an object as "} + name);
  for (auto const& [key, value] : found->items())
    if (not known.contains(key))
      throw config_error(std::string{"config: "} + name + " has no \"" + key.substr(0, 60) + '"');
  return *found;
}
[[nodiscard]] inline auto options_of_config(nlohmann::json const& config) -> deployment_options {
  auto result = deployment_options{};
  auto const batch = section_of(config, "batch",
                                {"max_batch_size", "preferred_batch_size",
                                 "max_queue_delay_microseconds", "max_queue_size", "instances"});
  read_setting(batch, "max_batch_size", result.batch.most_rows, 1);
  read_setting(batch, "max_queue_delay_microseconds", result.batch.max_queue_delay, 0);
  read_setting(batch, "max_queue_size", result.batch.queue, 1);
  read_setting(batch, "instances", result.batch.runners, 1);
  if (result.batch.runners > 256) throw config_error("config: expected at most 256 instances");
  if (auto const sizes = batch.find("preferred_batch_size"); sizes != batch.end()) {
    if (not sizes->is_array())
      throw config_error("config: expected a list as preferred_batch_size");
    for (auto const& size : *sizes) {
      auto const one = nlohmann::json{{"preferred_batch_size", size}};
      read_setting(one, "preferred_batch_size", result.batch.preferred_batch_size.emplace_back(),
                   1);
    }
  }
  auto const sequence =
      section_of(config, "sequence", {"max_sequences", "max_sequence_idle_microseconds"});
  read_setting(sequence, "max_sequences", result.sequences.most, 1);
  auto idle = std::chrono::microseconds{result.sequences.idle_timeout};
  read_setting(sequence, "max_sequence_idle_microseconds", idle, 1);
  result.sequences.idle_timeout = std::chrono::ceil<std::chrono::milliseconds>(idle);
  return result;
}
[[nodiscard]] inline auto weights_of_json(nlohmann::json const& traffic) -> version_weights {
  auto result = version_weights{};
  auto const found = traffic.find("weights");
  if (found == traffic.end()) return result;
  if (not found->is_object()) throw config_error("traffic: expected weights as an object");
  auto sum = 0.0;
  for (auto const& [version, weight] : found->items()) {
    if (not weight.is_number() || not(weight.get<double>() >= 0) || weight.get<double>() > 1e9)
      throw config_error("traffic: expected a weight from 0 to 1e9 for version " +
                         version.substr(0, 60));
    sum += result[version] = weight.get<double>();
  }
  if (not result.empty() && not(sum > 0))
    throw config_error("traffic: expected a weight above 0 for some version");
  return result;
}

}  // namespace detail

/// The models of a folder in a table: loaded, loaded again where their files change, withdrawn
/// where they are gone. A version that cannot be loaded leaves the one before at work.
///
/// Cost    `refresh` looks at the times of files; what is loaded is there twice for a while
/// Errors  what is wrong with a version is told by `index`, and thrown by `load`; file_error where
///         a folder cannot be listed: its models, or versions, stay as they are
class model_repository {
 public:
  struct version_report {
    std::string name;
    std::string version;
    std::string state;  ///< READY or UNAVAILABLE, as Triton has it
    std::string reason;
  };

  model_repository(std::filesystem::path root, model_factories factories, model_table& table,
                   metrics& counted)
      : root_(std::move(root)),
        factories_(std::move(factories)),
        table_(table),
        counted_(counted),
        worker_([this] { work(); }) {
    auto error = std::error_code{};
    if (std::filesystem::is_directory(root_, error)) return;
    stop();
    throw file_error(root_, "expected a folder of models");
  }
  model_repository(model_repository const&) = delete;
  auto operator=(model_repository const&) -> model_repository& = delete;
  ~model_repository() { stop(); }

  /// Looks at all files now; what one model's folder has for an error is thrown behind the others.
  void refresh() {
    auto const lock = std::lock_guard{mutex_};
    auto present = std::set<std::string>{};
    auto failed = std::exception_ptr{};
    for (auto const& name : folders_in(root_)) {
      present.insert(name);
      try {
        if (not unloaded_.contains(name)) refresh_model(name);
      } catch (file_error const&) {
        failed = std::current_exception();
      }
    }
    for (auto const& [name, versions] : known_)
      if (not present.contains(name)) withdraw_all(name);
    std::erase_if(known_, [&](auto const& one) { return not present.contains(one.first); });
    table_.sweep();
    if (failed != nullptr) std::rethrow_exception(failed);
  }
  /// Looks at all files every `interval` from now on, on a thread of its own.
  void poll_every(std::chrono::milliseconds interval) {
    later([this, interval] { interval_ = interval; });
  }
  /// Errors  http_error 404 for a model that has no folder, 400 with the reason where no version
  ///         can be loaded
  void load(std::string const& name) {
    auto const lock = std::lock_guard{mutex_};
    require_folder(name);
    unloaded_.erase(name);
    for (auto& [version, one] : known_[name]) one.seen.clear();
    refresh_model(name);
    auto reasons = std::string{};
    for (auto const& [version, one] : known_[name]) {
      if (one.why().empty()) continue;
      reasons += (reasons.empty() ? "" : "; ") + version + ": " + one.why();
    }
    if (not reasons.empty()) throw http_error(400, name + ": version " + reasons);
    if (known_[name].empty()) throw http_error(400, name + ": expected a version, got none");
  }
  /// Until it is loaded by name.
  void unload(std::string const& name) {
    auto const lock = std::lock_guard{mutex_};
    require_folder(name);
    unloaded_.insert(name);
    withdraw_all(name);
    known_.erase(name);
  }
  /// Which versions have which share of the requests, kept in traffic.json: rolling back is a
  /// weight for the version before. No weights: all to the latest.
  void set_weights(std::string const& name, version_weights const& weights) {
    auto const lock = std::lock_guard{mutex_};
    auto const loaded = table_.versions(name);
    auto json = nlohmann::json::object();
    for (auto const& [version, weight] : weights) {
      if (std::ranges::find(loaded, version) == loaded.end())
        throw http_error(400, name + ": there is no version " + version.substr(0, 60));
      json[version] = weight;
    }
    auto const path = root_ / name / "traffic.json";
    auto traffic = nlohmann::json::object();
    try {
      traffic = detail::object_in_file(path);  // others may keep something beside the weights
    } catch (detail::config_error const&) {
      traffic.clear();  // no object: it is replaced
    }
    traffic["weights"] = json;
    write_file(path, traffic.dump() + "\n");
    table_.set_weights(name, weights);
  }
  [[nodiscard]] auto index() const -> std::vector<version_report> {
    auto const lock = std::lock_guard{mutex_};
    auto result = std::vector<version_report>{};
    for (auto const& [name, versions] : known_)
      for (auto const& [version, one] : versions)
        result.push_back({name, version, one.served ? "READY" : "UNAVAILABLE", one.why()});
    return result;
  }
  /// On the repository's own thread: what reads files is nothing for a server's.
  void later(std::function<void()> task) {
    auto const lock = std::lock_guard{tasks_mutex_};
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

 private:
  struct version_files {
    std::string seen;  ///< sizes and times of its files when it was last tried
    std::string reason;
    std::string unseen;  ///< why they could not be looked at
    bool served = false;

    [[nodiscard]] auto why() const -> std::string const& {
      return unseen.empty() ? reason : unseen;
    }
  };

  /// What cannot be looked at (EIO, EACCES) may be there as ever; a link into nothing is not.
  [[nodiscard]] static auto is_missing(std::error_code error) -> bool {
    return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
           error == std::errc::too_many_symbolic_link_levels;
  }
  [[nodiscard]] static auto folders_in(std::filesystem::path const& path)
      -> std::vector<std::string> {
    auto result = std::vector<std::string>{};
    auto error = std::error_code{};
    for (auto one = std::filesystem::directory_iterator(path, error);
         not error && one != std::filesystem::directory_iterator{}; one.increment(error)) {
      auto const name = one->path().filename().string();
      auto unknown = std::error_code{};
      auto const is_folder = one->is_directory(unknown) || (unknown && not is_missing(unknown));
      if (is_folder && not name.starts_with('.')) result.push_back(name);
    }
    if (error && not is_missing(error))
      throw file_error(path, "expected a folder that can be listed: " + error.message());
    return result;
  }
  void require_folder(std::string const& name) const {
    auto const all = folders_in(root_);
    if (std::ranges::find(all, name) == all.end())
      throw http_error(404, "there is no model \"" + name.substr(0, 60) + "\" in the repository");
  }
  [[nodiscard]] static auto is_file(std::filesystem::path const& file) -> bool {
    auto error = std::error_code{};
    auto const is_regular = std::filesystem::is_regular_file(file, error);
    return is_regular || (error && not is_missing(error));
  }
  [[nodiscard]] static auto look_of(std::filesystem::path const& file) -> std::string {
    if (not is_file(file)) return "-";
    auto error = std::error_code{};
    auto const size = std::filesystem::file_size(file, error);
    auto const time =
        error ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(file, error);
    if (error && not is_missing(error))
      throw file_error(file, "expected a file that can be looked at: " + error.message());
    if (error) return "-";
    return std::to_string(size) + '@' + std::to_string(time.time_since_epoch().count()) + ' ';
  }
  void refresh_model(std::string const& name) {
    auto const folder = root_ / name;
    auto const listed = folders_in(folder);
    auto& versions = known_[name];
    auto present = std::set<std::string>{};
    for (auto const& version : listed) {
      if (not is_file(folder / version / "model.safetensors")) continue;  // not there yet
      present.insert(version);
      refresh_version(name, version, versions[version]);
    }
    for (auto& [version, one] : versions)
      if (not present.contains(version)) (void)table_.withdraw(name, version);
    std::erase_if(versions, [&](auto const& one) { return not present.contains(one.first); });
    read_traffic(name);
  }
  void refresh_version(std::string const& name, std::string const& version, version_files& one) {
    auto const folder = root_ / name / version;
    try {
      auto const look = look_of(folder / "model.safetensors") + look_of(folder / "config.json") +
                        look_of(root_ / name / "config.json");
      one.unseen.clear();
      if (std::exchange(one.seen, look) == look) return;
    } catch (...) {
      one.unseen = detail::failure_of("the file system");
      return;
    }
    try {
      auto config = detail::object_in_file(root_ / name / "config.json");
      config.merge_patch(detail::object_in_file(folder / "config.json"));
      auto const kind = config.value("kind", name);
      auto const factory = factories_.find(kind);
      if (factory == factories_.end())
        throw detail::config_error("expected a kind among " + kinds() + ", got " +
                                   kind.substr(0, 60));
      auto const options = detail::options_of_config(config);
      auto model = factory->second({name, version, folder, std::move(config)});
      table_.publish(
          std::make_shared<deployment>(name, version, std::move(model), options, counted_));
      one.served = true;
      one.reason.clear();
    } catch (...) {
      one.reason = detail::failure_of("the model");
    }
  }
  void read_traffic(std::string const& name) {
    auto& bad = bad_traffic_[name];
    for (auto& [version, one] : known_[name])
      if (not bad.empty() && one.reason == bad) one.reason.clear();
    bad.clear();
    try {
      table_.set_weights(
          name, detail::weights_of_json(detail::object_in_file(root_ / name / "traffic.json")));
    } catch (std::exception const& e) {
      bad = e.what();
      for (auto& [version, one] : known_[name])
        if (one.reason.empty()) one.reason = bad;
    }
  }
  void withdraw_all(std::string const& name) {
    for (auto const& [version, one] : known_[name]) (void)table_.withdraw(name, version);
  }
  [[nodiscard]] auto kinds() const -> std::string {
    auto text = std::string{};
    for (auto const& [kind, factory] : factories_) text += (text.empty() ? "" : ", ") + kind;
    return text;
  }

  /// Who asks for something does not put off what comes by the clock.
  void work() {
    using clock = std::chrono::steady_clock;
    auto lock = std::unique_lock{tasks_mutex_};
    auto begun = clock::now();
    while (not ends_) {
      auto const wait = interval_.count() > 0 ? interval_ : std::chrono::milliseconds{60'000};
      changed_.wait_until(lock, begun + wait, [&] { return ends_ || not tasks_.empty(); });
      auto tasks = std::exchange(tasks_, {});
      lock.unlock();
      for (auto const& task : tasks) run_task(task);
      if (clock::now() >= begun + wait) {
        run_task([&] { wait == interval_ ? refresh() : table_.sweep(); });
        begun = clock::now();
      }
      lock.lock();
    }
  }
  static void run_task(std::function<void()> const& task) {
    try {
      task();
    } catch (...) {
      return;  // a folder that cannot be read may be read the next time
    }
  }
  void stop() {
    {
      auto const lock = std::lock_guard{tasks_mutex_};
      ends_ = true;
      changed_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
  }

  std::filesystem::path root_;
  model_factories factories_;
  model_table& table_;
  metrics& counted_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, version_files, version_order>> known_;
  std::map<std::string, std::string> bad_traffic_;  ///< what is wrong with a model's, by its name
  std::set<std::string> unloaded_;
  std::mutex tasks_mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  std::chrono::milliseconds interval_{0};  ///< of the worker alone
  bool ends_ = false;
  std::thread worker_;
};

}  // namespace tessera
