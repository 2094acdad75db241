// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/deployment.hpp>

#include <map>

namespace tessera {

/// Versions that are numbers by their value, before those that are not.
struct version_order {
  [[nodiscard]] auto operator()(std::string const& a, std::string const& b) const -> bool {
    auto const number = [](std::string const& v) {
      return not v.empty() && std::ranges::all_of(v, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (number(a) != number(b)) return number(b);
    return number(a) && a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

using version_weights = std::map<std::string, double, version_order>;

/// From 0 to 1, by the text alone: the same in every process, on every machine.
///
/// Source  FNV-1a in 64 bits, its bits mixed by MurmurHash3's last step, of which the upper 53 are
///         taken
[[nodiscard]] inline auto sticky_share(std::string_view text) -> double {
  auto hash = std::uint64_t{14695981039346656037ULL};
  for (auto const letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  hash = (hash ^ hash >> 33U) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ hash >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  hash ^= hash >> 33U;
  return static_cast<double>(hash >> 11U) * 0x1p-53;
}

/// The versions that are served, and who is given which.
///
/// Without weights the latest version has all requests. With weights, a request goes where the
/// share of its id (a user's or a sequence's) falls, always the same. A sequence that is open stays
/// with its version, and with the deployment that it began on: one that is replaced goes on with
/// its open sequences alone until they have ended or are idle for too long, and is closed by the
/// next `sweep`. What is withdrawn answers what it has taken, and its sequences are over.
///
/// Cost    a model that is replaced stays in memory for its open sequences
/// Errors  http_error 404 for a model or version that is not there
class model_table {
 public:
  using entry = std::shared_ptr<deployment>;

  model_table() = default;
  model_table(model_table const&) = delete;
  auto operator=(model_table const&) -> model_table& = delete;
  ~model_table() { clear(); }

  /// Takes the place of one of the same name and version.
  void publish(entry const& one) {
    {
      auto const lock = std::lock_guard{mutex_};
      auto before = std::exchange(models_[one->name].versions[one->version], one);
      // Who looks for an open sequence finds it here or there; sweep closes those without one.
      if (before) leaving_.push_back(std::move(before));
    }
    sweep();
  }
  /// Closes what was replaced and has no open sequence any more. `publish` does it too.
  void sweep() {
    for (auto const& one : left([](deployment& d) { return d.sequences.open() == 0; })) {
      one->close();
      auto const lock = std::lock_guard{mutex_};
      auto const found = models_.find(one->name);
      if (found == models_.end()) continue;
      auto const now = found->second.versions.find(one->version);
      if (now != found->second.versions.end()) now->second->announce();
    }
  }
  /// False where it was not there.
  auto withdraw(std::string const& name, std::string const& version) -> bool {
    auto before = entry{};
    {
      auto const lock = std::lock_guard{mutex_};
      auto const found = models_.find(name);
      if (found == models_.end()) return false;
      if (auto const node = found->second.versions.extract(version)) before = node.mapped();
      if (found->second.versions.empty()) models_.erase(found);
    }
    for (auto const& one :
         left([&](deployment const& d) { return d.name == name && d.version == version; }))
      one->close();
    if (before) before->close();
    return before != nullptr;
  }
  /// Shares of the requests that name no version; none: all to the latest.
  void set_weights(std::string const& name, version_weights weights) {
    auto const lock = std::lock_guard{mutex_};
    if (auto const found = models_.find(name); found != models_.end())
      found->second.weights = std::move(weights);
  }
  /// Answers what was taken, and serves nothing more.
  void clear() {
    auto all = [&] {
      auto const lock = std::lock_guard{mutex_};
      return std::exchange(models_, {});
    }();
    for (auto const& one : left([](deployment const&) { return true; })) one->close();
    for (auto const& [name, one] : all)
      for (auto const& [version, each] : one.versions) each->close();
  }

  [[nodiscard]] auto find(std::string const& name, std::string const& version,
                          sequence_request const& sequence = {}) const -> entry {
    auto const lock = std::lock_guard{mutex_};
    auto const& versions = of(name).versions;
    if (auto const found = versions.find(version); found != versions.end()) {
      auto const before =
          has(*found->second, sequence) ? entry{} : leaving(name, version, sequence);
      return before ? before : found->second;
    }
    throw http_error(404, name + ": expected one of the versions " + listed(versions) + ", got " +
                              version.substr(0, 60));
  }
  /// For a request of this user and sequence, either of which may be empty.
  [[nodiscard]] auto choose(std::string const& name, std::string const& user,
                            sequence_request const& sequence) const -> entry {
    auto const lock = std::lock_guard{mutex_};
    auto const& one = of(name);
    if (one.versions.size() > 1 || not leaving_.empty())
      for (auto const& [version, each] : one.versions)
        if (has(*each, sequence)) return each;
    if (auto before = leaving(name, {}, sequence)) return before;
    return by_weight(one, user.empty() ? sequence.id : user);
  }
  [[nodiscard]] auto versions(std::string const& name) const -> std::vector<std::string> {
    auto const lock = std::lock_guard{mutex_};
    auto result = std::vector<std::string>{};
    for (auto const& [version, each] : of(name).versions) result.push_back(version);
    return result;
  }
  [[nodiscard]] auto weights(std::string const& name) const -> version_weights {
    auto const lock = std::lock_guard{mutex_};
    return of(name).weights;
  }
  [[nodiscard]] auto names() const -> std::vector<std::string> {
    auto const lock = std::lock_guard{mutex_};
    auto result = std::vector<std::string>{};
    for (auto const& [name, one] : models_) result.push_back(name);
    return result;
  }

 private:
  struct versions_of_model {
    std::map<std::string, entry, version_order> versions;
    version_weights weights;
  };

  [[nodiscard]] static auto has(deployment const& one, sequence_request const& sequence) -> bool {
    return not sequence.id.empty() && one.sequences.contains(sequence.id);
  }
  /// The replaced one that has the sequence. Where the sequence begins anew, none has it any more.
  [[nodiscard]] auto leaving(std::string const& name, std::string const& version,
                             sequence_request const& sequence) const -> entry {
    auto found = entry{};
    for (auto const& one : leaving_) {
      if (one->name != name || not(version.empty() || one->version == version)) continue;
      if (sequence.start) one->sequences.drop(sequence.id);
      if (has(*one, sequence)) found = one;
    }
    return found;
  }
  /// Takes those out that were replaced and are to be closed.
  auto left(auto const& is_over) -> std::vector<entry> {
    auto const lock = std::lock_guard{mutex_};
    auto const rest =
        std::ranges::partition(leaving_, [&](entry const& one) { return not is_over(*one); });
    auto over = std::vector<entry>(rest.begin(), rest.end());
    leaving_.erase(rest.begin(), rest.end());
    return over;
  }
  [[nodiscard]] auto of(std::string const& name) const -> versions_of_model const& {
    auto const found = models_.find(name);
    if (found == models_.end())
      throw http_error(404, "there is no model \"" + name.substr(0, 60) + "\"");
    return found->second;
  }
  [[nodiscard]] static auto listed(auto const& versions) -> std::string {
    auto text = std::string{};
    for (auto const& [version, each] : versions) text += (text.empty() ? "" : ", ") + version;
    return text;
  }
  /// Requests without an id take turns by a number of their own.
  [[nodiscard]] auto by_weight(versions_of_model const& one, std::string const& id) const -> entry {
    auto sum = 0.0;
    for (auto const& [version, weight] : one.weights)
      if (one.versions.contains(version)) sum += weight;
    if (not(sum > 0)) return one.versions.rbegin()->second;
    auto at = sum * sticky_share(id.empty() ? std::to_string(turn_++) : id);
    auto chosen = entry{};
    for (auto const& [version, weight] : one.weights) {
      auto const found = one.versions.find(version);
      if (found == one.versions.end() || not(weight > 0)) continue;
      chosen = found->second;
      at -= weight;
      if (at < 0) break;
    }
    return chosen;
  }

  mutable std::mutex mutex_;
  mutable std::atomic<std::uint64_t> turn_ = 0;
  std::map<std::string, versions_of_model> models_;
  std::vector<entry> leaving_;  // replaced, in their order, with sequences that are open
};

}  // namespace tessera
