// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/protocol.hpp>
#include <tessera/io/json_text.hpp>

#include <nlohmann/json.hpp>

/// The whole run of a group as JSON lines: its settings, every event with its verdict, the outcome.
namespace tessera {

/// A record that is none: the line, and what is wrong with it.
struct record_error : std::runtime_error {
  std::size_t line;
  record_error(std::size_t at, std::string const& what)
      : std::runtime_error("record, line " + std::to_string(at) + ": " + what), line(at) {}
};

/// What a record says.
struct group_record {
  struct entry {
    group_event event;
    group_verdict verdict;
  };
  std::string question;
  std::vector<std::string> agents;
  group_options options;
  bool by_words = true;  ///< answers were compared by their words, not by another function
  std::vector<entry> entries;
  std::optional<group_outcome> outcome;  ///< nothing where the run was cut off
};

namespace detail {

/// The text with U+FFFD for bytes that are no UTF-8, as JSON has it.
[[nodiscard]] inline auto as_utf8(std::string_view text) -> std::string {
  auto result = std::string{};
  for (auto at = std::size_t{0}; at < text.size();) {
    auto const piece = utf8_piece_at(text, at);
    result += piece.is_letter ? text.substr(at, piece.bytes) : "\xEF\xBF\xBD";
    at += piece.bytes;
  }
  return result;
}

/// Members of an object, one after another.
class json_line {
 public:
  auto put(std::string_view key, std::string_view value) -> json_line& {
    return raw(key, json_text(value));
  }
  template <class N>
    requires std::is_arithmetic_v<N>
  auto put(std::string_view key, N value) -> json_line& {
    return raw(key, nlohmann::json(value).dump());
  }
  auto raw(std::string_view key, std::string_view value) -> json_line& {
    text_ += text_.empty() ? "{" : ",";
    text_ += json_text(key);
    text_ += ':';
    text_ += value;
    return *this;
  }
  [[nodiscard]] auto done() const -> std::string { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

/// A line's members, each asked for once; what was not asked for should not be there.
class record_line {
 public:
  record_line(std::string_view text, std::size_t number) : number_(number) {
    auto value = nlohmann::json::parse(text, nullptr, false);
    if (not value.is_object())
      fail("expected a JSON object, got " + std::string{text.substr(0, 60)});
    values_ = std::move(value);
  }
  [[noreturn]] void fail(std::string const& what) const { throw record_error(number_, what); }
  [[nodiscard]] auto has(char const* key) const -> bool { return values_.contains(key); }

  [[nodiscard]] auto number(char const* key) -> std::size_t {
    auto const value = take(key, "a whole number");
    if (not value.is_number_unsigned()) wrong(key, "a whole number", value);
    return value.get<std::size_t>();
  }
  [[nodiscard]] auto real(char const* key) -> double {
    auto const value = take(key, "a number");
    if (not value.is_number()) wrong(key, "a number", value);
    return value.get<double>();
  }
  [[nodiscard]] auto flag(char const* key) -> bool {
    auto const value = take(key, "true or false");
    if (not value.is_boolean()) wrong(key, "true or false", value);
    return value.get<bool>();
  }
  [[nodiscard]] auto text(char const* key) -> std::string {
    auto const value = take(key, "a text");
    if (not value.is_string()) wrong(key, "a text", value);
    return value.get<std::string>();
  }
  [[nodiscard]] auto texts(char const* key) -> std::vector<std::string> {
    auto const value = take(key, "a list of texts");
    auto const all = value.is_array() &&
                     std::ranges::all_of(value, [](auto const& one) { return one.is_string(); });
    if (not all) wrong(key, "a list of texts", value);
    return value.get<std::vector<std::string>>();
  }
  [[nodiscard]] auto milliseconds(char const* key) -> group_time {
    auto const value = number(key);
    if (value > std::size_t{1} << 53U) fail(std::string{key} + ": expected a time, got too much");
    return group_time{static_cast<group_time::rep>(value)};
  }
  template <class E> [[nodiscard]] auto word(char const* key) -> E {
    auto const name = text(key);
    auto const value = value_of<E>(name);
    if (not value) fail(std::string{key} + ": got " + name + ", which is none");
    return *value;
  }
  void ends() const {
    if (not values_.empty()) fail("expected no member " + values_.begin().key());
  }

 private:
  auto take(char const* key, char const* what) -> nlohmann::json {
    auto const found = values_.find(key);
    if (found == values_.end()) fail(std::string{"expected "} + key + ", " + what + ", got none");
    auto value = std::move(*found);
    values_.erase(found);
    return value;
  }
  [[noreturn]] void wrong(char const* key, char const* what, nlohmann::json const& got) const {
    fail(std::string{key} + ": expected " + what + ", got " + got.type_name());
  }

  std::size_t number_;
  nlohmann::json values_;
};

[[nodiscard]] inline auto header_line(group_record const& record) -> std::string {
  auto agents = std::string{};
  for (auto const& one : record.agents) agents += (agents.empty() ? "" : ",") + json_text(one);
  auto const& o = record.options;
  return json_line{}
      .put("record", "tessera group 2")
      .put("question", record.question)
      .raw("agents", "[" + agents + "]")
      .put("max_new_answers", o.max_new_answers)
      .put("attempts", o.attempts)
      .put("time_limit", o.time_limit.count())
      .put("most_similar", o.new_answers.most_similar)
      .put("by_words", record.by_words)
      .done();
}
[[nodiscard]] inline auto event_line(group_event const& event, std::string_view agent,
                                     group_verdict verdict) -> std::string {
  auto line = json_line{};
  line.put("time", event.time.count()).put("event", name_of(event.kind)).put("agent", agent);
  line.put("round", event.round);
  if (event.kind == group_event_kind::seen) line.put("view", event.view);
  if (not event.target.empty()) line.put("target", event.target);
  if (not event.text.empty()) line.put("text", event.text);
  return line.put("verdict", name_of(verdict)).done();
}
[[nodiscard]] inline auto outcome_line(group_outcome const& outcome,
                                       std::vector<std::string> const& agents) -> std::string {
  auto line = json_line{};
  line.put("outcome", name_of(outcome.cause));
  if (outcome.winner) line.put("winner", agents[*outcome.winner]).put("answer", outcome.answer);
  return line.put("presented", outcome.presented).done();
}

[[nodiscard]] inline auto agent_named(record_line& line, char const* key,
                                      std::vector<std::string> const& agents) -> std::size_t {
  auto const name = line.text(key);
  auto const found = std::ranges::find(agents, name);
  if (found == agents.end()) line.fail(std::string{key} + ": got " + name + ", which is none");
  return static_cast<std::size_t>(found - agents.begin());
}
[[nodiscard]] inline auto read_header(record_line line) -> group_record {
  auto const kind = line.text("record");
  if (kind != "tessera group 1" && kind != "tessera group 2")
    line.fail("record: expected tessera group 2, got " + kind);
  auto result = group_record{};
  result.question = line.text("question");
  result.agents = line.texts("agents");
  result.options.max_new_answers = line.number("max_new_answers");
  result.options.attempts = line.number("attempts");
  result.options.time_limit = line.milliseconds("time_limit");
  result.options.new_answers.most_similar = line.real("most_similar");
  // Words of the first kind had no signs: it is a function that is not known any more.
  result.by_words = line.flag("by_words") && kind == "tessera group 2";
  line.ends();
  try {
    (void)group_protocol(result.agents, result.options);
  } catch (std::invalid_argument const& e) {
    line.fail(e.what());
  }
  return result;
}
[[nodiscard]] inline auto read_event(record_line line, std::vector<std::string> const& agents)
    -> group_record::entry {
  auto result = group_record::entry{};
  auto& event = result.event;
  event.time = line.milliseconds("time");
  event.kind = line.word<group_event_kind>("event");
  event.agent = agent_named(line, "agent", agents);
  event.round = line.number("round");
  if (line.has("view")) event.view = line.number("view");
  if (line.has("target")) event.target = line.text("target");
  if (line.has("text")) event.text = line.text("text");
  result.verdict = line.word<group_verdict>("verdict");
  line.ends();
  return result;
}
[[nodiscard]] inline auto read_outcome(record_line line, std::vector<std::string> const& agents)
    -> group_outcome {
  auto result = group_outcome{.cause = line.word<group_cause>("outcome")};
  if (line.has("winner")) {
    result.winner = agent_named(line, "winner", agents);
    result.answer = line.text("answer");
  }
  result.presented = line.flag("presented");
  line.ends();
  return result;
}

}  // namespace detail

/// A group that writes down what happens to it, a line at a time and without its line break.
class group_recorder {
 public:
  using writer = std::function<void(std::string_view line)>;

