// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/engine.hpp>
#include <tessera/group/agent.hpp>
#include <tessera/text/conversation.hpp>

/// Agents that share the weights of one engine.
namespace tessera::inline TESSERA_TARGET {

/// The model that agents are made of: an engine, and how conversations become its tokens.
struct agent_model {
  engine* runs = nullptr;  ///< lives longer than its agents
  /// A conversation up to where the answer begins. Called on several threads at once.
  std::function<std::vector<std::uint32_t>(std::vector<group_message> const&)> encode;
  std::function<std::unique_ptr<text_decoder>()> make_decoder;
  std::shared_ptr<token_index const> index;
  std::vector<std::uint32_t> end_tokens;
};

/// What makes an agent differ from others of its model.
struct engine_agent_options {
  std::string character = {};      ///< a system message of its own
  sampling_options sampling = {};  ///< max_tokens and stop are those of an answer
  std::size_t reason_tokens = 40;  ///< of a vote's reason
};

}  // namespace tessera::inline TESSERA_TARGET

namespace tessera::detail::inline TESSERA_TARGET {

/// The round of an engine_agent, which its generations keep alive.
class engine_round : public std::enable_shared_from_this<engine_round> {
 public:
  engine_round(agent_model model, engine_agent_options options)
      : model_(std::move(model)), options_(std::move(options)) {
    if (model_.runs == nullptr || not model_.encode || not model_.make_decoder || not model_.index)
      throw std::invalid_argument(
          "engine_agent: expected an engine, an encoder, decoders and an index of tokens");
    if (model_.end_tokens.empty())
      throw std::invalid_argument("engine_agent: expected a token that ends a text, got none");
    if (options_.reason_tokens == 0 || options_.sampling.max_tokens == 0)
      throw std::invalid_argument("engine_agent: expected a token of a reason and of an answer");
    options_.sampling.check(model_.runs->bounds().vocabulary);
    beginnings_ = spoken_constraint::beginnings_of(*model_.index, model_.end_tokens);
  }

  void start(agent_request request, std::shared_ptr<agent_sink> sink) {
    auto const lock = std::lock_guard{mutex_};
    ticket_.cancel();
    request_ = std::move(request);
    sink_ = std::move(sink);
    begin();
  }
  void inject(group_view const& view) {
    auto const lock = std::lock_guard{mutex_};
    if (not sink_) return;  // what it has said is stale, and the group knows that
    ticket_.cancel();
    request_.view = view;
    begin();
  }
  void cancel() {
    auto const lock = std::lock_guard{mutex_};
    ticket_.cancel();
    sink_.reset();
  }

 private:
  enum class step : std::uint8_t { action, target, reason, answer, presentation };

  void begin() {
    auto const& view = request_.view;
    action_ = {};
    auto const presents = request_.kind == group_command_kind::present;
    if (presents)
      speak(step::presentation,
            brief_presenting_prompt(request_.task, view, request_.label, options_.character),
            options_.sampling.max_tokens);
    else if (not view.may_vote)
      answer();
    else if (not view.may_answer || request_.kind == group_command_kind::retry)
      name();
    else
      choose(step::action,
             "What do you do? Say vote where one of the answers is right, else new_answer.",
             actions());
    if (sink_) sink_->seen(view.version);
  }
  void answer() { speak(step::answer, asked_for({}), options_.sampling.max_tokens); }
  void name() {
    auto labels = std::vector<std::string>{};
    for (auto const& one : request_.view.answers) labels.push_back(one.agent);
    if (labels.size() > 1)
      choose(step::target, "Whose answer do you vote for? Say the agent, and nothing else.",
             labels);
    else
      reason(std::move(labels.at(0)));
  }
  void reason(std::string target) {
    auto const content = std::string{request_.view.answer_of(target)};
    auto const asked = asked_for("You vote for " + target + ": " + content +
                                 "\nSay in one short sentence why this is right.");
    action_ = {group_event_kind::vote, std::move(target), {}};
    speak(step::reason, asked, options_.reason_tokens);
  }

  [[nodiscard]] static auto actions() -> std::vector<std::string> { return {"new_answer", "vote"}; }
  /// The answers and the question, and behind them what else is asked. Each is asked alone: what a
  /// model has said of another leads it astray.
  [[nodiscard]] auto asked_for(std::string const& what) const -> std::vector<group_message> {
    auto result = brief_prompt(request_.task, request_.view, options_.character);
    if (not what.empty()) result.back().content += "\n\n" + what;
    return result;
  }
  /// One of `choices` and nothing else; what it is goes on in `chosen`.
  void choose(step now, std::string const& question, std::vector<std::string> const& choices) {
    auto request = generation_request{.prompt = {}, .options = options_.sampling};
    request.options.stop.clear();
    request.options.max_tokens = 1;  // the token that ends the shorter of two
    for (auto const& one : choices)
      request.options.max_tokens = std::max(request.options.max_tokens, one.size() + 1);
    auto constraint =
        std::make_unique<choice_constraint>(model_.index, choices, model_.end_tokens.front());
    request.end_tokens = {model_.end_tokens.front()};
    auto const* const is = constraint.get();  // the sequence has it until `done` returns
    request.constraint = std::move(constraint);
    submit(std::move(request), asked_for(question), [is, now, choices](engine_round& self) {
      auto const which = is->choice();
      if (not which) throw std::runtime_error("the context has no place for a choice");
      self.chosen(now, choices.at(*which));
    });
  }
  void chosen(step now, std::string const& what) {
    if (now == step::target)
      reason(what);
    else if (what == "vote")
      name();
    else
      answer();
  }
  /// A text, which the sink hears as it comes.
  void speak(step now, std::vector<group_message> const& asked, std::size_t most) {
    auto request = generation_request{.prompt = {}, .options = options_.sampling};
    request.options.max_tokens = most;
    if (now == step::reason)  // small models say one thing for ever
      request.options.frequency_penalty = std::max(request.options.frequency_penalty, 1.0);
    request.end_tokens = model_.end_tokens;
    request.decoder = model_.make_decoder();
    request.constraint = std::make_unique<spoken_constraint>(beginnings_);
    text_.clear();
    request.part = [self = shared_from_this(), number = number_ + 1](generated_part const& part) {
      self->hear(number, part.text);
    };
    submit(std::move(request), asked, [now](engine_round& self) { self.spoken(now); });
  }
  void spoken(step now) {
    if (now != step::reason)
      action_ = {
          now == step::answer ? group_event_kind::answer : group_event_kind::presentation, {}, {}};
    action_.text = std::move(text_);
    std::exchange(sink_, nullptr)->finish(std::move(action_));
  }

