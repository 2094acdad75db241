// SPDX-License-Identifier: MIT
#include <tessera/group/engine_agent.hpp>
#include <tessera/group/in_step.hpp>
#include <tessera/group/remote_agent.hpp>
#include <tessera/group/session.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/program/terminal_text.hpp>
#include <tessera/text/chat_template.hpp>
#include <tessera/train/interrupt.hpp>

#include <cstdio>
#include <cstdlib>

#include "columns.hpp"
#include "commands.hpp"
#include "generation.hpp"
#include "group_config.hpp"
#include "opened_model.hpp"
#include "sentences.hpp"

namespace agents {

namespace {

using namespace tessera;
using clock = std::chrono::steady_clock;

enum status : int { answered = 0, wrong_config = 1, failed = 2, out_of_time = 3, interrupted = 4 };

struct run_settings {
  std::string question;
  std::string config;
  group_settings given;  // by the command line
  std::uint64_t local = 3;
  std::vector<std::string> remote;  // URL or URL#MODEL
  double temperature = 0.3;
  std::uint64_t max_tokens = 200;
  bool exact = false;
  std::string output = "sessions";
  std::string session;
  bool automation = false;
  bool no_display = false;
  bool lists = false;
  bool validates = false;
};

/// The group of the file, under what the command line says.
[[nodiscard]] auto settings_of(run_settings const& s, CLI::App const& app) -> group_settings {
  auto result = group_settings{};
  if (not s.config.empty()) read_group(s.config, result);
  auto const has = [&](char const* name) { return app.count(name) > 0; };
  if (has("--model")) result.model = s.given.model;
  if (has("--threads")) result.threads = s.given.threads;
  if (has("--seed")) result.seed = s.given.seed;
  if (has("--timeout")) result.timeout = s.given.timeout;
  if (has("--max-new-answers")) result.max_new_answers = s.given.max_new_answers;
  if (has("--novelty")) result.novelty = s.given.novelty;
  if (has("--patience")) result.patience = s.given.patience;
  if (has("--embeddings")) result.embeddings = s.given.embeddings;
  if (s.exact) result.arithmetic = "exact";
  if (has("--agents") || has("--remote") || result.agents.empty()) {
    auto const local = has("--agents") || not has("--remote") ? s.local : 0;
    if (local > most_agents)
      refuse("agents", "a number from 0 to " + std::to_string(most_agents), local);
    result.agents.assign(local, {});
    for (auto const& one : s.remote) {
      auto const mark = std::min(one.find('#'), one.size());
      result.agents.push_back({.id = {},
                               .url = one.substr(0, mark),
                               .model = one.substr(std::min(mark + 1, one.size())),
                               .token_variable = {},
                               .character = {},
                               .top_p = {},
                               .seed = {}});
    }
  }
  for (auto& one : result.agents) {
    if (has("--temperature")) one.temperature = s.temperature;
    if (has("--max-tokens")) one.max_tokens = s.max_tokens;
  }
  complete_group(result);
  return result;
}

[[nodiscard]] auto model_of(opened_model const& model) -> agent_model {
  if (not model.texts.encode_chat)
    throw usage_error(model.name + " has no chat template, which a group needs");
  return {.runs = model.runs.get(),
          .encode =
              [encode = model.texts.encode_chat, words = model.words,
               marks = model.marks](std::vector<group_message> const& messages) {
                auto chat = std::vector<chat_message>{};
                for (auto const& one : messages)  // answers of others end no turn
                  chat.push_back({one.role, without_special_text(*words, one.content, marks)});
                return encode(chat);
              },
          .make_decoder = model.texts.make_decoder,
          .index = model.index,
          .end_tokens = model.texts.end_tokens};
}

[[nodiscard]] auto token_of(agent_settings const& s) -> std::string {
  if (s.token_variable.empty()) return {};
  auto const* const token = std::getenv(s.token_variable.c_str());
  if (token == nullptr) throw usage_error(s.id + ": the environment has no " + s.token_variable);
  return token;
}
/// Servers read numbers with a sign.
[[nodiscard]] auto seed_behind_address(agent_settings const& one, std::uint64_t by_default)
    -> std::uint64_t {
  constexpr auto most = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  auto const seed = one.seed.value_or(by_default);
  if (seed > most)
    throw usage_error(one.id + ": expected a seed of at most " + std::to_string(most) +
                      " for an agent behind an address, got " + std::to_string(seed));
  return seed;
}
[[nodiscard]] auto make_agents(group_settings const& s, std::optional<opened_model> const& model)
    -> std::vector<std::shared_ptr<group_agent>> {
  auto result = std::vector<std::shared_ptr<group_agent>>{};
  for (auto i = std::size_t{0}; i < s.agents.size(); ++i) {
    auto const& one = s.agents[i];
    if (one.url.empty())
      result.push_back(std::make_shared<engine_agent>(
          model_of(*model), engine_agent_options{.character = one.character,
                                                 .sampling = {.temperature = one.temperature,
                                                              .top_p = one.top_p.value_or(0.9),
                                                              .max_tokens = one.max_tokens,
                                                              .seed = one.seed.value_or(s.seed)}}));
    else
      result.push_back(std::make_shared<remote_agent>(
          remote_agent_options{.url = one.url,
                               .model = one.model,
                               .token = token_of(one),
                               .character = one.character,
                               .temperature = one.temperature,
                               .top_p = one.top_p,
                               .seed = seed_behind_address(one, s.seed + i),
                               .max_tokens = one.max_tokens,
                               .silence = s.round_time()}));
  }
  return result;
}

/// What a reader sees of a group while it works: a line for each action, on standard error.
class spectator {
 public:
  explicit spectator(bool brief) : brief_(brief) {}