  /// `by_words` is false where `options` compare answers by another function than `word_overlap`.
  group_recorder(std::string_view question, std::vector<std::string> agents, group_options options,
                 writer write, bool by_words = true)
      : group_(agents, options), agents_(std::move(agents)), write_(std::move(write)) {
    write_(detail::header_line({.question = std::string{question},
                                .agents = agents_,
                                .options = std::move(options),
                                .by_words = by_words,
                                .entries = {},
                                .outcome = {}}));
  }
  [[nodiscard]] auto group() const -> group_protocol const& { return group_; }

  /// `group_protocol::handle`, of the event as the record can hold it: in UTF-8.
  [[nodiscard]] auto handle(group_event event) -> group_reaction {
    event.target = detail::as_utf8(event.target);
    event.text = detail::as_utf8(event.text);
    if (group_.ended()) return group_.handle(event);  // the record ends with the group
    auto reaction = group_.handle(event);
    write_(detail::event_line(event, agents_[event.agent], reaction.verdict));
    if (group_.ended()) write_(detail::outcome_line(group_.outcome(), agents_));
    return reaction;
  }

 private:
  group_protocol group_;
  std::vector<std::string> agents_;
  writer write_;
};

/// Reads a record.
///
/// Errors  record_error names the line that is damaged, or the last one where it is cut off in it
[[nodiscard]] inline auto read_record(std::string_view text) -> group_record {
  auto result = group_record{};
  auto number = std::size_t{0};
  while (not text.empty()) {
    auto const end = text.find('\n');
    auto const line = text.substr(0, end);
    ++number;
    if (end == std::string_view::npos) throw record_error(number, "expected its end, got none");
    text.remove_prefix(end + 1);
    auto parsed = detail::record_line(line, number);
    if (result.outcome) parsed.fail("expected nothing behind the outcome");
    if (number == 1) {
      result = detail::read_header(std::move(parsed));
    } else if (parsed.has("outcome")) {
      result.outcome = detail::read_outcome(std::move(parsed), result.agents);
    } else {
      result.entries.push_back(detail::read_event(std::move(parsed), result.agents));
    }
  }
  if (number == 0) throw record_error(1, "expected a record, got nothing");
  return result;
}

/// Lets everything happen again, and gives the group as it was at the end.
///
/// Errors  record_error names the first line that the rules do not lead to; std::invalid_argument
///         where answers were compared by a function that is not given here
[[nodiscard]] inline auto replay(group_record const& record,
                                 decltype(novelty::similarity) similarity = {}) -> group_protocol {
  auto options = record.options;
  if (not record.by_words && not similarity)
    throw std::invalid_argument(
        "record: expected the function that its answers were compared by, got none");
  if (similarity) options.new_answers.similarity = std::move(similarity);
  auto group = group_protocol(record.agents, std::move(options));
  auto line = std::size_t{1};
  for (auto const& [event, verdict] : record.entries) {
    ++line;
    auto const got = group.handle(event).verdict;
    if (got != verdict)
      throw record_error(line, "expected the verdict " + std::string{name_of(got)} + ", got " +
                                   std::string{name_of(verdict)});
  }
  if (group.ended() != record.outcome.has_value())
    throw record_error(line + 1, group.ended() ? "expected the outcome, got none"
                                               : "expected more events, got the outcome");
  if (record.outcome && group.ended() && group.outcome() != *record.outcome)
    throw record_error(
        line + 1, "expected another outcome, by " + std::string{name_of(group.outcome().cause)});
  return group;
}

}  // namespace tessera
