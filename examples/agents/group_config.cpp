// SPDX-License-Identifier: MIT
#include "group_config.hpp"

#include <tessera/group/session.hpp>

#include <algorithm>
#include <cmath>

namespace agents {

using namespace tessera;

namespace {

void read_agents(std::string const& path, YAML::Node const& list, group_settings& s) {
  if (not list.IsSequence()) throw usage_error(path + ": agents: expected a list");
  if (list.size() == 0) throw usage_error(path + ": expected 1 to 64 agents, got 0");
  s.agents.clear();
  for (auto const& one : list) {
    auto const place = path + ": agent " + std::to_string(s.agents.size() + 1);
    if (not one.IsMap()) throw usage_error(place + ": expected keys and values");
    read_settings(place, one, s.agents.emplace_back());
  }
}

}  // namespace

auto group_settings::has_local() const -> bool {
  return std::ranges::any_of(agents, [](auto const& one) { return one.url.empty(); });
}
auto group_settings::has_remote() const -> bool {
  return std::ranges::any_of(agents, [](auto const& one) { return not one.url.empty(); });
}
auto group_settings::round_time() const -> std::chrono::milliseconds {
  return std::chrono::milliseconds{std::llround(patience * 1000)};
}

void read_group(std::string const& path, group_settings& s) {
  auto own = YAML::Node{YAML::NodeType::Map};
  auto lists = 0;
  for (auto const& entry : detail::yaml_map(path)) {
    if (entry.first.IsScalar() && entry.first.Scalar() == "agents") {
      if (++lists > 1) throw usage_error(path + ": the key agents comes twice");
      read_agents(path, entry.second, s);
    } else {
      own.force_insert(entry.first, entry.second);
    }
  }
  read_settings(path, own, s);
}

void complete_group(group_settings& s) {
  check_ranges(s);
  check_one_of("arithmetic", s.arithmetic, {"stored", "exact"});
  check_one_of("novelty", s.novelty, {"strict", "balanced", "lenient"});
  if (s.agents.empty() || s.agents.size() > most_agents)
    throw usage_error("expected 1 to " + std::to_string(most_agents) + " agents, got " +
                      std::to_string(s.agents.size()));
  for (auto i = std::size_t{0}; i < s.agents.size(); ++i) {
    auto& one = s.agents[i];
    if (one.id.empty()) one.id = "member_" + std::to_string(i + 1);
    group_session::check_name(one.id);
    check_ranges(one);
    if (one.url.empty() && not(one.model.empty() && one.token_variable.empty()))
      throw usage_error(one.id + ": expected a url beside a model or a token, got none");
    auto const same = [&](auto const& other) { return other.id == one.id; };
    if (std::ranges::count_if(s.agents, same) > 1)
      throw usage_error("expected ids that differ, got two of " + one.id);
  }
  if (s.has_local() && s.model.empty())
    throw usage_error("expected --model FILE for agents without an address, got none");
}

}  // namespace agents
