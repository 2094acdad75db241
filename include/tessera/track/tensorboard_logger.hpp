// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/protobuf.hpp>
#include <tessera/track/detail/checksum.hpp>
#include <tessera/track/detail/growing_file.hpp>
#include <tessera/track/detail/numbers.hpp>
#include <tessera/track/histogram.hpp>

#include <algorithm>
#include <atomic>

namespace tessera {

namespace detail {

/// A record of an event file: length, data, and a sum of each.
[[nodiscard]] inline auto framed_event(std::string_view data) -> std::string {
  auto const length = little_endian(data.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string{data} +
         little_endian(masked_crc32c(data), 4);
}
/// events.out.tfevents.<seconds>.<host>.<process>.<number>
[[nodiscard]] inline auto event_file_name(std::chrono::system_clock::time_point time)
    -> std::string {
  static auto count = std::atomic<unsigned>{0};
  auto seconds = std::to_string(milliseconds_of(time) / 1000);
  seconds.insert(0, 10 - std::min<std::size_t>(10, seconds.size()), '0');
  return "events.out.tfevents." + seconds + '.' + host_name() + '.' + std::to_string(::getpid()) +
         '.' + std::to_string(count++);
}

}  // namespace detail

/// An event file that TensorBoard shows: scalars, histograms, pictures, texts, hyperparameters.
///
/// Settings go to the HPARAMS tab once, with the first hyperparameters(), flush or finish: it does
/// not take those that come later. Metrics of hyperparameters() are what it compares runs by. A
/// histogram without a finite number is passed over.
///
/// Accuracy  scalars are stored in 32 bits
/// Errors    file_error
/// Source    tensorflow's event.proto, summary.proto, TFRecord; tensorboard's hparams plugin
class tensorboard_logger final : public logger {
 public:
  explicit tensorboard_logger(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] auto title() const -> std::string override {
    return "TensorBoard in " + folder_.string();
  }
  void begin(run_info const& run) override {
    detail::make_folder(folder_);
    file_ = detail::growing_file(folder_ / detail::event_file_name(run.started));
    started_ = run.started;
    settings_ = run.settings;
    add(run.started, wire{}.text(3, "brain.Event:2"));
  }
  void scalars(moment when, std::span<named_value const> values) override {
    auto summary = wire{};
    for (auto const& [name, value] : values)
      summary.message(1, wire{}.text(1, name).number(2, static_cast<float>(value)));
    add(when, summary);
  }
  void histogram(moment when, std::string_view name, std::span<float const> values) override {
    auto const h = default_histogram(values);
    if (h.count == 0) return;
    auto const histogram = wire{}
                               .number(1, h.minimum)
                               .number(2, h.maximum)
                               .number(3, static_cast<double>(h.count))
                               .number(4, h.sum)
                               .number(5, h.sum_of_squares)
                               .packed(6, h.limits)
                               .packed(7, h.counts);
    add(when, wire{}.message(1, wire{}.text(1, name).message(5, histogram)));
  }
  void image(moment when, std::string_view name, png_image const& picture) override {
    auto const image = wire{}
                           .integer(1, picture.height)
                           .integer(2, picture.width)
                           .integer(3, 3)
                           .bytes(4, picture.bytes);
    add(when, wire{}.message(1, wire{}.text(1, name).message(4, image)));
  }
  void text(moment when, std::string_view name, std::string_view words) override {
    constexpr auto strings = 7;  // DT_STRING
    auto const shape = wire{}.message(2, wire{}.integer(1, 1));
    auto const tensor = wire{}.integer(1, strings).message(2, shape).text(8, words);
    auto const plugin = wire{}.message(1, wire{}.text(1, "text"));
    add(when, wire{}.message(1, wire{}.text(1, name).message(8, tensor).message(9, plugin)));
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    detail::merge(settings_, settings);
    auto experiment = wire{}.number(3, detail::seconds_of(started_));
    for (auto const& each : settings_)
      experiment.message(4, wire{}.text(1, each.name).integer(4, type_of(each.value)));
    for (auto const& each : metrics)
      experiment.message(5, wire{}.message(1, wire{}.text(2, each.name)));
    if (not has_session_) add_session();
    add_plugin("_hparams_/experiment", wire{}.message(2, experiment));
    if (not metrics.empty()) scalars(last_step_, metrics);
  }
  void flush() override {
    if (not has_session_ && not settings_.empty()) add_session();
  }
  void finish(run_state state) override {
    flush();
    constexpr auto success = 1;
    constexpr auto failure = 2;
    auto const now = std::chrono::system_clock::now();
    if (has_session_)
      add_plugin("_hparams_/session_end_info",
                 wire{}.message(4, wire{}
                                       .integer(1, state == run_state::finished ? success : failure)
                                       .number(2, detail::seconds_of(now))));
    file_.sync();
  }

 private:
  using wire = protobuf_writer;

  void add(std::chrono::system_clock::time_point time, wire const& rest, std::uint64_t step = 0) {
    auto event = wire{}.number(1, detail::seconds_of(time));
    if (step > 0) event.integer(2, step);  // a zero is what is not there
    file_.add(detail::framed_event(event.bytes() + rest.bytes()));
  }
  void add(moment when, wire const& summary) {
    last_step_ = std::max(last_step_, when.step);
    add(when.time, wire{}.message(5, summary), when.step);
  }
  /// What the plugin reads is in the metadata; the tensor is empty.
  void add_plugin(std::string_view tag, wire const& content) {
    auto const version = wire{}.integer(1, 0);
    auto const plugin = wire{}.text(1, "hparams").bytes(2, version.bytes() + content.bytes());
    auto const tensor = wire{}.integer(1, 1).message(2, wire{}.message(2, wire{}));
    add(moment{0}, wire{}.message(1, wire{}.text(1, tag).message(8, tensor).message(
                                         9, wire{}.message(1, plugin))));
  }
  void add_session() {
    auto session = wire{};
    for (auto const& each : settings_)
      session.message(1, wire{}.text(1, each.name).message(2, value_of(each.value)));
    session.number(5, detail::seconds_of(started_));
    add_plugin("_hparams_/session_start_info", wire{}.message(3, session));
    has_session_ = true;
  }
  [[nodiscard]] static auto type_of(setting_value const& value) -> std::uint64_t {
    if (std::holds_alternative<std::string>(value)) return 1;
    return std::holds_alternative<bool>(value) ? 2 : 3;
  }
  /// A google.protobuf.Value.
  [[nodiscard]] static auto value_of(setting_value const& value) -> wire {
    if (auto const* yes = std::get_if<bool>(&value)) return wire{}.integer(4, *yes ? 1 : 0);
    if (auto const* text = std::get_if<std::string>(&value)) return wire{}.text(3, *text);
    auto const* whole = std::get_if<std::int64_t>(&value);
    return wire{}.number(2,
                         whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value));
  }

  std::filesystem::path folder_;
  detail::growing_file file_;
  std::chrono::system_clock::time_point started_;
  std::vector<named_setting> settings_;
  std::uint64_t last_step_ = 0;
  bool has_session_ = false;
};

}  // namespace tessera
