// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace forecast {

namespace {

using json = nlohmann::ordered_json;

/// The days of several parts, one after another.
struct pool {
  std::vector<double> came, model;
  std::vector<baseline> others;

  void add(judged_part const& p) {
    came.insert(came.end(), p.came.begin(), p.came.end());
    model.insert(model.end(), p.model.begin(), p.model.end());
    if (others.empty())
      for (auto const& b : p.baselines) others.push_back({b.name, {}});
    for (auto i = std::size_t{0}; i < others.size(); ++i)
      others[i].forecasts.insert(others[i].forecasts.end(), p.baselines[i].forecasts.begin(),
                                 p.baselines[i].forecasts.end());
  }
};

/// The one that a model of this target has to beat: HAR knows ranges; of a return nothing at all is
/// known.
[[nodiscard]] auto rivals(target_kind kind) -> std::vector<std::string> {
  return kind == target_kind::range ? std::vector<std::string>{"har"}
                                    : std::vector<std::string>{"zero", "har"};
}

[[nodiscard]] auto judge_days(std::string name, std::string begin, std::string end, pool const& p,
                              target_kind kind, std::size_t horizon) -> judged_days {
  auto result = judged_days{.name = std::move(name),
                            .begin = std::move(begin),
                            .end = std::move(end),
                            .all = {{"model", scores_of(p.model, p.came)}},
                            .tests = {},
                            .judgement = {}};
  auto decisive = std::vector<comparison>{};
  for (auto const& b : p.others) {
    result.all.push_back({b.name, scores_of(b.forecasts, p.came)});
    auto const test = comparison{b.name == "har" ? "HAR" : b.name,
                                 diebold_mariano(p.model, b.forecasts, p.came, horizon)};
    result.tests.push_back(test);
    auto const named = rivals(kind);
    if (std::ranges::find(named, b.name) != named.end()) decisive.push_back(test);
  }
  result.ratio_to_har = result.of("model").mse / result.of("har").mse;
  result.judgement = judge(decisive);
  return result;
}

[[nodiscard]] auto json_of(scores const& s) -> json {
  return {{"mse", s.mse}, {"rmse", s.rmse}, {"mae", s.mae},
          {"r2", s.r2},   {"mape", s.mape}, {"direction_accuracy", s.direction_accuracy}};
}
[[nodiscard]] auto json_of(judged_days const& d) -> json {
  auto j = json{{"begin", d.begin}, {"end", d.end}, {"days", d.all.front().figures.n}};
  for (auto const& s : d.all) j[s.name] = json_of(s.figures);
  auto tests = json::object();
  for (auto const& t : d.tests)
    tests[t.against] = {{"difference", t.result.difference},
                        {"statistic", t.result.statistic},
                        {"p_value", t.result.p_value},
                        {"p_value_robust", t.result.p_value_robust}};
  j["ratio_to_har"] = d.ratio_to_har;
  for (auto const* p : {"p_value", "p_value_robust"}) j[p] = tests.at("HAR").at(p);
  j["tests"] = tests;
  j["verdict"] = d.judgement.text;
  j["reason"] = d.judgement.reason;
  return j;
}
[[nodiscard]] auto json_of(strategy const& t) -> json {
  return {{"total_return", t.total_return},
          {"volatility", t.volatility},
          {"sharpe", t.sharpe},
          {"sortino", t.sortino},
          {"maximum_drawdown", t.maximum_drawdown},
          {"trades", t.trades}};
}

[[nodiscard]] auto line_of(judged_days const& d) -> std::string {
  char text[200];
  auto result = d.name + ", " + d.begin + " to " + d.end + '\n';
  for (auto const& s : d.all) {
    (void)std::snprintf(text, sizeof text, "  %-12s mse %.4g  mae %.4g  r2 %8.4f  direction %.3f\n",
                        s.name.c_str(), s.figures.mse, s.figures.mae, s.figures.r2,
                        s.figures.direction_accuracy);
    result += text;
  }
  (void)std::snprintf(text, sizeof text, "  of HAR's squared error %.3f: ", d.ratio_to_har);
  result += text + d.judgement.text;
  return result + (d.judgement.reason.empty() ? "\n" : " (" + d.judgement.reason + ")\n");
}

}  // namespace

