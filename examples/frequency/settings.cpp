// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include <tessera/io/file.hpp>
#include <tessera/train/settings_text.hpp>

#include <CLI/CLI.hpp>
#include <yaml-cpp/yaml.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <type_traits>

namespace frequency {

namespace {

/// Calls f(name, value, help) for every setting: the one list of them.
template <class S, class F> void for_each_setting(S& s, F&& f) {
  f("mode", s.mode, "stateful (state carried over all samples) or windowed");
  f("variant", s.variant, "plain, attention (windowed only) or film");
  f("length", s.length, "samples of a window: 1 where stateful, up to 100 where windowed");
  f("hidden", s.hidden, "width of the LSTM: 64, 128 or 256");
  f("layers", s.layers, "layers of the LSTM: 1 or 2");
  f("dropout", s.dropout, "between the layers, in training");
  f("epochs", s.epochs, "passes over the training data");
  f("batch", s.batch, "windows of a step, up to 64; the four frequencies where stateful");
  f("truncation", s.truncation, "samples of a step where stateful, up to 100");
  f("learning_rate", s.learning_rate, "of Adam, at the start");
  f("weight_decay", s.weight_decay, "of Adam");
  f("clip_norm", s.clip_norm, "largest norm of the gradient; 0 does not clip");
  f("schedule", s.schedule, "geometric (in the second half, down to 0.02), plateau or constant");
  f("patience", s.patience, "epochs without improvement before an early stop; 0 never stops");
  f("min_delta", s.min_delta, "what counts as improvement");
  f("validation", s.validation, "share of each frequency held out, at its end");
  f("seed", s.seed, "of the weights and the order of the windows");
  f("train_seed", s.train_seed, "of the training signal");
  f("test_seed", s.test_seed, "of the test signal");
  f("phase_scale", s.phase_scale, "share of the circle that phases are drawn from");
  f("threads", s.threads, "that share a batch, 0 for all cores; changes no result");
  f("checkpoint_seconds", s.checkpoint_seconds, "between checkpoints");
}

template <class T> struct value_of {
  using type = T;
};
template <class T> struct value_of<std::optional<T>> {
  using type = T;
};
[[nodiscard]] auto option_of(std::string name) -> std::string {
  for (auto& letter : name)
    if (letter == '_') letter = '-';
  return "--" + name;
}
template <class T> [[nodiscard]] constexpr auto expected_type() -> char const* {
  if constexpr (std::is_same_v<T, std::string>) return "a text";
  if constexpr (std::is_integral_v<T>) return "a whole number of 0 or more, in decimal digits";
  return "a finite number";
}
/// False where the text is no such value: "0100", which is 64 to some, and 1e-400 are none.
template <class T> [[nodiscard]] auto convert(std::string_view text, T& to) -> bool {
  if constexpr (std::is_same_v<T, std::string>) {
    to = text;
    return true;
  } else {
    auto const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, to);
    if (error != std::errc{} || stopped != end) return false;
    if constexpr (std::is_integral_v<T>)
      return text.size() == 1 || text[0] != '0';
    else
      return std::isfinite(to);
  }
}

[[noreturn]] void refuse(std::string const& name, std::string const& expected,
                         std::string const& got) {
  throw usage_error(option_of(name) + ": expected " + expected + ", got " +
                    tessera::shortened(got));
}
/// The shortest text that reads as the same number.
template <class T> [[nodiscard]] auto text(T number) -> std::string {
  auto letters = std::array<char, 32>{};
  auto* const end = letters.data() + letters.size();
  if constexpr (std::is_floating_point_v<T>)
    return {letters.data(),
            std::to_chars(letters.data(), end, number, std::chars_format::general).ptr};
  else
    return {letters.data(), std::to_chars(letters.data(), end, number).ptr};
}
[[nodiscard]] auto text(std::string const& value) -> std::string { return value; }

template <class V>
auto add_value(CLI::App& app, std::string const& name, V& value, std::string const& help)
    -> CLI::Option* {
  using T = typename value_of<V>::type;
  return app.add_option_function<std::string>(
      option_of(name),
      [&value, name](std::string const& given) {
        auto read = T{};
        if (not convert(given, read)) refuse(name, expected_type<T>(), given);
        value = read;
      },
      help);
}
void check_one_of(std::string const& name, std::string const& value,
                  std::vector<std::string> const& allowed) {
  auto list = std::string{};
  for (auto const& one : allowed) {
    if (value == one) return;
    list += (list.empty() ? "" : ", ") + one;
  }
  refuse(name, "one of " + list, value);
}
template <class T>
void set_default(std::optional<T>& value, T stateful, T windowed, bool is_windowed) {
  if (not value) value = is_windowed ? windowed : stateful;
}

}  // namespace

void add_option(CLI::App& app, std::string const& name, std::uint64_t& value, char const* help) {
  add_value(app, name, value, help)->default_str(text(value));
}
void add_option(CLI::App& app, std::string const& name, double& value, char const* help) {
  add_value(app, name, value, help)->default_str(text(value));
}
void add_options(CLI::App& app, settings& s) {
  for_each_setting(s, [&](std::string const& name, auto& value, char const* help) {
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<V, typename value_of<V>::type>)
      add_value(app, name, value, help)->default_str(text(value));
    else
      add_value(app, name, value, help + std::string{" (default by mode)"});
  });
}

void check_range(std::string const& name, double value, double low, double high) {
  if (not(value >= low && value <= high))
    refuse(name, "a number from " + text(low) + " to " + text(high), text(value));
}
void check_range(std::string const& name, std::uint64_t value, std::uint64_t low,
                 std::uint64_t high) {
  if (value < low || value > high)
    refuse(name, "a number from " + text(low) + " to " + text(high), text(value));
}

