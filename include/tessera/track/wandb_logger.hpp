// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/protobuf.hpp>
#include <tessera/track/detail/numbers.hpp>
#include <tessera/track/detail/record_log.hpp>
#include <tessera/track/histogram.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>

namespace tessera {

struct wandb_options {
  std::filesystem::path folder = ".";  ///< the run is in its folder wandb
  std::string id = {};                 ///< letters and digits; drawn where it is empty
};

/// A run of Weights & Biases without a network: `wandb sync` sends it later.
///
/// What has one step is one row of its history; a row is written when the next begins, and by
/// flush. Pictures are files beside it; histograms have 64 buckets.
///
/// Errors  file_error; std::invalid_argument for an id of other letters, and for the names _step,
///         _runtime and _timestamp, which are W&B's. Numbers that are none are NaN, Infinity and
///         -Infinity, as W&B writes them
/// Source  github.com/wandb/wandb: wandb_internal.proto
class wandb_logger final : public logger {
 public:
  explicit wandb_logger(wandb_options options)
      : root_(std::move(options.folder)), id_(std::move(options.id)) {
    if (id_.empty()) id_ = drawn_id();
    if (not std::ranges::all_of(id_,
                                [](char c) { return letters.find(c) != std::string_view::npos; }))
      throw std::invalid_argument("wandb_logger: expected an id of a-z and 0-9, got " + id_);
  }
  [[nodiscard]] auto title() const -> std::string override {
    return "W&B in " + (folder_.empty() ? root_ : folder_).string();
  }
  /// wandb/offline-run-<yyyymmdd_hhmmss>-<id>, from begin on.
  [[nodiscard]] auto folder() const -> std::filesystem::path const& { return folder_; }