  /// Where the context has less place for an answer than a quarter, and than `most`, the oldest
  /// turns of the session leave it.
  [[nodiscard]] auto prompt_of(std::vector<group_message> const& asked, std::size_t most) const
      -> std::vector<std::uint32_t> {
    auto const context = model_.runs->bounds().context;
    auto const longest = context - std::min(context / 4, most);
    auto const turns = request_.task.earlier.size();  // the system's message is before them
    return model_.encode(without_oldest(
        asked, 1, turns, [&](auto const& rest) { return model_.encode(rest).size() <= longest; }));
  }
  /// Generations have numbers, by which draws differ, and of which only the last is heard.
  void submit(generation_request request, std::vector<group_message> const& asked,
              std::function<void(engine_round&)> next) {
    ++number_;
    request.prompt = prompt_of(asked, request.options.max_tokens);
    request.options.logprobs = 0;
    request.options.stream += (std::uint64_t{request_.agent} << 32U) + number_;
    request.done = [self = shared_from_this(), number = number_, next = std::move(next)](
                       generation_result const& how) { self->ended(number, how, next); };
    ticket_ = model_.runs->submit(std::move(request));
    if (not ticket_)
      throw std::runtime_error(ticket_.admitted() == admission::full
                                   ? "the engine has as many requests as it takes"
                                   : "the engine takes no more requests");
  }
  void hear(std::uint64_t number, std::string_view text) {
    auto const lock = std::lock_guard{mutex_};
    if (number != number_ || not sink_ || text.empty()) return;
    text_ += text;
    if (sink_->text(std::string{text})) return;
    ticket_.cancel();
    sink_.reset();
  }
  void ended(std::uint64_t number, generation_result const& how,
             std::function<void(engine_round&)> const& next) {
    auto const lock = std::lock_guard{mutex_};
    if (number != number_ || not sink_) return;
    try {
      if (how.reason == finish_reason::failed) throw std::runtime_error(how.error);
      if (how.reason == finish_reason::cancelled) throw std::runtime_error("the engine has ended");
      next(*this);
    } catch (std::exception const& e) {
      if (sink_) std::exchange(sink_, nullptr)->fail(e.what());
    }
  }

  agent_model model_;
  engine_agent_options options_;
  spoken_constraint::beginnings beginnings_;
  std::mutex mutex_;
  agent_request request_;
  std::shared_ptr<agent_sink> sink_;  // none: no round runs
  agent_action action_;
  std::string text_;  // of the generation
  generation_ticket ticket_{admission::closed};
  std::uint64_t number_ = 0;  // of generations
};

}  // namespace tessera::detail::inline TESSERA_TARGET

namespace tessera::inline TESSERA_TARGET {

/// An agent of a shared engine: a sampling setting, a system message, a sequence of its own.
///
/// No model can break the rules: what is done, and whom a vote is for, is chosen among what may be
/// (`choice_constraint`; nothing is asked where there is no choice), texts begin with a word, and
/// an action that was refused, as a copy is, is followed by a vote wherever there is one. Answers
/// that are new begin what it was at again, with them.
///
/// Where a session's turns before are more than the context has place for, the oldest are left out.
///
/// State   `start` after `start` draws anew: generation n of a group's agent i uses stream
///         sampling.stream + i * 2^32 + n, so that agents of one seed do not repeat each other
/// Cost    each question reads the answers again
/// Errors  std::invalid_argument for a model that is not whole, or settings out of range; a
///         conversation beyond the context, an engine that is full or ended, and a model that
///         throws are a failure of the agent: tests/group/engine_agent.cpp
class engine_agent final : public group_agent {
 public:
  explicit engine_agent(agent_model model, engine_agent_options options = {})
      : round_(std::make_shared<detail::engine_round>(std::move(model), std::move(options))) {}
  ~engine_agent() override { round_->cancel(); }
  engine_agent(engine_agent const&) = delete;
  auto operator=(engine_agent const&) -> engine_agent& = delete;

  void start(agent_request request, std::shared_ptr<agent_sink> sink) override {
    round_->start(std::move(request), std::move(sink));
  }
  auto inject(group_view const& view) -> bool override {
    round_->inject(view);
    return true;
  }
  void cancel() override { round_->cancel(); }

 private:
  std::shared_ptr<detail::engine_round> round_;
};

}  // namespace tessera::inline TESSERA_TARGET
