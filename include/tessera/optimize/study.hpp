// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/random_search.hpp>
#include <tessera/optimize/successive_halving.hpp>
#include <tessera/optimize/trial_store.hpp>

#include <charconv>
#include <concepts>
#include <functional>

namespace tessera {

/// What proposes points: random_search, tpe, or a struct of a user's own whose
/// propose(search_so_far, draws&) gives one and of which `described` knows the settings.
class search_method {
 public:
  template <class Method>
    requires requires(Method const& m, search_so_far const& s, draws& d) {
      { m.propose(s, d) } -> std::same_as<search_point>;
    }
  search_method(Method method)
      : text_(described(method)), propose_([method](search_so_far const& search, draws& random) {
          return method.propose(search, random);
        }) {}
  [[nodiscard]] auto propose(search_so_far const& search, draws& random) const -> search_point {
    return propose_(search, random);
  }
  [[nodiscard]] auto text() const -> std::string const& { return text_; }

 private:
  std::string text_;
  std::function<search_point(search_so_far const&, draws&)> propose_;
};

struct study_options {
  search_direction direction = search_direction::minimize;
  std::uint64_t seed = 0;
  search_method method = random_search{};
  std::optional<successive_halving> stopping = {};
  std::string settings = {};  ///< what else decides a value: lines "name: value"
};

/// A search that is kept in a file, and goes on from it: many processes ask for points and tell
/// what came of them.
///
///     auto search = study("search.db", space, {.method = tpe{}});
///     while (auto const t = search.ask(50)) {
///       auto const loss = train(number_of(t->point, "rate"));  // may report, and stop
///       search.tell(*t, loss);
///     }
///
/// A point depends on the seed, the trial's number and the trials that were finished when it was
/// asked for. A trial whose process ended is asked again, with its point.
/// Errors  those of trial_store; another space, direction, seed, method, stopping or settings are
///         another search
class study {
 public:
  study(std::filesystem::path const& path, search_space space, study_options options = {})
      : space_(std::move(space)),
        options_(std::move(options)),
        store_(path, text_of_search(space_, options_)) {}

  [[nodiscard]] auto space() const -> search_space const& { return space_; }
  [[nodiscard]] auto direction() const -> search_direction { return options_.direction; }
  [[nodiscard]] auto trials() -> std::vector<trial> { return checked(store_.trials()); }
  [[nodiscard]] auto find(std::uint64_t number) -> trial { return store_.find(number); }

  /// The next trial to run, of those numbered below `limit`; nothing where none is left.
  ///
  /// Errors  search_error for a point that is none of the space: no trial is made of it
  [[nodiscard]] auto ask(std::uint64_t limit) -> std::optional<trial> {
    return store_.claim(limit, [&](std::vector<trial> const& so_far, std::uint64_t number) {
      auto random = draws(options_.seed, number);
      auto point = options_.method.propose({space_, checked(so_far), options_.direction}, random);
      (void)space_.coordinates(point);
      return point;
    });
  }
  /// The same trial in the process that runs it, where another asked.
  [[nodiscard]] auto join(std::string const& ticket) -> trial {
    auto number = std::uint64_t{0};
    auto attempt = std::uint64_t{0};
    auto const* const end = ticket.data() + ticket.size();
    auto const middle = std::from_chars(ticket.data(), end, number);
    if (middle.ec == std::errc{} && middle.ptr != end && *middle.ptr == '.') {
      auto const last = std::from_chars(middle.ptr + 1, end, attempt);
      if (last.ec == std::errc{} && last.ptr == end) return store_.join(number, attempt);
    }
    throw search_error("expected a trial and its attempt as 12.1, got " + shortened(ticket));
  }
  /// "12.1": what `join` takes.
  [[nodiscard]] static auto ticket_of(trial const& t) -> std::string {
    return std::to_string(t.number) + '.' + std::to_string(t.attempt);
  }
  /// The value after `step` steps, counted from 1. True where the trial should stop: see
  /// successive_halving.hpp. A trial that is through with its steps need not look.
  [[nodiscard]] auto report(trial const& t, std::uint64_t step, double value) -> bool {
    if (step < 1) throw search_error("a step is counted from 1, got 0");
    auto const& halving = options_.stopping;
    auto const others = store_.report(t, step, value, [&](std::uint64_t before) {
      return halving ? halving->rung(before, step) : std::nullopt;
    });
    return halving && others && not halving->goes_on(value, *others, options_.direction);
  }
  /// The trial is complete. One whose value is infinite or no number has failed.
  void tell(trial const& t, double value, std::map<std::string, double> const& scores = {}) {
    if (std::isfinite(value))
      store_.finish(t, trial_state::complete, value, scores);
    else
      fail(t, "the value is " + described(value));
  }
  /// The trial has stopped, as report() wanted.
  void prune(trial const& t) { store_.finish(t, trial_state::pruned); }
  void fail(trial const& t, std::string const& message) {
    store_.finish(t, trial_state::failed, std::numeric_limits<double>::quiet_NaN(), {},
                  shortened(message, 1000));
  }
  /// The trial waits for another attempt.
  void put_back(trial const& t) { store_.finish(t, trial_state::waiting); }
  /// This process does not care for the trial any more: another one runs it, or nobody.
  void release(trial const& t) { store_.release(t.number); }

 private:
  [[nodiscard]] static auto text_of_search(search_space const& space, study_options const& o)
      -> std::string {
    if (space.parameters().empty()) throw search_error("expected a parameter to search, got none");
    if (o.stopping) o.stopping->check();
    auto text = space.text();
    text += "direction: " +
            std::string{o.direction == search_direction::minimize ? "minimize" : "maximize"};
    text += "\nseed: " + std::to_string(o.seed) + "\nmethod: " + o.method.text();
    text += "\nstopping: " + (o.stopping ? described(*o.stopping) : "none") + '\n';
    for (auto const& [name, value] : detail::settings_by_name(o.settings))
      text.append("setting.").append(name).append(": ").append(value).append("\n");
    return text;
  }
  [[nodiscard]] auto checked(std::vector<trial> trials) const -> std::vector<trial> {
    for (auto const& one : trials) try {
        (void)space_.coordinates(one.point);
      } catch (search_error const& e) {
        throw file_error(store_.path(),
                         "is damaged: trial " + std::to_string(one.number) + ": " + e.what());
      }
    return trials;
  }

  search_space space_;
  study_options options_;
  trial_store store_;
};

}  // namespace tessera