void read_config(std::string const& path, settings& s) {
  auto const fail = [&](std::string const& what) { throw usage_error(path + ": " + what); };
  auto file = tessera::detail::input_file(path);
  constexpr auto largest = std::size_t{1} << 16U;  // a parser takes minutes for 10 MB of lists
  if (file.size() > largest)
    fail("has " + text(file.size()) + " bytes; settings take at most " + text(largest));
  auto const bytes = file.read(largest);
  auto documents = std::vector<YAML::Node>{};
  try {
    documents =
        YAML::LoadAll(std::string{reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  } catch (YAML::Exception const& e) {
    fail("is not YAML: " + tessera::shortened(e.what(), 200));
  }
  if (documents.size() > 1) fail("has more than one document");
  if (documents.empty() || documents[0].IsNull()) return;
  if (not documents[0].IsMap()) fail("expected keys and values");
  auto seen = std::set<std::string>{};
  for (auto const& entry : documents[0]) {
    if (not entry.first.IsScalar()) fail("a key is no name");
    auto const& key = entry.first.Scalar();
    auto const shown = tessera::shortened(key);
    if (not seen.insert(key).second) fail("the key " + shown + " comes twice");
    auto known = false;
    for_each_setting(s, [&](std::string const& name, auto& value, char const*) {
      using T = typename value_of<std::remove_cvref_t<decltype(value)>>::type;
      if (name != key) return;
      known = true;
      auto read = T{};
      auto const& given = entry.second;
      if (not given.IsScalar())
        fail(shown + ": expected " + expected_type<T>() + ", got a list, a map or nothing");
      if (not convert(given.Scalar(), read))
        fail(shown + ": expected " + expected_type<T>() + ", got " +
             tessera::shortened(given.Scalar()));
      value = read;
    });
    if (not known) fail("unknown key " + shown);
  }
}

void resolve(settings& s) {
  check_one_of("mode", s.mode, {"stateful", "windowed"});
  check_one_of("variant", s.variant, {"plain", "attention", "film"});
  check_one_of("schedule", s.schedule, {"geometric", "plateau", "constant"});
  auto const windowed = s.windowed();
  auto const plain = s.variant == "plain";
  set_default<std::uint64_t>(s.length, 1, 50, windowed);
  set_default<std::uint64_t>(s.layers, 1, plain ? 2 : 1, windowed);
  set_default<std::uint64_t>(s.epochs, 300, 10, windowed);
  set_default<std::uint64_t>(s.batch, 4, 64, windowed);
  set_default<double>(s.weight_decay, 1e-5, 0, windowed);
  set_default<double>(s.clip_norm, 0.3, 1, windowed);
  set_default<double>(s.validation, 0, 0.1, windowed);
  if (s.hidden != 64 && s.hidden != 128 && s.hidden != 256)
    refuse("hidden", "64, 128 or 256", std::to_string(s.hidden));
  if (not windowed && s.length != 1)
    refuse("length", "1, as the mode is stateful", std::to_string(*s.length));
  if (not windowed && s.batch != 4)
    refuse("batch", "4, as the mode is stateful", std::to_string(*s.batch));
  check_range("length", *s.length, 1U, 100U);
  check_range("layers", *s.layers, 1U, 2U);
  check_range("dropout", s.dropout, 0, 0.9);
  check_range("epochs", *s.epochs, 1U, 100'000U);
  check_range("batch", *s.batch, 1U, 64U);
  check_range("truncation", s.truncation, 1U, 100U);
  check_range("learning_rate", s.learning_rate, 0, 10);
  check_range("weight_decay", *s.weight_decay, 0, 1);
  check_range("clip_norm", *s.clip_norm, 0, 1e6);
  check_range("min_delta", s.min_delta, 0, 1e6);
  check_range("validation", *s.validation, 0, 0.5);
  check_range("seed", s.seed, 0U, 4294967295U);
  check_range("train_seed", s.train_seed, 0U, 4294967295U);
  check_range("test_seed", s.test_seed, 0U, 4294967295U);
  check_range("phase_scale", s.phase_scale, 0, 1);
  check_range("threads", s.threads, 0U, 1024U);
  check_range("checkpoint_seconds", s.checkpoint_seconds, 0, 86'400);
  if (s.variant == "attention" && not windowed)
    refuse("variant", "plain or film, as the mode is stateful", s.variant);
  if (not plain && (s.layers != 1 || s.hidden == 256))
    refuse("variant", "plain for 2 layers or 256 hidden values", s.variant);
  if (not windowed && s.validation != 0)
    refuse("validation", "0, as the mode is stateful", text(*s.validation));
}

namespace {

[[nodiscard]] auto yaml_of(settings const& s, bool all) -> std::string {
  auto yaml = YAML::Emitter{};
  yaml << YAML::BeginMap;
  for_each_setting(s, [&](std::string const& name, auto const& value, char const*) {
    using V = std::remove_cvref_t<decltype(value)>;
    if (not all && (name == "threads" || name == "checkpoint_seconds")) return;
    if constexpr (not std::is_same_v<V, typename value_of<V>::type>) {
      if (value) yaml << YAML::Key << name << YAML::Value << text(*value);
    } else {
      yaml << YAML::Key << name << YAML::Value << text(value);
    }
  });
  yaml << YAML::EndMap;
  return std::string{yaml.c_str()} + '\n';
}

}  // namespace

auto to_yaml(settings const& s) -> std::string { return yaml_of(s, true); }
auto to_result_yaml(settings const& s) -> std::string { return yaml_of(s, false); }

}  // namespace frequency