  void begin(run_info const& run) override {
    started_ = run.started;
    folder_ = root_ / "wandb" / ("offline-run-" + local_time(run.started) + '-' + id_);
    detail::make_folder(folder_ / "files");
    log_ = detail::record_log(folder_ / ("run-" + id_ + ".wandb"));
    auto const version = wire{}.text(1, "tessera").text(2, "0.12.0");
    add(header_field, wire{}.message(1, version));
    auto record = wire{}.text(1, id_).text(3, run.project).message(4, updates(run.settings));
    if (not run.group.empty()) record.text(6, run.group);
    record.text(8, run.name);
    for (auto const& tag : run.tags) record.text(10, tag);
    auto const ms = detail::milliseconds_of(run.started);
    auto const time = wire{}
                          .integer(1, static_cast<std::uint64_t>(ms / 1000))
                          .integer(2, static_cast<std::uint64_t>(ms % 1000 * 1'000'000));
    add(run_field, record.text(13, detail::host_name()).message(17, time));
  }
  void scalars(moment when, std::span<named_value const> values) override {
    for (auto const& each : values) require_free(each.name);
    for (auto const& [name, value] : values) put(when, name, number(value));
  }
  void histogram(moment when, std::string_view name, std::span<float const> values) override {
    auto const h = equal_histogram(values, 64);
    auto const low = h.minimum == h.maximum ? h.minimum - 0.5 : h.minimum;
    auto edges = number(low);
    auto counts = std::string{};
    for (auto const edge : h.limits) edges += ',' + number(edge);
    for (auto const n : h.counts) counts += (counts.empty() ? "" : ",") + number(n);
    put(when, name, R"({"_type":"histogram","values":[)" + counts + R"(],"bins":[)" + edges + "]}");
  }
  void image(moment when, std::string_view name, png_image const& picture) override {
    auto const file = file_name(name, when.step);
    detail::make_folder((folder_ / "files" / file).parent_path());
    write_file(folder_ / "files" / file, {picture.bytes});
    add(files_field, wire{}.message(1, wire{}.text(1, file)));
    put(when, name,
        R"({"_type":"image-file","format":"png","path":)" + json_text(file) + ",\"width\":" +
            std::to_string(picture.width) + ",\"height\":" + std::to_string(picture.height) +
            ",\"size\":" + std::to_string(picture.bytes.size()) + '}');
  }
  void text(moment when, std::string_view name, std::string_view words) override {
    put(when, name, json_text(words));
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    if (not settings.empty()) add(config_field, updates(settings));
    for (auto const& each : metrics) require_free(each.name);
    for (auto const& [name, value] : metrics) summary_[name] = number(value);
  }
  void flush() override {
    end_row();
    if (summary_.empty()) return;
    auto changes = wire{};
    for (auto const& [name, value] : summary_)
      changes.message(1, wire{}.text(1, name).text(16, value));
    add(summary_field, changes);
    summary_.clear();
  }
  void finish(run_state state) override {
    flush();
    auto const passed = std::chrono::system_clock::now() - started_;
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
    add(exit_field,
        wire{}
            .integer(1, state == run_state::finished ? 0 : 1)
            .integer(2, static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0))));
    log_.sync();
  }

 private:
  using wire = protobuf_writer;
  static constexpr auto letters = std::string_view{"0123456789abcdefghijklmnopqrstuvwxyz"};
  enum field : std::uint32_t {
    history_field = 2,
    summary_field = 3,
    config_field = 5,
    files_field = 6,
    run_field = 17,
    exit_field = 18,
    header_field = 21
  };

  [[nodiscard]] static auto drawn_id() -> std::string {
    auto source = std::random_device{};
    auto id = std::string{};
    while (id.size() < 8) id += letters[source() % letters.size()];
    return id;
  }
  [[nodiscard]] static auto local_time(std::chrono::system_clock::time_point time) -> std::string {
    auto const seconds = std::chrono::system_clock::to_time_t(time);
    auto parts = std::tm{};
    char text[32] = {};
    (void)::localtime_r(&seconds, &parts);
    (void)std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts);
    return text;
  }
  [[nodiscard]] static auto number(double value) -> std::string {
    return detail::digits_of(value, "NaN", "Infinity");
  }
  [[nodiscard]] static auto updates(std::span<named_setting const> settings) -> wire {
    auto config = wire{};
    for (auto const& [name, value] : settings)
      config.message(1, wire{}.text(1, name).text(16, detail::json_of(value, "NaN", "Infinity")));
    return config;
  }
  /// media/images/<name>_<step>.png, without letters that are no part of a file's name.
  [[nodiscard]] static auto file_name(std::string_view name, std::uint64_t step) -> std::string {
    auto safe = std::string{name};
    for (auto& letter : safe)
      if (static_cast<unsigned char>(letter) < ' ' || letter == '/' || letter == '\\') letter = '_';
    return "media/images/" + safe + '_' + std::to_string(step) + ".png";
  }
  void add(field which, wire const& content) {
    log_.add(wire{}.integer(1, ++records_).message(which, content).bytes());
  }
  static void require_free(std::string_view name) {
    if (name == "_step" || name == "_runtime" || name == "_timestamp")
      throw std::invalid_argument("wandb_logger: expected a name other than " + std::string{name} +
                                  ", which W&B writes itself");
  }
  void put(moment when, std::string_view name, std::string value) {
    require_free(name);
    if (not row_.empty() && when.step != row_step_) end_row();
    row_step_ = when.step;
    row_["_step"] = std::to_string(when.step);
    row_["_timestamp"] = number(detail::seconds_of(when.time));
    row_["_runtime"] = number(detail::seconds_of(when.time) - detail::seconds_of(started_));
    row_[std::string{name}] = std::move(value);
  }
  void end_row() {
    if (row_.empty()) return;
    auto history = wire{};
    for (auto const& [name, value] : row_) history.message(1, wire{}.text(1, name).text(16, value));
    add(history_field, history.message(2, wire{}.integer(1, row_step_)));
    for (auto& [name, value] : row_) summary_[name] = std::move(value);
    row_.clear();
  }

  std::filesystem::path root_;
  std::filesystem::path folder_;
  std::string id_;
  std::chrono::system_clock::time_point started_;
  detail::record_log log_;
  std::uint64_t records_ = 0;
  std::uint64_t row_step_ = 0;
  std::map<std::string, std::string> row_;
  std::map<std::string, std::string> summary_;
};

}  // namespace tessera
