// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/agent.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

/// Actions of agents that are told to reply in JSON, and may do otherwise.
namespace tessera {

namespace detail {

[[nodiscard]] inline auto malformed(std::string why) -> agent_action {
  return {group_event_kind::malformed, {}, std::move(why)};
}
/// The JSON values of a text, those of lists one by one; nothing where it is anything else.
[[nodiscard]] inline auto json_values(std::string_view text) -> std::vector<nlohmann::json> {
  auto result = std::vector<nlohmann::json>{};
  auto in = std::istringstream{std::string{tessera::trimmed(text)}};
  while (in.peek() != std::char_traits<char>::eof()) try {
      auto value = nlohmann::json{};
      in >> value >> std::ws;
      if (value.is_array())
        for (auto& one : value) result.push_back(std::move(one));
      else
        result.push_back(std::move(value));
    } catch (nlohmann::json::exception const&) {
      return {};
    }
  return result;
}
/// Where three backticks at `at` stand alone at the beginning of their line, or at its end.
[[nodiscard]] inline auto begins_line(std::string_view text, std::size_t at) -> bool {
  auto const before = text.substr(0, at).find_last_not_of(" \t");
  return before == std::string_view::npos || text[before] == '\n';
}
[[nodiscard]] inline auto ends_line(std::string_view text, std::size_t at) -> bool {
  auto const behind = text.find_first_not_of(" \t\r", text.find_first_not_of('`', at));
  return behind == std::string_view::npos || text[behind] == '\n';
}
/// What is behind backticks and the name of a language, if they have one.
[[nodiscard]] inline auto behind_name(std::string_view text, std::size_t at) -> std::size_t {
  constexpr auto names = std::string_view{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"};
  return text.find_first_not_of(names, text.find_first_not_of('`', at));
}
/// Where they begin a line, or end it but for a name.
[[nodiscard]] inline auto opens_block(std::string_view text, std::size_t at) -> bool {
  return begins_line(text, at) || ends_line(text, behind_name(text, at));
}
/// What stands in a block that is one whole line, where there are no backticks behind it.
[[nodiscard]] inline auto in_one_line(std::string_view text, std::size_t first)
    -> std::optional<std::string_view> {
  constexpr auto fence = std::string_view{"```"};
  constexpr auto none = std::string_view::npos;
  auto const line = text.substr(0, text.find('\n', first));
  auto const begin = behind_name(line, first);
  auto end = line.rfind(fence);
  while (end > 0 && line[end - 1] == '`') --end;
  if (begin == none || end < begin || not begins_line(text, first) || not ends_line(text, end) ||
      text.find(fence, line.size()) != none)
    return std::nullopt;
  return text.substr(begin, end - begin);
}
/// What stands in the only block of code of a text, as models like to write JSON; else the text.
/// What is in a line with others is none: an answer may have blocks of its own.
[[nodiscard]] inline auto unfenced(std::string_view text) -> std::string_view {
  constexpr auto fence = std::string_view{"```"};
  constexpr auto none = std::string_view::npos;
  auto first = text.find(fence);
  while (first != none && not opens_block(text, first))
    first = text.find(fence, text.find_first_not_of('`', first));
  if (first == none) return text;
  if (auto const line = in_one_line(text, first)) return *line;
  auto const begin = text.find('\n', first);
  if (begin == none) return text;
  auto const last_before = [&](std::size_t at) {
    at = text.rfind(fence, at);
    while (at > 0 && text[at - 1] == '`') --at;  // first is not behind it
    return at;
  };
  auto end = last_before(text.size());
  while (end > begin && not begins_line(text, end) && not ends_line(text, end))
    end = last_before(end - 1);
  return end > begin ? text.substr(begin, end - begin) : text;
}
/// A member that is a text; anything else is an error that says so.
[[nodiscard]] inline auto text_member(nlohmann::json const& object, char const* key)
    -> std::optional<std::string> {
  auto const found = object.find(key);
  if (found == object.end() || not found->is_string()) return std::nullopt;
  return found->get<std::string>();
}
[[nodiscard]] inline auto is_action(nlohmann::json const& value, char const* name) -> bool {
  return value.is_object() && value.contains("action") && value["action"] == name;
}
/// Why several values are no action: the field's own mistakes by their names.
[[nodiscard]] inline auto fault_of_many(std::vector<nlohmann::json> const& values) -> std::string {
  auto votes = std::size_t{0};
  auto answers = std::size_t{0};
  for (auto const& one : values) {
    votes += is_action(one, "vote") ? 1 : 0;
    answers += is_action(one, "new_answer") ? 1 : 0;
  }
  if (votes > 0 && answers > 0) return "expected one action, got a vote and a new answer together";
  if (votes > 1) return "expected one vote, got " + std::to_string(votes);
  if (answers > 1) return "expected one new answer, got " + std::to_string(answers);
  return "expected one JSON object, got " + std::to_string(values.size());
}
[[nodiscard]] inline auto has_only(nlohmann::json const& object,
                                   std::initializer_list<std::string_view> keys) -> std::string {
  for (auto const& [key, value] : object.items())
    if (std::ranges::find(keys, key) == keys.end()) return key;
  return {};
}
[[nodiscard]] inline auto vote_in(nlohmann::json const& object) -> agent_action {
  if (object.contains("content"))
    return malformed("expected one action, got a vote with the content of a new answer");
  auto agent = text_member(object, "agent");
  auto reason = text_member(object, "reason");
  if (not agent) return malformed("expected a vote with \"agent\", a text, got none");
  if (not reason) return malformed("expected a vote with \"reason\", a text, got none");
  if (auto const other = has_only(object, {"action", "agent", "reason"}); not other.empty())
    return malformed("expected a vote without \"" + other + "\"");
  return {group_event_kind::vote, std::move(*agent), std::move(*reason)};
}
[[nodiscard]] inline auto answer_in(nlohmann::json const& object) -> agent_action {
  if (object.contains("agent"))
    return malformed("expected one action, got a new answer with the agent of a vote");
  auto content = text_member(object, "content");
  if (not content) return malformed("expected a new answer with \"content\", a text, got none");
  if (auto const other = has_only(object, {"action", "content"}); not other.empty())
    return malformed("expected a new answer without \"" + other + "\"");
  return {group_event_kind::answer, {}, std::move(*content)};
}

}  // namespace detail

/// The action in a reply, which has to be one JSON object and nothing else, or has it in the only
/// block of code, between three backticks at the beginning of a line and those of its end:
///
///     {"action": "new_answer", "content": "..."}
///     {"action": "vote", "agent": "agent2", "reason": "..."}
///
/// Anything else is `malformed`, and its text says what was expected and what came.
[[nodiscard]] inline auto parse_action(std::string_view reply) -> agent_action {
  auto const values = detail::json_values(detail::unfenced(reply));
  if (values.empty())
    return detail::malformed("expected one JSON object and nothing else, got " +
                             std::string{trimmed(reply).empty() ? "nothing" : "other text"});
  if (values.size() > 1) return detail::malformed(detail::fault_of_many(values));
  auto const& value = values.front();
  if (detail::is_action(value, "vote")) return detail::vote_in(value);
  if (detail::is_action(value, "new_answer")) return detail::answer_in(value);
  return detail::malformed(R"(expected "action" to be "new_answer" or "vote")");
}

}  // namespace tessera