  void operator()(group_event const& event, group_verdict verdict, group_protocol const& group) {
    if (event.kind == group_event_kind::begin) {
      say("", std::to_string(group.size()) + " agents begin");
      return;
    }
    if (verdict == group_verdict::late) return;
    auto const& id = group.id(event.agent);
    tell(event, verdict, id, group);
    if (verdict == group_verdict::refused && not group.alive(event.agent))
      say(id, "is lost: nothing that it did counts");
  }

 private:
  void tell(group_event const& event, group_verdict verdict, std::string const& id,
            group_protocol const& group) const {
    using enum group_event_kind;
    auto const counts = verdict == group_verdict::taken ? "" : ", which does not count";
    switch (event.kind) {
      case answer:
        say(id, std::string{"answers"} + counts, event.text);
        return;
      case vote:
        say(id, "votes for " + name_of_target(event, group) + counts, event.text);
        return;
      case presentation:
        say(id, "presents");
        return;
      case malformed:
        say(id, "does what is no action", event.text);
        return;
      case failure:
        say(id, "is lost", event.text, true);
        return;
      case timeout:
        say(id, "is lost: it took too long");
        return;
      default:
        return;
    }
  }
  void say(std::string const& id, std::string what, std::string const& text = {},
           bool always = false) const {
    auto const seconds = std::chrono::duration<double>(clock::now() - begun_).count();
    if (not text.empty() && (always || not brief_)) what += ": " + text;
    (void)std::fprintf(stderr, "%6.1f s  %s%s%s\n", seconds, id.c_str(), id.empty() ? "" : " ",
                       terminal_text(what).c_str());
  }

