// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/unicode.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tessera::detail {

/// A value in a JSON file and the way to it, which every complaint about it names.
class json_place {
 public:
  using json = nlohmann::json;

  explicit json_place(json const& value, std::string path = "")
      : value_(&value), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string const& what) const {
    throw text_error((path_.empty() ? "" : path_ + ": ") + what);
  }
  [[noreturn]] void expected(std::string const& what) const {
    auto got = value_->dump(-1, ' ', true, json::error_handler_t::replace);
    if (got.size() > 40) got = got.substr(0, 40) + "...";
    fail("expected " + what + ", got " + got);
  }
  [[nodiscard]] auto path() const -> std::string const& { return path_; }
  [[nodiscard]] auto value() const -> json const& { return *value_; }
  [[nodiscard]] auto is_null() const -> bool { return value_->is_null(); }
  [[nodiscard]] auto is_text() const -> bool { return value_->is_string(); }
  [[nodiscard]] auto is_list() const -> bool { return value_->is_array(); }
  [[nodiscard]] auto has(char const* key) const -> bool {
    auto const found = value_->is_object() ? value_->find(key) : value_->end();
    return found != value_->end() && not found->is_null();
  }
  /// The member, which has to be there.
  [[nodiscard]] auto operator[](char const* key) const -> json_place {
    if (not value_->is_object()) expected("an object");
    if (not value_->contains(key)) fail(std::string{"has no \""} + key + '"');
    return json_place(value_->at(key), path_.empty() ? key : path_ + '.' + key);
  }
  [[nodiscard]] auto type() const -> std::string { return (*this)["type"].text(); }

  [[nodiscard]] auto text() const -> std::string const& {
    if (not value_->is_string()) expected("a string");
    return value_->get_ref<std::string const&>();
  }
  [[nodiscard]] auto flag() const -> bool {
    if (not value_->is_boolean()) expected("true or false");
    return value_->get<bool>();
  }
  [[nodiscard]] auto number() const -> double {
    if (not value_->is_number()) expected("a number");
    return value_->get<double>();
  }
  [[nodiscard]] auto whole(std::uint64_t most = std::numeric_limits<std::uint32_t>::max()) const
      -> std::uint32_t {
    if (not value_->is_number_unsigned() || value_->get<std::uint64_t>() > most)
      expected("a whole number from 0 to " + std::to_string(most));
    return value_->get<std::uint32_t>();
  }
  [[nodiscard]] auto text(char const* key, std::string const& otherwise) const -> std::string {
    return has(key) ? (*this)[key].text() : otherwise;
  }
  [[nodiscard]] auto flag(char const* key, bool otherwise) const -> bool {
    return has(key) ? (*this)[key].flag() : otherwise;
  }
  /// One code point.
  [[nodiscard]] auto letter(char const* key, std::string const& otherwise) const -> std::string {
    auto result = text(key, otherwise);
    if (result.empty() || code_point_at(result, 0).bytes != result.size())
      (*this)[key].expected("one letter");
    return result;
  }

  /// Calls each(place) for the elements of a list.
  void for_each(auto const& each) const {
    if (not value_->is_array()) expected("a list");
    for (auto i = std::size_t{0}; i < value_->size(); ++i)
      each(json_place((*value_)[i], path_ + '[' + std::to_string(i) + ']'));
  }
  /// Calls each(key, place) for the members of an object.
  void for_each_member(auto const& each) const {
    if (not value_->is_object()) expected("an object");
    for (auto const& [key, member] : value_->items())
      each(key, json_place(member, path_ + "[" + json_text(key) + "]"));
  }

 private:
  json const* value_;
  std::string path_;
};

/// Calls make(place, to) for a step, or for each one of a Sequence of them, whose list is `list`.
void for_each_step(json_place const& step, char const* list, auto const& make, int depth = 0) {
  if (step.is_null()) return;
  if (depth > 8) step.fail("a Sequence has more than eight others around it");
  if (step.type() != "Sequence") return make(step);
  step[list].for_each(
      [&](json_place const& inner) { for_each_step(inner, list, make, depth + 1); });
}

/// A pattern {"String": ...} as a regular expression that matches it alone, or {"Regex": ...}.
[[nodiscard]] inline auto pattern_of(json_place const& pattern) -> std::string {
  if (pattern.has("Regex")) return pattern["Regex"].text();
  auto quoted = std::string{};
  for (auto const c : pattern["String"].text()) {
    if (static_cast<unsigned char>(c) < 128 &&
        ascii_kinds[static_cast<unsigned char>(c)] == kind::other && c > 0x20)
      quoted += '\\';
    quoted += c;
  }
  return quoted;
}

}  // namespace tessera::detail
