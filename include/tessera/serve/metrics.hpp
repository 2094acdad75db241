// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Numbers of a running program, in the text that Prometheus reads.
namespace tessera {

namespace detail {

/// Threads add to parts of their own, so that they do not wait for each other's cache lines.
inline constexpr auto metric_shards = std::size_t{8};
[[nodiscard]] inline auto metric_shard() -> std::size_t {
  static auto next = std::atomic<std::size_t>{0};
  thread_local auto const mine = next.fetch_add(1, std::memory_order_relaxed) % metric_shards;
  return mine;
}
struct alignas(64) metric_part {
  std::atomic<double> value = 0;
};
[[nodiscard]] inline auto metric_text(double value) -> std::string {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  auto digits = std::array<char, 32>{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}
/// A bound as Prometheus' own clients write it: 0.0005, not 5e-04.
[[nodiscard]] inline auto bound_text(double value) -> std::string {
  if (not std::isfinite(value)) return metric_text(value);
  auto digits = std::array<char, 1100>{};  // the smallest double has 1074 behind its point
  auto const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}
/// The text with its backslashes, line breaks and, in labels, quotes escaped.
[[nodiscard]] inline auto metric_escaped(std::string_view text, bool in_quotes) -> std::string {
  auto result = std::string{};
  for (auto const letter : text) {
    if (letter == '\n')
      result += "\\n";
    else if (letter == '\\' || (letter == '"' && in_quotes))
      result.append({'\\', letter});
    else
      result += letter;
  }
  return result;
}
[[nodiscard]] inline auto is_metric_name(std::string_view name) -> bool {
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return not name.empty() && letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace detail

using metric_labels = std::vector<std::pair<std::string, std::string>>;

/// What only grows.
///
/// Cost  one atomic addition, to a part that few threads share
class counter {
 public:
  void add(double amount = 1) {
    parts_[detail::metric_shard()].value.fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] auto value() const -> double {
    auto sum = 0.0;
    for (auto const& part : parts_) sum += part.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  std::array<detail::metric_part, detail::metric_shards> parts_;
};

/// What goes up and down.
class gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  [[nodiscard]] auto value() const -> double { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// How often numbers were at most each of some bounds, and their sum. What is no number is above
/// every bound, and no sum after it is one, as Prometheus' own clients have it.
///
/// Cost  one search among the bounds and two atomic additions
class histogram {
 public:
  explicit histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_((bounds_.size() + 1) * detail::metric_shards) {}

  void observe(double value) {
    auto const at =
        std::isnan(value)
            ? bounds_.size()
            : static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin());
    auto const shard = detail::metric_shard();
    counts_[shard * (bounds_.size() + 1) + at].fetch_add(1, std::memory_order_relaxed);
    sums_[shard].value.fetch_add(value, std::memory_order_relaxed);
  }
  [[nodiscard]] auto bounds() const -> std::vector<double> const& { return bounds_; }
  /// Of each bound and of everything above all: how many numbers are in it and below.
  [[nodiscard]] auto cumulative() const -> std::vector<std::uint64_t> {
    auto result = std::vector<std::uint64_t>(bounds_.size() + 1);
    for (auto i = std::size_t{0}; i < counts_.size(); ++i)
      result[i % result.size()] += counts_[i].load(std::memory_order_relaxed);
    for (auto i = std::size_t{1}; i < result.size(); ++i) result[i] += result[i - 1];
    return result;
  }
  [[nodiscard]] auto sum() const -> double {
    auto sum = 0.0;
    for (auto const& part : sums_) sum += part.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::array<detail::metric_part, detail::metric_shards> sums_;
};

/// From 0.5 ms to 10 s.
[[nodiscard]] inline auto duration_buckets() -> std::vector<double> {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

/// The metrics of a program by name and labels. What is handed out stays until the end: keep the
/// reference where time counts.
///
/// Cost    a name is looked for under a lock; what it names counts without one
/// Errors  std::invalid_argument for a name or label that is none, a counter that does not end in
///         _total, and a name that was another kind of metric before
/// Source  Prometheus' text format 0.0.4; names: its practices, which `promtool check metrics` asks
class metrics {
 public:
  [[nodiscard]] auto counter_of(std::string const& name, std::string const& help,
                                metric_labels const& labels = {}) -> counter& {
    if (not name.ends_with("_total")) refuse(name, "a counter ends in _total");
    return find<counter>(name, help, "counter", labels);
  }
  [[nodiscard]] auto gauge_of(std::string const& name, std::string const& help,
                              metric_labels const& labels = {}) -> gauge& {
    return find<gauge>(name, help, "gauge", labels);
  }
  [[nodiscard]] auto histogram_of(std::string const& name, std::string const& help,
                                  metric_labels const& labels = {},
                                  std::vector<double> const& bounds = duration_buckets())
      -> histogram& {
    if (not std::ranges::is_sorted(bounds)) refuse(name, "bounds ascend");
    return find<histogram>(name, help, "histogram", labels, bounds);
  }
  /// A number that is asked for when the text is made; `kind` is counter or gauge.
  void ask(std::string const& name, std::string const& help, std::string const& kind,
           std::function<double()> value) {
    auto const lock = std::lock_guard{mutex_};
    family_of(name, help, kind).series[""] = {{}, asked{std::move(value)}};
  }

  [[nodiscard]] auto text() const -> std::string {
    auto const lock = std::lock_guard{mutex_};
    auto result = std::string{};
    for (auto const& [name, one] : families_) {
      result.append("# HELP ").append(name).append(" ");
      result.append(detail::metric_escaped(one.help, false)).append("\n# TYPE ");
      result.append(name).append(" ").append(one.kind).append("\n");
      for (auto const& [labels, each] : one.series)
        std::visit([&](auto const& metric) { append(result, name, labels, metric); }, each.metric);
    }
    return result;
  }

 private:
  struct asked {
    std::function<double()> value;
  };
  struct series_type {
    metric_labels labels;
    std::variant<asked, std::unique_ptr<counter>, std::unique_ptr<gauge>,
                 std::unique_ptr<histogram>>
        metric;
  };
  struct family {
    std::string help;
    std::string kind;
    std::map<std::string, series_type> series;
  };

  [[noreturn]] static void refuse(std::string const& name, std::string const& rule) {
    throw std::invalid_argument("metrics: \"" + name + "\": " + rule);
  }
  auto family_of(std::string const& name, std::string const& help, std::string const& kind)
      -> family& {
    if (not detail::is_metric_name(name)) refuse(name, "a name is of a-z, 0-9 and _");
    if (help.empty()) refuse(name, "expected a text that says what it is");
    auto& one = families_.try_emplace(name, family{help, kind, {}}).first->second;
    if (one.kind != kind) refuse(name, "is a " + one.kind + ", not a " + kind);
    return one;
  }
  template <class Metric, class... Options>
  auto find(std::string const& name, std::string const& help, std::string const& kind,
            metric_labels const& labels, Options const&... options) -> Metric& {
    auto const lock = std::lock_guard{mutex_};
    auto& one = family_of(name, help, kind);
    auto const key = text_of(name, labels);
    auto& found = one.series[key];
    if (not std::holds_alternative<std::unique_ptr<Metric>>(found.metric))
      found = {labels, std::make_unique<Metric>(options...)};
    return *std::get<std::unique_ptr<Metric>>(found.metric);
  }
  /// a="1",b="2"
  [[nodiscard]] static auto text_of(std::string const& name, metric_labels const& labels)
      -> std::string {
    auto result = std::string{};
    for (auto const& [label, value] : labels) {
      if (not detail::is_metric_name(label)) refuse(name, "a label is of a-z, 0-9 and _");
      if (not result.empty()) result += ',';
      result.append(label).append("=\"").append(detail::metric_escaped(value, true)).append("\"");
    }
    return result;
  }
  static void line(std::string& to, std::string const& name, std::string const& labels,
                   std::string const& value) {
    to += name;
    if (not labels.empty()) to.append("{").append(labels).append("}");
    to.append(" ").append(value).append("\n");
  }
  static void append(std::string& to, std::string const& name, std::string const& labels,
                     asked const& one) {
    line(to, name, labels, detail::metric_text(one.value()));
  }
  template <class Metric>
  static void append(std::string& to, std::string const& name, std::string const& labels,
                     std::unique_ptr<Metric> const& one) {
    line(to, name, labels, detail::metric_text(one->value()));
  }
  static void append(std::string& to, std::string const& name, std::string const& labels,
                     std::unique_ptr<histogram> const& one) {
    auto const counts = one->cumulative();
    auto const before = labels.empty() ? std::string{} : labels + ',';
    for (auto i = std::size_t{0}; i < counts.size(); ++i) {
      auto const bound = i < one->bounds().size() ? detail::bound_text(one->bounds()[i]) : "+Inf";
      auto inside = before;
      inside.append("le=\"").append(bound).append("\"");
      line(to, name + "_bucket", inside, std::to_string(counts[i]));
    }
    line(to, name + "_sum", labels, detail::metric_text(one->sum()));
    line(to, name + "_count", labels, std::to_string(counts.back()));
  }

  mutable std::mutex mutex_;
  std::map<std::string, family> families_;
};

}  // namespace tessera
