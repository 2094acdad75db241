// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/action.hpp>
#include <tessera/group/detail/event_lines.hpp>
#include <tessera/group/detail/http_call.hpp>
#include <tessera/io/json_text.hpp>

#include <thread>

/// An agent behind an OpenAI-compatible address. Boost.Beast takes long to compile: include it
/// where agents are made.
namespace tessera {

struct remote_agent_options {
  std::string url = {};    ///< "http://localhost:8000/v1"
  std::string model = {};  ///< by the name that is known there; empty: the only one there
  std::string token = {};
  std::string character = {};  ///< a system message of its own
  std::optional<double> temperature = {};
  std::optional<double> top_p = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::size_t> max_tokens = {};
  std::chrono::milliseconds silence{30'000};      ///< longest wait for the next bytes
  std::size_t most_text = std::size_t{1} << 20U;  ///< bytes of a reply
};

namespace detail {

/// JSON that an address sends, which may be anything; discarded where it is none.
///
/// Errors  std::runtime_error for more levels than are read
[[nodiscard]] inline auto json_of_address(std::string_view text) -> nlohmann::json {
  if (is_too_deep(text))
    throw std::runtime_error("expected JSON of at most " + std::to_string(most_json_levels) +
                             " levels, got more");
  return nlohmann::json::parse(text, nullptr, false);
}
/// A member of members, without a copy; null where it is not there.
[[nodiscard]] inline auto find_in(nlohmann::json const& value, char const* pointer)
    -> nlohmann::json const* {
  auto const at = nlohmann::json::json_pointer{pointer};
  return value.contains(at) ? &value[at] : nullptr;
}
/// The same of a text that is not empty.
[[nodiscard]] inline auto text_in(nlohmann::json const& value, char const* pointer)
    -> std::string const* {
  auto const* const found = find_in(value, pointer);
  auto const* const text = found != nullptr ? found->get_ptr<std::string const*>() : nullptr;
  return text != nullptr && not text->empty() ? text : nullptr;
}
/// As much of a text as a line has room for, in UTF-8.
[[nodiscard]] inline auto beginning_of_text(std::string_view text) -> std::string {
  constexpr auto most = std::size_t{200};
  auto end = std::min(text.size(), most);
  while (end < text.size() && end > most - 4 && (static_cast<unsigned char>(text[end]) >> 6U) == 2)
    --end;
  return valid_utf8(trimmed(text.substr(0, end)));
}
/// What an address says of its error, in one of the forms that are in use, or how it begins.
[[nodiscard]] inline auto message_of_error(std::string_view body) -> std::string {
  auto const parsed = is_too_deep(body) ? nlohmann::json{} : json_of_address(body);
  for (auto const* const place : {"/error", "/error/message", "/message", "/detail"})
    if (auto const* const text = text_in(parsed, place)) return beginning_of_text(*text);
  if (auto const* const detail = find_in(parsed, "/detail"))
    return beginning_of_text(
        detail->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return beginning_of_text(body);
}

/// The conversation of one agent with its address.
class remote_conversation {
 public:
  explicit remote_conversation(remote_agent_options options)
      : options_(std::move(options)), address_(address_of(options_.url)) {
    auto const printable = [](char one) { return one > ' ' && one < 0x7F; };
    if (not std::ranges::all_of(options_.token, printable))
      throw std::invalid_argument("remote_agent: expected a token of printable letters");
  }

  [[nodiscard]] static auto address_of(std::string const& url) -> http_address {
    if (url.starts_with("https://"))
      throw std::invalid_argument(
          "remote_agent: expected http://<host>:<port>, since it speaks no TLS (a proxy before the "
          "address does), got " +
          url);
    return http_address(url);
  }

  void take_round(agent_round& round) {
    begin(round.request());
    round.seen(version_);
    auto const presents = round.request().kind == group_command_kind::present;
    for (;;) {
      auto reply = ask(round);
      if (round.cancelled()) return;
      if (auto const view = std::exchange(injected_, std::nullopt)) {
        add_injected(*view, reply);
        round.seen(version_);
        continue;
      }
      messages_.push_back({"assistant", reply});
      if (presents) {
        round.finish({group_event_kind::presentation, {}, std::move(reply)});
        return;
      }
      round.finish(parse_action(reply));
      return;
    }
  }

 private:
  void begin(agent_request const& asked) {
    auto const& view = asked.view;
    injected_.reset();
    if (asked.kind == group_command_kind::present) {
      messages_ = presenting_prompt(asked.task, view, asked.label, options_.character);
    } else if (asked.kind == group_command_kind::retry && not messages_.empty()) {
      auto text = version_ < view.version ? injected_text(view, version_) + "\n\n" : std::string{};
      text += correction_text(view, asked.wrong) + "\n\n" + action_format(view);
      messages_.push_back({"user", std::move(text)});
    } else {
      messages_ = answering_prompt(asked.task, view, options_.character);
      messages_.back().content += "\n\n" + action_format(view);
    }
    version_ = view.version;
  }
  /// What it was about to say is kept, so that it can go on from there.
  void add_injected(group_view const& view, std::string const& unfinished) {
    if (not unfinished.empty()) messages_.push_back({"assistant", unfinished});
    messages_.push_back({"user", injected_text(view, version_) + "\n\n" + action_format(view)});
    version_ = view.version;
  }
  [[nodiscard]] auto body() const -> std::string {
    auto messages = nlohmann::json::array();
    for (auto const& one : messages_)
      messages.push_back({{"role", one.role}, {"content", one.content}});
    auto result = nlohmann::json{
        {"model", options_.model}, {"messages", std::move(messages)}, {"stream", true}};
    if (options_.temperature) result["temperature"] = *options_.temperature;
    if (options_.top_p) result["top_p"] = *options_.top_p;
    if (options_.seed) result["seed"] = *options_.seed;
    if (options_.max_tokens) result["max_tokens"] = *options_.max_tokens;
    return result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  /// The reply, or as much of it as came before the round was over or had new answers.
  [[nodiscard]] auto ask(agent_round& round) -> std::string try {
    reply_.clear();
    ended_ = false;
    auto const wanted = [&] {
      if (not injected_) injected_ = round.new_view();
      return not round.cancelled() && not injected_;
    };
    if (options_.model.empty() && not find_model(wanted)) return {};
    auto const sent = body();
    auto const until = http_call::clock::now() + options_.silence;
    auto tried = std::optional<http_call>{};
    for (;;) {
      tried.emplace(address_, "/chat/completions", sent, options_.token);
      auto const status = tried->await_head(options_.silence, wanted);
      if (status == 0) return {};
      if (status == 200) break;
      auto const busy = status == 429 || status == 503;
      if (not busy || http_call::clock::now() + pause >= until) refuse(status, *tried, wanted);
      if (not rest(wanted)) return {};
    }
    auto& post = *tried;
    if (auto const type = post.header(boost::beast::http::field::content_type);
        not boost::beast::iequals(type.substr(0, 17), "text/event-stream"))
      throw std::runtime_error("expected text/event-stream, got " + type.substr(0, 60));
    auto lines = event_lines{};
    while (not ended_) {
      auto const bytes = post.next(options_.silence, wanted);
      if (not bytes) return reply_;
      if (bytes->empty()) throw std::runtime_error("the answer broke off");
      lines.feed(*bytes, [&](std::string const& data) { hear(round, data); });
    }
    return reply_;
  } catch (std::exception const& e) {
    throw std::runtime_error(options_.url + ": " + e.what());
  }
  /// The name of the only model that the address has. False where `wanted` says so.
  [[nodiscard]] auto find_model(std::function<bool()> const& wanted) -> bool {
    auto call = http_call(address_, "/models", std::nullopt, options_.token);
    auto const status = call.await_head(options_.silence, wanted);
    if (status == 0) return false;
    if (status != 200) refuse(status, call, wanted);
    auto const text = whole(call, most_models, wanted);
    if (not wanted()) return false;
    if (text.size() > most_models)
      throw std::runtime_error("expected a list of models of at most " +
                               std::to_string(most_models) + " bytes, got more");
    auto const list = json_of_address(text);
    auto names = std::vector<std::string>{};
    if (auto const* const data = find_in(list, "/data"); data != nullptr && data->is_array())
      for (auto const& one : *data)
        if (auto const* const name = text_in(one, "/id")) names.push_back(*name);
    if (names.size() != 1) throw std::runtime_error(fault_of_models(names));
    options_.model = names.front();
    return true;
  }
  [[nodiscard]] static auto fault_of_models(std::vector<std::string> const& names) -> std::string {
    auto text = std::string{"expected the name of a model, since "};
    if (names.empty()) return text + "the address names none that it has";
    for (auto i = std::size_t{0}; i < names.size() && i < 20; ++i)
      text += (i == 0 ? "the address has " : ", ") + names[i].substr(0, 100);
    return text;
  }
  static constexpr auto most_models = std::size_t{4} << 20U;  ///< bytes of a list of them
  static constexpr auto most_error = std::size_t{64} * 1024;  ///< bytes of an error
  /// The rest of an answer; where it is more than `most`, so much and little more.
  [[nodiscard]] auto whole(http_call& call, std::size_t most,
                           std::function<bool()> const& wanted) const -> std::string {
    auto text = std::string{};
    for (auto more = call.next(options_.silence, wanted); more && not more->empty();
         more = call.next(options_.silence, wanted)) {
      text += *more;
      if (text.size() > most) break;
    }
    return text;
  }
  static constexpr auto pause = std::chrono::milliseconds{1000};
  /// Before a busy address is asked again. False where `wanted` says so.
  [[nodiscard]] static auto rest(std::function<bool()> const& wanted) -> bool {
    constexpr auto slice = std::chrono::milliseconds{20};
    for (auto rested = slice; rested < pause; rested += slice) {
      if (not wanted()) return false;
      std::this_thread::sleep_for(slice);
    }
    return true;
  }
  /// One piece of the reply.
  void hear(agent_round& round, std::string const& data) {
    if (ended_) return;
    if (data == "[DONE]") {
      ended_ = true;
      return;
    }
    auto const chunk = json_of_address(data);
    if (not chunk.is_object()) throw std::runtime_error("expected JSON in its events, got none");
    if (auto const* const error = find_in(chunk, "/error");
        error != nullptr && not error->is_null())
      throw std::runtime_error(message_of_error(data));
    // Not all say [DONE] behind it.
    ended_ = text_in(chunk, "/choices/0/finish_reason") != nullptr;
    auto const* const piece = text_in(chunk, "/choices/0/delta/content");
    if (piece == nullptr) return;
    reply_ += *piece;
    if (reply_.size() > options_.most_text)
      throw std::runtime_error("the reply has more than " + std::to_string(options_.most_text) +
                               " bytes");
    round.text(*piece);
  }
  [[noreturn]] void refuse(unsigned status, http_call& post,
                           std::function<bool()> const& wanted) const {
    auto text = "status " + std::to_string(status);
    if (auto const place = post.header(boost::beast::http::field::location);
        status / 100 == 3 && not place.empty())
      text += " to " + beginning_of_text(place);
    auto const message = message_of_error(whole(post, most_error, wanted));
    throw std::runtime_error(text + (message.empty() ? "" : ", " + message));
  }

  remote_agent_options options_;
  http_address address_;
  std::vector<group_message> messages_;
  std::size_t version_ = 0;  ///< of the answers that it was told of
  std::optional<group_view> injected_;
  std::string reply_;
  bool ended_ = false;
};

}  // namespace detail

/// Asks POST <url>/chat/completions, streamed, for the model of that name, or where none is given
/// for the only one of GET <url>/models. The action is asked for as JSON (`parse_action`);
/// one that is wrong is told what was wrong, in the same conversation. Answers that are new end
/// what it says, and it goes on from there with them.
///
/// Errors  std::invalid_argument for a url that is not http://<host>:<port>; an address that is
///         dead, silent, has several models and was asked for none, answers another status or
///         breaks off is a failure of this agent alone: tests/group/remote_agent.cpp
class remote_agent : public group_agent {
 public:
  explicit remote_agent(remote_agent_options options)
      : conversation_(std::move(options)),
        rounds_([this](agent_round& round) { conversation_.take_round(round); }) {}

  void start(agent_request request, std::shared_ptr<agent_sink> sink) override {
    rounds_.start(std::move(request), std::move(sink));
  }
  auto inject(group_view const& view) -> bool override { return rounds_.inject(view); }
  void cancel() override { rounds_.cancel(); }

 private:
  detail::remote_conversation conversation_;
  threaded_agent rounds_;  ///< ends before the conversation does
};

}  // namespace tessera