auto judged_days::of(std::string const& wanted) const -> scores const& {
  auto const found = std::ranges::find(all, wanted, &named_scores::name);
  if (found == all.end()) throw std::invalid_argument("report: no scores of " + wanted);
  return found->figures;
}

auto make_report(target_study const& study, settings const& s) -> target_report {
  auto const& last = study.parts.back();
  auto const folds = std::span{study.parts}.first(study.parts.size() - 1);
  auto all = pool{};
  auto result = target_report{};
  result.kind = study.kind;
  result.solved = is_solved(s.model);
  for (auto const& p : folds) {
    auto one = pool{};
    one.add(p);
    all.add(p);
    result.folds.push_back(
        judge_days("fold " + p.name, p.begin, p.end, one, study.kind, s.horizon));
  }
  auto test = pool{};
  test.add(last);
  result.walk_forward =
      judge_days("walk forward", folds.front().begin, folds.back().end, all, study.kind, s.horizon);
  result.last_days = judge_days("last days", last.begin, last.end, test, study.kind, s.horizon);
  auto const positive = [](auto const& p) {
    return std::ranges::all_of(p, [](double x) { return x > 0; });
  };
  result.relative_bands =
      study.kind == target_kind::range && positive(all.model) && positive(last.model);
  result.bands = bands_of(all.model, all.came, result.relative_bands);
  for (auto& b : result.bands)
    b.inside = share_inside(b, last.model, last.came, result.relative_bands);
  if (study.kind != target_kind::range) {
    result.traded = trade(last.model, last.next_return, s.cost);
    result.held = trade(std::vector<double>(last.came.size(), 1), last.next_return, s.cost);
  }
  return result;
}

auto to_json(std::vector<target_report> const& reports) -> std::string {
  auto all = json::object();
  for (auto const& r : reports) {
    auto j = json_of(r.walk_forward);
    auto folds = json::array();
    for (auto const& f : r.folds) folds.push_back(json_of(f));
    j["folds"] = folds;
    j["last_days"] = json_of(r.last_days);
    // Whether there is skill is said by the days that no choice has seen.
    j["walk_forward_verdict"] = r.walk_forward.judgement.text;
    j["walk_forward_reason"] = r.walk_forward.judgement.reason;
    j["verdict"] = r.last_days.judgement.text;
    j["reason"] = r.last_days.judgement.reason;
    j["verdict_of"] = "last_days";
    if (r.solved) j["training"] = "solved in closed form, no epochs";
    auto bands = json::array();
    for (auto const& b : r.bands)
      bands.push_back({{"share", b.share}, {"low", b.low}, {"high", b.high}, {"inside", b.inside}});
    j["bands"] = {{"relative", r.relative_bands}, {"shares", bands}};
    if (not r.traded.equity.empty())
      j["strategy"] = {{"model", json_of(r.traded)}, {"buy_and_hold", json_of(r.held)}};
    all[name_of(r.kind)] = j;
  }
  return all.dump(2);
}

auto to_text(std::vector<target_report> const& reports) -> std::string {
  auto text = std::string{};
  for (auto const& r : reports) {
    text += "== " + name_of(r.kind) + (r.solved ? ", solved in closed form, no epochs\n" : "\n") +
            line_of(r.walk_forward) + line_of(r.last_days);
    for (auto const& b : r.bands)
      if (b.share == 0.8 || b.share == 0.95) {
        char line[100];
        (void)std::snprintf(line, sizeof line, "  %.0f %% band: %.1f %% of the last days inside\n",
                            100 * b.share, 100 * b.inside);
        text += line;
      }
    if (not r.traded.equity.empty()) {
      char line[160];
      (void)std::snprintf(line, sizeof line,
                          "  by its sign: %.1f %% a year's Sharpe %.2f, drawdown %.1f %%; held: "
                          "%.1f %%, %.2f, %.1f %%\n",
                          100 * r.traded.total_return, r.traded.sharpe,
                          100 * r.traded.maximum_drawdown, 100 * r.held.total_return, r.held.sharpe,
                          100 * r.held.maximum_drawdown);
      text += line;
    }
  }
  return text;
}

}  // namespace forecast
