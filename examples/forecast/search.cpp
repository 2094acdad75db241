// SPDX-License-Identifier: MIT
#include "search.hpp"

#include <tessera/data/walk_forward.hpp>
#include <tessera/io/file.hpp>
#include <tessera/optimize/importance.hpp>
#include <tessera/optimize/processes.hpp>
#include <tessera/optimize/study.hpp>
#include <tessera/optimize/tpe.hpp>
#include <tessera/optimize/trial_table.hpp>
#include <tessera/program/gnuplot.hpp>
#include <tessera/train/folder_lock.hpp>

#include <cstdio>
#include <iostream>
#include <thread>

#include "scores.hpp"
#include "study.hpp"

namespace forecast {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

/// All that was compiled, and what a training may choose beside it.
[[nodiscard]] auto space() -> search_space {
  auto kinds = std::vector<std::string>{};
  auto widths = std::vector<std::string>{};
  auto const add = [](std::vector<std::string>& to, std::string const& name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (auto const& m : compiled_models()) {
    add(kinds, m.kind);
    if (m.hidden > 0) add(widths, std::to_string(m.hidden));
  }
  return search_space{}
      .choice("model", kinds)
      .choice("hidden", widths)
      .choice("look_back", {"20", "60", "120"})
      .log_uniform("learning_rate", 1e-4, 1e-2)
      .uniform("dropout", 0, 0.5)
      .log_uniform("weight_decay", 1e-7, 1e-3)
      .log_uniform("ridge_penalty", 10, 1e5);
}
/// What does nothing for the model of a point stays as it was.
[[nodiscard]] auto applied(settings s, search_point const& point) -> settings {
  s.model = choice_of(point, "model");
  s.look_back = std::stoull(choice_of(point, "look_back"));
  if (is_solved(s.model)) {
    s.ridge_penalty = number_of(point, "ridge_penalty");
    return s;
  }
  s.hidden = std::stoull(choice_of(point, "hidden"));
  s.learning_rate = number_of(point, "learning_rate");
  s.dropout = number_of(point, "dropout");
  s.weight_decay = number_of(point, "weight_decay");
  return s;
}

/// What is cut off would count as the result of a trial.
void check_whole(training_settings const& s) {
  constexpr auto expected = "0 in a search, whose trials are trained to their end";
  if (s.fast_dev_run > 0) refuse("fast_dev_run", expected, s.fast_dev_run);
  if (s.max_time > 0) refuse("max_time", expected, s.max_time);
}

/// The search of a folder, the same for the one that asks and those that run its trials.
[[nodiscard]] auto open(settings const& s, search_settings const& how, fs::path const& folder,
                        price_table const& prices) -> tessera::study {
  auto options = study_options{
      .seed = s.seed, .settings = to_result_yaml(s) + "data_digest: " + digest_of(prices) + '\n'};
  if (how.method == "tpe") options.method = tpe{};
  if (how.halving == "on") options.stopping = successive_halving{.least = 1, .reduction = 2};
  return tessera::study(folder / "search.db", space(), options);
}

/// How the best value fell, and how much each parameter explains.
void draw(fs::path const& folder) {
  auto script = std::string{};
  for (auto const* terminal : {"png", "svg"}) {
    auto const head = terminal == std::string{"png"}
                          ? "set terminal pngcairo size 900,400 font ',11'\n"
                          : "set terminal svg size 900,400 font 'sans,11' background 'white'\n";
    script +=
        std::string{"reset\nset datafile separator ','\nset grid\n"} + head + "set output " +
        gnuplot_text(std::string{"search."} + terminal) +
        "\nset title 'Squared error over that of HAR, mean of the folds'\n"
        "set xlabel 'trial'\n"
        "plot 'search.csv' using 'trial':'value' with points pt 7 lc rgb '#888888' "
        "title 'a trial', '' using 'trial':'best' with steps lw 2 lc rgb '#1f5fa8' "
        "title 'the best so far'\n"
        "set output " +
        gnuplot_text(std::string{"importance."} + terminal) +
        "\nset title 'Share of the variance of complete trials that each parameter explains'\n"
        "set termoption noenhanced\n"
        "unset xlabel\nset yrange [0:1]\nset style fill solid 0.6\nset boxwidth 0.6\n"
        "plot 'importance.csv' using 0:2:xtic(1) every ::1 with boxes lc rgb '#1f5fa8' "
        "notitle\nunset output\n";
  }
  run_gnuplot(folder, script);
}

}  // namespace

auto searched_settings() -> std::vector<std::string> {
  auto names = std::vector<std::string>{};
  auto const searched = space();
  for (auto const& p : searched.parameters()) names.push_back(p.name);
  return names;
}

void refuse_searched(settings const& s) {
  auto const given = tessera::detail::settings_by_name(to_yaml(s));
  auto const plain = tessera::detail::settings_by_name(to_yaml(settings{}));
  for (auto const& name : searched_settings())
    if (given.at(name) != plain.at(name))
      throw usage_error("--config: " + name + ": expected none, it is searched for; got " +
                        given.at(name));
}

auto search(settings const& s, search_settings const& how, fs::path const& folder) -> int {
  check_ranges(how);
  check_one_of("method", how.method, {"random", "tpe"});
  check_one_of("halving", how.halving, {"on", "off"});
  if (folder.empty()) throw usage_error("--output: expected a folder, got nothing");
  check_whole(s.training);
  (void)device_of(s);  // refuses a GPU that is not there
  auto const prices = load_prices(s);
  fs::create_directories(folder);
  auto const lock = folder_lock(folder);  // first: a training may end meanwhile
  if (fs::exists(folder / "settings.yaml") && not fs::exists(folder / "search.yaml"))
    throw usage_error(folder.string() + ": expected a folder of a search, it has a training");
  auto found = open(s, how, folder, prices);  // refuses another search before anything is written
  write_file(folder / "search.yaml", to_yaml(how));  // first: it says what the folder is of
  write_file(folder / "settings.yaml", to_yaml(s));
  auto const cores = std::max(1U, std::thread::hardware_concurrency());
  auto const done = run_trials(
      found, how.trials,
      {.parallel = how.parallel > 0 ? how.parallel : cores,
       .logs = folder / "logs",
       .command =
           [&](trial const& t) {
             return std::vector<std::string>{own_program(), "trial", folder.string(),
                                             tessera::study::ticket_of(t)};
           },
       .ended =
           [](trial const& t) {
             std::printf(
                 "trial %llu: %s%s%s\n", static_cast<unsigned long long>(t.number),
                 text_of(t.state).c_str(),
                 t.state == trial_state::complete ? (", " + described(t.value)).c_str() : "",
                 t.message.empty() ? "" : (": " + t.message).c_str());
             (void)std::fflush(stdout);
           }});
  auto const all = found.trials();
  auto const importance = importance_of(found.space(), all);
  write_file(folder / "search.csv", trials_csv(found.space(), all, found.direction()));
  write_file(folder / "importance.csv", importance_csv(importance));
  std::cout << trial_table(found.space(), all, found.direction()) << importance_table(importance);
  auto const best = best_trials(all, found.direction());
  if (not best.empty()) write_file(folder / "best.yaml", to_yaml(applied(s, best.front().point)));
  if (not importance.parameters.empty()) draw(folder);
  if (done) return 0;
  std::printf("interrupted; to go on: the same command\n");
  return 130;
}

auto run_trial(fs::path const& folder, std::string const& ticket) -> int {
  auto const base = settings_in(folder);
  auto how = search_settings{};
  read_config((folder / "search.yaml").string(), how);
  auto const prices = load_prices(base);
  auto found = open(base, how, folder, prices);
  auto const t = found.join(ticket);
  auto const s = applied(base, t.point);
  check(s);
  auto const data = make_samples(prices, s.kinds().front(), s.horizon);
  auto sum = 0.0;
  auto count = std::uint64_t{0};
  auto const parts = split_forward(data.size(), s.splits());
  for (auto const& part : parts.folds) {
    auto const fit = fit_part(s, data, part, false);
    auto const came = std::span{data.target}.subspan(part.held_out.begin, part.held_out.length());
    auto const others = baselines(data, part.train, part.held_out);
    auto const& har = *std::ranges::find(others, "har", &baseline::name);
    sum += scores_of(fit.forecasts, came).mse / scores_of(har.forecasts, came).mse;
    ++count;
    auto const hopeless = found.report(t, count, sum / static_cast<double>(count));
    if (hopeless && count < parts.folds.size()) {
      found.prune(t);
      return 0;
    }
  }
  found.tell(t, sum / static_cast<double>(count));
  return 0;
}

}  // namespace forecast
