// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include <CLI/CLI.hpp>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <map>
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
  if constexpr (std::is_integral_v<T>) return "a whole number of 0 or more";
  return "a number";
}
template <class T> [[nodiscard]] auto convert(YAML::Node const& node, T& to) -> bool {
  if (not node.IsScalar()) return false;
  if constexpr (std::is_integral_v<T>)  // yaml-cpp wraps -1 around
    if (node.Scalar().empty() || node.Scalar()[0] == '-') return false;
  return YAML::convert<T>::decode(node, to);
}

[[noreturn]] void refuse(std::string const& name, std::string const& expected,
                         std::string const& got) {
  throw usage_error(option_of(name) + ": expected " + expected + ", got " + got);
}
[[nodiscard]] auto text(double number) -> std::string {
  char letters[32];
  std::snprintf(letters, sizeof letters, "%.9g", number);
  return letters;
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
void check_range(std::string const& name, double value, double low, double high) {
  if (not(value >= low && value <= high))
    refuse(name, "a number from " + text(low) + " to " + text(high), text(value));
}
template <class T>
void set_default(std::optional<T>& value, T stateful, T windowed, bool is_windowed) {
  if (not value) value = is_windowed ? windowed : stateful;
}

}  // namespace

void add_options(CLI::App& app, settings& s) {
  for_each_setting(s, [&](std::string const& name, auto& value, char const* help) {
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<V, typename value_of<V>::type>)
      app.add_option(option_of(name), value, help)->capture_default_str();
    else
      app.add_option(option_of(name), value, help + std::string{" (default by mode)"});
  });
}

void read_config(std::string const& path, settings& s) {
  auto root = YAML::Node{};
  try {
    root = YAML::LoadFile(path);
  } catch (YAML::BadFile const&) {
    throw usage_error("--config: " + path + " cannot be read");
  } catch (YAML::Exception const& e) {
    throw usage_error("--config: " + path + " is not YAML: " + e.what());
  }
  if (root.IsNull()) return;
  if (not root.IsMap()) throw usage_error("--config: " + path + ": expected keys and values");
  for (auto const& entry : root) {
    auto const key = entry.first.as<std::string>();
    auto known = false;
    for_each_setting(s, [&](std::string const& name, auto& value, char const*) {
      using T = typename value_of<std::remove_cvref_t<decltype(value)>>::type;
      if (name != key) return;
      known = true;
      auto read = T{};
      if (not convert(entry.second, read))
        throw usage_error("--config: " + path + ": " + key + ": expected " + expected_type<T>() +
                          ", got " + YAML::Dump(entry.second));
      value = read;
    });
    if (not known) throw usage_error("--config: " + path + ": unknown key " + key);
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
  check_range("length", static_cast<double>(*s.length), 1, 100);
  check_range("layers", static_cast<double>(*s.layers), 1, 2);
  check_range("dropout", s.dropout, 0, 0.9);
  check_range("epochs", static_cast<double>(*s.epochs), 1, 100'000);
  check_range("batch", static_cast<double>(*s.batch), 1, 64);
  check_range("truncation", static_cast<double>(s.truncation), 1, 100);
  check_range("learning_rate", s.learning_rate, 0, 10);
  check_range("weight_decay", *s.weight_decay, 0, 1);
  check_range("clip_norm", *s.clip_norm, 0, 1e6);
  check_range("min_delta", s.min_delta, 0, 1e6);
  check_range("validation", *s.validation, 0, 0.5);
  check_range("seed", static_cast<double>(s.seed), 0, 4294967295.0);
  check_range("train_seed", static_cast<double>(s.train_seed), 0, 4294967295.0);
  check_range("test_seed", static_cast<double>(s.test_seed), 0, 4294967295.0);
  check_range("phase_scale", s.phase_scale, 0, 1);
  check_range("threads", static_cast<double>(s.threads), 0, 1024);
  check_range("checkpoint_seconds", s.checkpoint_seconds, 0, 86'400);
  if (s.variant == "attention" && not windowed)
    refuse("variant", "plain or film, as the mode is stateful", s.variant);
  if (not plain && (s.layers != 1 || s.hidden == 256))
    refuse("variant", "plain for 2 layers or 256 hidden values", s.variant);
  if (not windowed && s.validation != 0)
    refuse("validation", "0, as the mode is stateful", text(*s.validation));
}

auto to_yaml(settings const& s) -> std::string {
  auto yaml = YAML::Emitter{};
  yaml << YAML::BeginMap;
  for_each_setting(s, [&](std::string const& name, auto const& value, char const*) {
    using V = std::remove_cvref_t<decltype(value)>;
    auto const number = [](auto v) {
      if constexpr (std::is_same_v<decltype(v), double>)
        return text(v);
      else
        return v;
    };
    if constexpr (not std::is_same_v<V, typename value_of<V>::type>) {
      if (value) yaml << YAML::Key << name << YAML::Value << number(*value);
    } else {
      yaml << YAML::Key << name << YAML::Value << number(value);
    }
  });
  yaml << YAML::EndMap;
  return std::string{yaml.c_str()} + '\n';
}

}  // namespace frequency
