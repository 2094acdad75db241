// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/train/described.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What a search chooses: named numbers and choices.
namespace tessera {

/// What cannot be searched, or is none of a search: one sentence.
struct search_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using search_value = std::variant<double, std::int64_t, std::string>;
using search_point = std::map<std::string, search_value>;  ///< by the names of the parameters

/// "0.001", "64", "lstm": numbers exactly.
[[nodiscard]] inline auto text_of(search_value const& value) -> std::string {
  if (auto const* const text = std::get_if<std::string>(&value)) return *text;
  if (auto const* const whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return described(std::get<double>(value));
}

namespace detail {

template <class T>
[[nodiscard]] auto value_of_point(search_point const& point, std::string const& name,
                                  char const* kind) -> T const& {
  auto const found = point.find(name);
  if (found == point.end()) throw search_error("the search has no parameter " + name);
  auto const* const value = std::get_if<T>(&found->second);
  if (value == nullptr)
    throw search_error(name + ": expected " + kind + ", got " + tessera::text_of(found->second));
  return *value;
}

}  // namespace detail

/// The value of a parameter in a point.
///
/// Errors  search_error where there is none of that name, or one of another kind
[[nodiscard]] inline auto number_of(search_point const& point, std::string const& name) -> double {
  return detail::value_of_point<double>(point, name, "a number");
}
[[nodiscard]] inline auto whole_of(search_point const& point, std::string const& name)
    -> std::int64_t {
  return detail::value_of_point<std::int64_t>(point, name, "a whole number");
}
[[nodiscard]] inline auto choice_of(search_point const& point, std::string const& name)
    -> std::string const& {
  return detail::value_of_point<std::string>(point, name, "a choice");
}

/// One parameter. A method sees a coordinate of it: the number, its logarithm, the whole number
/// (from low - 1/2 to high + 1/2), or which of the choices it is.
struct search_parameter {
  enum class kind { uniform, log_uniform, integer, choice };

  std::string name;
  kind is = kind::uniform;
  double low = 0;
  double high = 1;
  std::vector<std::string> choices = {};

  [[nodiscard]] auto low_end() const -> double { return is == kind::integer ? low - 0.5 : of(low); }
  [[nodiscard]] auto high_end() const -> double {
    return is == kind::integer ? high + 0.5 : of(high);
  }
  /// The value at a coordinate, which is brought into range.
  [[nodiscard]] auto value(double coordinate) const -> search_value {
    auto const within = std::clamp(coordinate, of(low), of(high));
    if (is == kind::choice) return choices[static_cast<std::size_t>(within)];
    if (is == kind::integer) return static_cast<std::int64_t>(std::floor(within + 0.5));
    return is == kind::uniform ? within : std::clamp(lane::exp(within), low, high);
  }
  /// Errors  search_error for a value that the parameter cannot have
  [[nodiscard]] auto coordinate(search_value const& v) const -> double {
    if (auto const* const text = std::get_if<std::string>(&v); text != nullptr) {
      auto const found = std::ranges::find(choices, *text);
      if (found != choices.end()) return static_cast<double>(found - choices.begin());
    } else if (auto const* const whole = std::get_if<std::int64_t>(&v); whole != nullptr) {
      auto const number = static_cast<double>(*whole);
      if (is == kind::integer && number >= low && number <= high) return number;
    } else {
      auto const number = std::get<double>(v);
      auto const takes = is == kind::uniform || is == kind::log_uniform;
      if (takes && number >= low && number <= high) return of(number);
    }
    throw search_error(name + ": expected a value of " + text() + ", got " + text_of(v));
  }
  /// "log_uniform(1e-05, 0.1)", "choice(lstm, gru)"
  [[nodiscard]] auto text() const -> std::string {
    if (is != kind::choice) {
      auto const* const word = is == kind::uniform   ? "uniform("
                               : is == kind::integer ? "integer("
                                                     : "log_uniform(";
      return word + described(low) + ", " + described(high) + ')';
    }
    auto list = std::string{};
    for (auto const& one : choices) list += (list.empty() ? "" : ", ") + one;
    return "choice(" + list + ')';
  }

 private:
  [[nodiscard]] auto of(double number) const -> double {
    return is == kind::log_uniform ? lane::log(number) : number;
  }
};

/// The parameters of a search, in the order in which they are named:
///
///     auto const space = search_space{}
///                            .log_uniform("rate", 1e-4, 1e-2)
///                            .integer("layers", 1, 3)
///                            .choice("model", {"lstm", "gru"});
///
/// Errors  search_error for a name that comes twice or is no word, low that is not below high,
///         a logarithm from 0 or less, and choices that are none, come twice or hold a comma, a
///         quote or a control character
class search_space {
 public:
  auto uniform(std::string name, double low, double high) && -> search_space&& {
    return add({std::move(name), search_parameter::kind::uniform, low, high});
  }
  auto log_uniform(std::string name, double low, double high) && -> search_space&& {
    if (not(low > 0)) throw search_error(name + ": expected low > 0, got " + described(low));
    return add({std::move(name), search_parameter::kind::log_uniform, low, high});
  }
  auto integer(std::string name, std::int64_t low, std::int64_t high) && -> search_space&& {
    auto const from = static_cast<double>(low);
    auto const to = static_cast<double>(high);
    if (std::max(std::abs(from), std::abs(to)) > 0x1p52)
      throw search_error(name + ": expected whole numbers of at most 52 bits");
    return add({std::move(name), search_parameter::kind::integer, from, to});
  }
  auto choice(std::string name, std::vector<std::string> choices) && -> search_space&& {
    check_choices(name, choices);
    auto const last = static_cast<double>(choices.size()) - 1;
    parameters_.push_back(
        {checked(std::move(name)), search_parameter::kind::choice, 0, last, std::move(choices)});
    return std::move(*this);
  }

  [[nodiscard]] auto parameters() const -> std::vector<search_parameter> const& {
    return parameters_;
  }
  /// The point at coordinates, one for each parameter.
  [[nodiscard]] auto point(std::vector<double> const& coordinates) const -> search_point {
    auto result = search_point{};
    for (auto i = std::size_t{0}; i < parameters_.size(); ++i)
      result[parameters_[i].name] = parameters_[i].value(coordinates.at(i));
    return result;
  }
  /// Errors  search_error for a point of another space
  [[nodiscard]] auto coordinates(search_point const& point) const -> std::vector<double> {
    auto result = std::vector<double>{};
    for (auto const& parameter : parameters_) {
      auto const found = point.find(parameter.name);
      if (found == point.end()) throw search_error(parameter.name + ": expected a value, got none");
      result.push_back(parameter.coordinate(found->second));
    }
    if (point.size() != parameters_.size())
      throw search_error("expected " + std::to_string(parameters_.size()) + " parameters, got " +
                         std::to_string(point.size()));
    return result;
  }
  /// A line "parameter.<name>: <what it may be>" for each: see settings_text.hpp.
  [[nodiscard]] auto text() const -> std::string {
    auto lines = std::string{};
    for (auto const& one : parameters_) lines += "parameter." + one.name + ": " + one.text() + '\n';
    return lines;
  }

 private:
  auto add(search_parameter p) -> search_space&& {
    auto const wide = p.low < p.high && std::isfinite(p.high - p.low);
    if (not wide && not(p.is == search_parameter::kind::integer && p.low == p.high))
      throw search_error(p.name + ": expected low below high, got " + p.text());
    p.name = checked(std::move(p.name));
    parameters_.push_back(std::move(p));
    return std::move(*this);
  }
  [[nodiscard]] auto checked(std::string name) const -> std::string {
    constexpr auto letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (name.empty() || name.find_first_not_of(letters) != std::string::npos)
      throw search_error("a parameter's name has letters, digits, '_', '.' and '-' alone");
    for (auto const& other : parameters_)
      if (other.name == name) throw search_error("the parameter " + name + " comes twice");
    return name;
  }
  static void check_choices(std::string const& name, std::vector<std::string> const& choices) {
    if (choices.empty()) throw search_error(name + ": expected a choice, got none");
    for (auto one = choices.begin(); one != choices.end(); ++one) {
      auto const odd = [](char letter) {
        return static_cast<unsigned char>(letter) < ' ' || letter == 127 || letter == ',' ||
               letter == '"';
      };
      if (one->empty() || std::any_of(one->begin(), one->end(), odd))
        throw search_error(name + ": a choice has no comma, quote or control character");
      if (std::find(choices.begin(), one, *one) != one)
        throw search_error(name + ": the choice " + *one + " comes twice");
    }
  }

  std::vector<search_parameter> parameters_;
};

}  // namespace tessera
