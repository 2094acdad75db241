// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/detail/growing_file.hpp>
#include <tessera/track/detail/numbers.hpp>
#include <tessera/train/folder_lock.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera {

/// Scalars in metrics.csv, a row for each call, and settings in hparams.yaml, in one folder.
///
/// Columns are the step and all names so far; where a new one comes, the file is written again with
/// empty fields in the rows before. It holds numbers alone. The file of an earlier run becomes
/// metrics.1.csv, or the next number that is free.
///
/// State   from begin to finish the folder is this logger's, by .csv.lock: see folder_lock.hpp
/// Errors  file_error, also where another one has the folder; std::invalid_argument for a scalar
/// named "step". Numbers that are none are
///         nan, inf and -inf
class csv_logger final : public logger {
 public:
  explicit csv_logger(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] auto title() const -> std::string override { return path().string(); }
  void begin(run_info const& run) override {
    detail::make_folder(folder_);
    if (not lock_) lock_.emplace(folder_, ".csv.lock");
    settings_ = run.settings;
    write_settings();
    columns_ = {"step"};
    keep_earlier();
    write_file(path(), header());
    file_ = detail::growing_file(path(), true);
  }
  void scalars(moment when, std::span<named_value const> values) override {
    widen(values);
    auto fields = std::vector<std::string>(columns_.size());
    fields[0] = std::to_string(when.step);
    for (auto const& each : values)
      fields[column_of(each.name)] = detail::digits_of(each.value, "nan", "inf");
    file_.add(line_of(fields));
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    detail::merge(settings_, settings);
    for (auto const& [name, value] : metrics)
      detail::merge(settings_, std::vector<named_setting>{{name, value}});
    write_settings();
  }
  void finish(run_state) override {
    auto const until_then = std::exchange(lock_, std::nullopt);
    file_.sync();
  }

 private:
  /// What an earlier run wrote has another name from now on.
  void keep_earlier() const {
    auto error = std::error_code{};
    if (not std::filesystem::exists(path(), error)) return;
    auto n = 1;
    auto const earlier = [&] { return folder_ / ("metrics." + std::to_string(n) + ".csv"); };
    while (std::filesystem::exists(earlier(), error)) ++n;
    std::filesystem::rename(path(), earlier(), error);
    if (error) throw file_error(path(), "cannot be renamed: " + error.message());
  }
  [[nodiscard]] auto path() const -> std::filesystem::path { return folder_ / "metrics.csv"; }
  [[nodiscard]] auto column_of(std::string const& name) const -> std::size_t {
    return static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin());
  }
  [[nodiscard]] static auto field_of(std::string const& name) -> std::string {
    if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
    auto text = std::string{'"'};
    for (auto const letter : name) text.append(letter == '"' ? 2 : 1, letter);
    return text + '"';
  }
  [[nodiscard]] static auto line_of(std::vector<std::string> const& fields) -> std::string {
    auto line = std::string{};
    for (auto const& field : fields) line.append(field).append(1, ',');
    line.back() = '\n';
    return line;
  }
  [[nodiscard]] auto header() const -> std::string {
    auto fields = std::vector<std::string>{};
    for (auto const& name : columns_) fields.push_back(field_of(name));
    return line_of(fields);
  }
  /// Columns for the names that are new, behind the others, in a file that is complete at any time.
  void widen(std::span<named_value const> values) {
    for (auto const& each : values)
      if (each.name == "step")
        throw std::invalid_argument(
            "csv_logger: expected a name other than \"step\", which is the column of the steps");
    auto const before = columns_.size();
    auto const begin_of_rows = header().size();
    for (auto const& each : values)
      if (column_of(each.name) == columns_.size()) columns_.push_back(each.name);
    if (columns_.size() == before) return;
    auto const rows = read_text(path()).substr(begin_of_rows);
    auto text = header();
    for (auto const letter : rows) {
      if (letter == '\n') text.append(columns_.size() - before, ',');
      text += letter;
    }
    write_file(path(), text);
    file_ = detail::growing_file(path(), true);
  }
  /// A text in quotes that PyYAML reads, too: DEL, the controls from U+0080, other ends of lines
  /// and what is no letter are escaped.
  [[nodiscard]] static auto yaml_text(std::string_view text) -> std::string {
    static constexpr auto digits = std::string_view{"0123456789abcdef"};
    auto const quoted = json_text(text);
    auto result = std::string{};
    for (auto at = std::size_t{0}; at < quoted.size();) {
      auto const letter =
          std::string_view{quoted}.substr(at, detail::utf8_piece_at(quoted, at).bytes);
      auto const second = letter.size() == 2 ? static_cast<unsigned char>(letter[1]) : 0U;
      at += letter.size();
      if (letter == "\x7F")
        result += "\\u007f";
      else if (letter[0] == '\xC2' && second < 0xA0)
        result.append("\\u00").append({digits[second >> 4U], digits[second & 15U]});
      else if (letter == "\xE2\x80\xA8" || letter == "\xE2\x80\xA9")
        result += letter[2] == '\xA8' ? "\\u2028" : "\\u2029";
      else if (letter == "\xEF\xBF\xBE" || letter == "\xEF\xBF\xBF")
        result += letter[2] == '\xBE' ? "\\ufffe" : "\\uffff";
      else
        result += letter;
    }
    return result;
  }
  /// YAML 1.1, as PyYAML reads it, has a point in every number with an exponent.
  [[nodiscard]] static auto yaml_of(setting_value const& value) -> std::string {
    if (auto const* const words = std::get_if<std::string>(&value)) return yaml_text(*words);
    auto text = detail::json_of(value, ".nan", ".inf");
    auto const exponent = text.find('e');
    if (std::holds_alternative<double>(value) && exponent != std::string::npos &&
        text.find('.') == std::string::npos)
      text.insert(exponent, ".0");
    return text;
  }
  void write_settings() const {
    auto text = std::string{};
    for (auto const& [name, value] : settings_)
      text.append(yaml_text(name)).append(": ").append(yaml_of(value)).append("\n");
    write_file(folder_ / "hparams.yaml", text.empty() ? "{}\n" : text);
  }

  std::filesystem::path folder_;
  std::optional<folder_lock> lock_;
  std::vector<named_setting> settings_;
  std::vector<std::string> columns_;
  detail::growing_file file_;
};

}  // namespace tessera
