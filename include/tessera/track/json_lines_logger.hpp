// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/detail/growing_file.hpp>
#include <tessera/track/detail/numbers.hpp>
#include <tessera/track/histogram.hpp>

namespace tessera {

/// A line of JSON for each call, in one file:
/// {"event":"scalars","step":3,"time":1.7e9,"values":{"train/loss":0.5}}; further events are
/// begin, histogram, text, image (its size alone), hyperparameters and finish. The lines of another
/// run go on behind those that are there.
///
/// Units   time in seconds since 1970
/// Errors  file_error. Numbers that are none are the strings "NaN", "Infinity" and "-Infinity"
class json_lines_logger final : public logger {
 public:
  explicit json_lines_logger(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] auto title() const -> std::string override { return path_.string(); }
  void begin(run_info const& run) override {
    detail::make_folder(detail::folder_of(path_));
    file_ = detail::growing_file(path_, true);
    auto tags = std::string{};
    for (auto const& tag : run.tags) tags += (tags.empty() ? "" : ",") + json_text(tag);
    add("begin", ",\"time\":" + number(detail::seconds_of(run.started)) +
                     ",\"name\":" + json_text(run.name) + ",\"project\":" + json_text(run.project) +
                     ",\"group\":" + json_text(run.group) + ",\"tags\":[" + tags +
                     "],\"settings\":" + object_of(run.settings));
  }
  void scalars(moment when, std::span<named_value const> values) override {
    add("scalars", at(when) + ",\"values\":" + object_of(values));
  }
  void histogram(moment when, std::string_view name, std::span<float const> values) override {
    auto const h = default_histogram(values);
    add("histogram",
        at(when) + ",\"name\":" + json_text(name) + ",\"count\":" + std::to_string(h.count) +
            ",\"not_finite\":" + std::to_string(h.not_finite) +
            ",\"minimum\":" + number(h.minimum) + ",\"maximum\":" + number(h.maximum) +
            ",\"sum\":" + number(h.sum) + ",\"sum_of_squares\":" + number(h.sum_of_squares) +
            ",\"limits\":" + list_of(h.limits) + ",\"counts\":" + list_of(h.counts));
  }
  void image(moment when, std::string_view name, png_image const& picture) override {
    add("image", at(when) + ",\"name\":" + json_text(name) +
                     ",\"width\":" + std::to_string(picture.width) +
                     ",\"height\":" + std::to_string(picture.height));
  }
  void text(moment when, std::string_view name, std::string_view words) override {
    add("text", at(when) + ",\"name\":" + json_text(name) + ",\"text\":" + json_text(words));
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    add("hyperparameters",
        ",\"settings\":" + object_of(settings) + ",\"metrics\":" + object_of(metrics));
  }
  void finish(run_state state) override {
    add("finish", ",\"time\":" + number(detail::seconds_of(std::chrono::system_clock::now())) +
                      R"(,"state":")" + detail::name_of(state) + '"');
    file_.sync();
  }

 private:
  static constexpr auto nan = "\"NaN\"";

  [[nodiscard]] static auto number(double value) -> std::string {
    return std::isinf(value) ? (value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
                             : detail::digits_of(value, nan, "");
  }
  [[nodiscard]] static auto number(setting_value const& value) -> std::string {
    auto const* real = std::get_if<double>(&value);
    return real != nullptr ? number(*real) : detail::json_of(value, nan, "");
  }
  [[nodiscard]] static auto at(moment when) -> std::string {
    return ",\"step\":" + std::to_string(when.step) +
           ",\"time\":" + number(detail::seconds_of(when.time));
  }
  [[nodiscard]] static auto object_of(auto const& named) -> std::string {
    auto text = std::string{};
    for (auto const& [name, value] : named)
      text += (text.empty() ? "" : ",") + json_text(name) + ':' + number(value);
    return '{' + text + '}';
  }
  [[nodiscard]] static auto list_of(std::vector<double> const& values) -> std::string {
    auto text = std::string{};
    for (auto const value : values) text += (text.empty() ? "" : ",") + number(value);
    return '[' + text + ']';
  }
  void add(char const* event, std::string const& rest) {
    file_.add(std::string{R"({"event":")"} + event + '"' + rest + "}\n");
  }

  std::filesystem::path path_;
  detail::growing_file file_;
};

}  // namespace tessera