  bool brief_;
  clock::time_point begun_ = clock::now();
};

[[nodiscard]] auto words_of(group_cause cause) -> char const* {
  switch (cause) {
    case group_cause::votes:
      return "by votes";
    case group_cause::alone:
      return "who alone was left";
    case group_cause::time_limit:
      return "the best one at the time limit";
    case group_cause::nobody_left:
      return "the best one before all were lost";
  }
  return "";
}
[[nodiscard]] auto status_of(group_outcome const& outcome) -> status {
  if (outcome.cause == group_cause::time_limit) return out_of_time;
  return outcome.winner ? answered : failed;
}

[[nodiscard]] auto novelty_of(group_settings const& s, std::shared_ptr<sentences> const& by)
    -> novelty {
  auto const limit = [&](double balanced, double strict) {
    return s.novelty == "strict" ? strict : s.novelty == "balanced" ? balanced : novelty::lenient;
  };
  if (not by) return {.most_similar = limit(novelty::balanced, novelty::strict)};
  return {.most_similar = limit(novelty::balanced_cosine, novelty::strict_cosine),
          .similarity = vector_similarity(
              [by](std::string_view text) { return by->vector_of(std::string{text}); })};
}

/// What answers come from, and what they are compared by, where it is of this machine.
struct opened_models {
  std::optional<opened_model> local;
  std::shared_ptr<sentences> by;
};

/// A round of agents of this machine alone ends by their tokens.
constexpr auto without_limit = std::chrono::milliseconds{std::chrono::years{1}};

/// Asks the group, and keeps what it did in a turn of the session.
[[nodiscard]] auto ask(run_settings const& s, group_settings const& settings,
                       opened_models const& models, group_task const& task, group_session& session)
    -> status {
  auto const& model = models.local;
  auto ids = std::vector<std::string>{};
  for (auto const& one : settings.agents) ids.push_back(one.id);
  auto all = make_agents(settings, model);
  auto turn = session.begin_turn(s.question, ids);
  auto options = group_options{};
  options.max_new_answers = settings.max_new_answers;
  options.new_answers = novelty_of(settings, models.by);
  options.time_limit = group_time{std::llround(settings.timeout * 1000)};
  auto group = group_recorder(
      s.question, ids, options, [&](std::string_view line) { turn.write(line); }, not models.by);
  auto lines = spectator(s.automation);
  auto shown = s.automation || s.no_display ? nullptr : columns::open(s.question, ids.size());
  auto written = clock::time_point{};
  auto const keep_status = [&](group_protocol const& state) {
    if (clock::now() - written < std::chrono::seconds{2}) return;
    turn.write_status(state);
    written = clock::now();
  };
  auto const how = conductor_options{
      .round_timeout = settings.has_remote() ? settings.round_time() : without_limit,
      .observe =
          [&](group_event const& event, group_verdict verdict, group_protocol const& state) {
            if (shown)
              shown->show(event, verdict, state);
            else
              lines(event, verdict, state);
            keep_status(state);
          },
      .look = keep_status,
      .interrupted = [] { return interrupt_guard::requested(); }};
  auto const whole = settings.has_remote()
                         ? conduct(group, task, std::move(all), how)
                         : conduct_in_step(*model->runs, group, task, std::move(all), how);
  shown.reset();
  turn.finish(group.group());
  (void)std::fprintf(stderr, "the record is in %s\n", turn.folder().c_str());
  if (not whole) return interrupted;
  auto const& outcome = group.group().outcome();
  if (outcome.winner) {
    (void)std::fprintf(stderr, "the answer of %s, %s:\n", ids[*outcome.winner].c_str(),
                       words_of(outcome.cause));
    print_text(outcome.answer + '\n');
  } else {
    (void)std::fprintf(stderr, "no agent has answered\n");
  }
  return status_of(outcome);
}

[[nodiscard]] auto list(std::filesystem::path const& root) -> int {
  if (not is_directory(root)) {
    (void)std::fprintf(stderr, "agents run: %s: expected a folder of sessions, got none\n",
                       root.c_str());
    return wrong_config;
  }
  for (auto const& one : list_sessions(root)) {
    auto const what = one.damage.empty() ? shortened(one.last_question, 60) +
                                               (one.last_answer ? "" : " (without an answer)")
                                         : "damaged: " + one.damage;
    (void)std::printf("%s  %zu turns  %s\n", one.folder.c_str(), one.turns, what.c_str());
  }
  return answered;
}

[[nodiscard]] auto run(run_settings const& s, CLI::App const& app) -> int {
  if (s.lists) return list(s.output);
  auto const guard = interrupt_guard{};
  auto settings = group_settings{};
  auto models = opened_models{};
  auto& model = models.local;
  auto session = std::optional<group_session>{};
  auto task = group_task{};
  try {
    settings = settings_of(s, app);
    if (not s.validates && trimmed(s.question).empty())
      throw usage_error("expected a question, got none");
    if (auto const fault = fault_of_utf8(s.question); not fault.empty())
      throw usage_error("the question: " + fault);
    if (settings.has_local()) {
      model = open_model(settings.model,
                         {.exact = settings.arithmetic == "exact", .threads = settings.threads});
      (void)model_of(*model);
    }
    if (not settings.embeddings.empty())
      models.by = std::make_shared<sentences>(settings.embeddings);
    (void)make_agents(settings, model);
    if (s.validates) {
      (void)std::printf("%zu agents, %s\n", settings.agents.size(),
                        model ? model->name.c_str() : "all behind addresses");
      return answered;
    }
    session = s.session.empty() ? group_session::begin(s.output) : group_session(s.session);
    task = session->task(s.question);
  } catch (std::exception const& e) {
    (void)std::fprintf(stderr, "agents run: %s\n", e.what());
    return wrong_config;
  }
  return ask(s, settings, models, task, *session);
}

}  // namespace

auto add_run(CLI::App& program) -> command {
  auto* const app = program.add_subcommand("run", "a group of agents that answers and votes");
  auto const s = std::make_shared<run_settings>();
  auto const option = [&](char const* name, auto& value, char const* help) {
    tessera::add_option(*app, name, value, help);
  };
  app->add_option("question", s->question, "what the group is asked");
  app->add_option("--config", s->config, "a YAML file of the group; options come over it");
  app->add_option("--model", s->given.model, "a GGUF file, for agents of this machine");
  app->add_flag("--exact", s->exact,
                "widen blocks and bf16 to floats instead of multiplying them stored");
  option("threads", s->given.threads, "that share a step");
  option("agents", s->local, "of the model, instead of the file's");
  app->add_option("--remote", s->remote, "URL or URL#MODEL of an agent behind an address")
      ->allow_extra_args(false)  // what follows is the question
      ->check(utf8_text());
  option("timeout", s->given.timeout, "seconds from the question to the end");
  option("patience", s->given.patience,
         "with an address: seconds of a round, and until it says something");
  option("max_new_answers", s->given.max_new_answers, "of one agent");
  option("novelty", s->given.novelty, "of an answer: strict, balanced or lenient");
  app->add_option("--embeddings", s->given.embeddings,
                  "a folder of bert: answers are compared by it, not by words");
  option("seed", s->given.seed, "of all draws");
  option("temperature", s->temperature, "of all agents");
  option("max_tokens", s->max_tokens, "of an answer, of all agents");
  option("output", s->output, "the folder of sessions");
  app->add_option("--session", s->session, "a session to go on with, or begin");
  app->add_flag("--automation", s->automation, "a line for each action, without what was said");
  app->add_flag("--no-display", s->no_display, "lines in a terminal, too, instead of columns");
  app->add_flag("--list-sessions", s->lists, "print those of --output");
  app->add_flag("--validate", s->validates, "check the group and its model, and ask nothing");
  return {app, [s, app] { return run(*s, *app); }};
}

}  // namespace agents
