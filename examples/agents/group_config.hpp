// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace agents {

constexpr auto most_agents = std::size_t{64};  ///< as many as may wait for a lane

/// One agent of a group: of the group's model, or behind an address.
struct agent_settings {
  std::string id;
  std::string url;    ///< "http://localhost:8000/v1"; empty for one of the group's model
  std::string model;  ///< by the name that is known there
  std::string token_variable;
  std::string character;
  double temperature = 0.3;
  std::optional<double> top_p;  ///< none: 0.9, or what the address has
  std::uint64_t max_tokens = 200;
  std::optional<std::uint64_t> seed;

  static void visit(auto const& f, auto& s) {
    f("id", s.id, "the agent's name, which others do not see");
    f("url", s.url, "an OpenAI-compatible address; none: the group's model");
    f("model", s.model, "the model's name at the address");
    f("token_variable", s.token_variable, "the environment variable that holds its token");
    f("character", s.character, "a system message of its own");
    f("temperature", s.temperature, "0: the likeliest token always", {0, 10});
    f("top_p", s.top_p, "draw from the fewest tokens that hold so much probability", {0, 1});
    f("max_tokens", s.max_tokens, "of an answer", {1, 100000});
    f("seed", s.seed, "of its draws, by default the group's and its place");
  }
};

/// A group as a file has it: these keys, and `agents`, a list of agents.
struct group_settings {
  std::string model;
  std::string arithmetic = "stored";
  std::uint64_t threads = 1;
  std::uint64_t seed = 0;
  std::uint64_t max_new_answers = 3;
  std::string novelty = "balanced";
  std::string embeddings;
  double timeout = 120;
  double patience = 60;
  std::vector<agent_settings> agents;

  static void visit(auto const& f, auto& s) {
    f("model", s.model, "a GGUF file, for agents without an address");
    f("arithmetic", s.arithmetic, "stored, or exact: blocks and bf16 are widened to floats");
    f("threads", s.threads, "that share a step", {1, 256});
    f("seed", s.seed, "of all draws");
    f("max_new_answers", s.max_new_answers, "of one agent", {1, 100});
    f("novelty", s.novelty, "of an answer: strict, balanced, or lenient, where any text is new");
    f("embeddings", s.embeddings, "a folder of bert: answers are compared by it, not by words");
    f("timeout", s.timeout, "seconds from the question to the end", {0.001, 1e6});
    f("patience", s.patience, "with an address: seconds of a round, and until it says something",
      {0.001, 1e6});
  }
  [[nodiscard]] auto has_local() const -> bool;
  [[nodiscard]] auto has_remote() const -> bool;
  [[nodiscard]] auto round_time() const -> std::chrono::milliseconds;
};

/// Reads a file over `s`.
///
/// Errors  usage_error as of read_config
void read_group(std::string const& path, group_settings& s);

/// Checks what belongs together, and names the agents that have no id: member_1, member_2, ...
///
/// Errors  usage_error for a group that cannot be
void complete_group(group_settings& s);

}  // namespace agents
