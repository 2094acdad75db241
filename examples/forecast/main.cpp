// SPDX-License-Identifier: MIT
#include <tessera/io/safetensors.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/program/training_run.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>

#include "model_file.hpp"
#include "page.hpp"
#include "prediction.hpp"
#include "retrain.hpp"
#include "search.hpp"
#include "service.hpp"
#include "versions.hpp"

namespace forecast {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

/// A folder that was trained into.
struct trained {
  settings s;
  std::vector<target_study> studies;
  std::vector<target_report> reports;
};

[[nodiscard]] auto judge_all(settings const& s, std::vector<target_study> const& studies)
    -> std::vector<target_report> {
  auto reports = std::vector<target_report>{};
  for (auto const& study : studies) reports.push_back(make_report(study, s));
  return reports;
}
[[nodiscard]] auto open_folder(fs::path const& folder) -> trained {
  auto result = trained{.s = settings_in(folder), .studies = {}, .reports = {}};
  result.studies = load_study(folder);
  result.reports = judge_all(result.s, result.studies);
  return result;
}

/// While it lives nobody else trains there, or changes what is served.
[[nodiscard]] auto lock_of(fs::path const& folder) -> folder_lock {
  (void)settings_in(folder);
  return folder_lock(folder);
}

/// From now on the folder has something to go on with: its trainings have checkpoints of their own.
void begin_study(fs::path const& folder) {
  auto mark = safetensors_writer{};
  mark.set_metadata("tessera.study", "1");
  mark.write(folder / run_folder::checkpoint_file);
}

/// What a training leaves in its folder; another takes its place as a whole.
[[nodiscard]] auto files_of_training() -> std::vector<std::string> {
  auto files = std::vector<std::string>{"study.json", "report.json", "repository", "plots",
                                        "page.html",  "logs",        "trainings"};
  for (auto const kind : {target_kind::range, target_kind::value_return, target_kind::direction})
    files.push_back("forecasts-" + name_of(kind) + ".csv");
  return files;
}

[[nodiscard]] auto train(settings const& s, fs::path const& folder, bool resumes) -> int {
  std::printf("%s\n", device_of(s).line.c_str());
  auto const tries = s.training.fast_dev_run > 0;
  training_run::check_options(folder, resumes, tries);
  auto const prices = load_prices(s);
  std::printf("%s: %zu days, %s to %s; %llu of them dropped, %s, %zu parameters\n", s.data.c_str(),
              prices.size(), prices.dates.front().c_str(), prices.dates.back().c_str(),
              static_cast<unsigned long long>(warm_up), s.model.c_str(),
              make_forecaster(s.choice())->parameters(s.look_back));
  auto run =
      run_folder({.folder = folder,
                  // A comment to who reads the settings, and compared as one of them.
                  .settings = to_result_yaml(s) + "# data_digest: " + digest_of(prices) + '\n',
                  .files = files_of_training(),
                  .resume = resumes});
  if (fs::exists(folder / "search.yaml"))  // behind the lock: a search may begin meanwhile
    throw usage_error("--output: expected no folder of a search, got " + folder.string());
  auto studies = std::vector<target_study>{};
  try {
    auto const begins = [&] {
      if (not resumes && not tries) begin_study(run.path());
    };
    studies = run_study(s, prices, {run.path(), resumes, begins}, [](std::string const& text) {
      std::printf("%s\n", text.c_str());
      (void)std::fflush(stdout);
    });
  } catch (study_interrupted const&) {
    std::printf("interrupted; to go on: the same command with --resume\n");
    return 130;
  }
  if (tries) {
    std::printf("fast_dev_run: every part was tried; nothing is kept\n");
    return 0;
  }
  auto reports = std::vector<target_report>{};
  for (auto const& study : studies) {
    auto const place = run.path() / "repository" / name_of(study.kind);
    reports.push_back(make_report(study, s));
    save_model(place / "1", *study.last->model, describe(s, study, reports.back()));
    serve_version(place, "1");
  }
  save_study(run.path(), studies);
  write_file(run.path() / "report.json", to_json(reports) + '\n');
  run.show();
  fs::remove_all(run.path() / "trainings");  // nothing is left to go on with
  fs::remove(run.path() / run_folder::checkpoint_file);
  return 0;
}

void draw(fs::path const& folder, trained const& t) {
  auto const pictures = draw_plots(folder / "plots", t.studies, t.reports);
  write_file(folder / "page.html", make_page(t.s, t.reports, folder / "plots", pictures));
  for (auto const& p : pictures)
    std::printf("%s\n", (folder / "plots" / (p.name + ".png")).c_str());
  std::printf("%s\n", (folder / "page.html").c_str());
}

[[nodiscard]] auto target_named(std::string const& name) -> target_kind {
  check_one_of("target", name, {"range", "return", "direction"});
  return target_of(name);
}
[[nodiscard]] auto load_served(fs::path const& folder, std::string const& target)
    -> described_model {
  auto const place = folder / "repository" / name_of(target_named(target));
  return load_model(place / served_version(place));
}
void predict(fs::path const& folder, std::string const& target, std::string const& data) {
  auto s = settings_in(folder);
  if (not data.empty()) s.data = data;
  auto const m = load_served(folder, target);
  auto const prices = load_prices(s);
  auto const forecast = predict_next(m, prices);
  auto const drift = drift_of(m.description, prices);
  std::printf("%s\n", to_json(forecast).dump().c_str());
  if (drift && drift->drifted)
    std::fprintf(stderr, "the last %zu days are not as those that the model learned from: %.1f\n",
                 m.description.learned.statistics.window, drift->score);
}
auto print(candidate const& c) -> int {
  std::printf("%s to %s: version %s misses by %.4g, version %s by %.4g (squared), p = %.3g: %s\n",
              c.begin.c_str(), c.end.c_str(), c.before.c_str(), c.mse_before, c.version.c_str(),
              c.mse, stricter(c.test), c.promoted ? "promoted" : "not promoted");
  return c.promoted ? 0 : 1;
}

/// Options for the settings that `takes` by their names.
void add_options_if(auto const& takes, CLI::App& app, settings& s) {
  settings::visit(
      [&](char const* name, auto& value, char const* help, setting_rules = {}) {
        if (not takes(std::string{name})) return;
        if constexpr (requires { value.has_value(); })
          add_optional(app, name, value, help, "by the command");
        else
          add_option(app, name, value, help);
      },
      s);
}
[[nodiscard]] auto is_one_of(std::vector<std::string> names) {
  return [names = std::move(names)](std::string const& name) {
    return std::ranges::find(names, name) != names.end();
  };
}

/// A row for each day: its features, and the range and return that came; nothing where they have
/// not yet.
void print_days(settings const& s) {
  auto const prices = load_prices(s);
  auto const ranges = make_samples(prices, target_kind::range, s.horizon);
  auto const returns = make_samples(prices, target_kind::value_return, s.horizon);
  auto const& table = ranges.features;
  std::printf("date");
  for (auto const& name : table.names) std::printf(",%s", name.c_str());
  std::printf(",target range,target return\n");
  for (auto r = std::size_t{0}; r < table.rows(); ++r) {
    std::printf("%s", table.dates[r].c_str());
    for (auto c = std::size_t{0}; c < table.names.size(); ++c)
      std::printf(",%.17g", table.values(r, c));
    if (r < ranges.size())
      std::printf(",%.17g,%.17g\n", ranges.target[r], returns.target[r]);
    else
      std::printf(",,\n");
  }
}

auto run(int argc, char** argv) -> int {
  auto app = CLI::App{"Forecasts of daily prices: an LSTM with attention, judged beside baselines"};
  app.require_subcommand(1);
  auto s = settings{};
  auto output = fs::path{"forecast-output"};
  auto prints = false;
  auto resumes = false;
  auto* const training = app.add_subcommand("train", "Train and judge by a walk forward");
  auto* const demo = app.add_subcommand("demo", "train, evaluate and plot");
  // A file of settings is read before the words are: of the command that it is for.
  auto const asked = std::string{argc > 1 ? argv[1] : ""};
  for (auto* const one : {training, demo}) {
    if (asked != "serve") add_config(*one, argc, argv, s);
    one->add_option("--output", output, "folder of models, figures and pictures")
        ->capture_default_str();
    one->add_flag("--resume", resumes, "go on with a training of --output that was stopped");
    one->add_flag("--print-config", prints, "print the settings as YAML and end");
    add_options(*one, s);
  }
  auto how = search_settings{};
  auto* const searching = app.add_subcommand("search", "Search for the model and its training");
  auto searched = fs::path{"forecast-search"};
  searching->add_option("--output", searched, "folder of the search")->capture_default_str();
  if (asked != "serve") add_config(*searching, argc, argv, s);
  if (asked == "search") refuse_searched(s);
  add_options(*searching, how);
  add_options_if(std::not_fn(is_one_of(searched_settings())), *searching, s);
  auto folder = fs::path{};
  auto ticket = std::string{};
  auto* const one_trial = app.add_subcommand("trial", "A trial of a search")->group("");
  one_trial->add_option("folder", folder)->required();
  one_trial->add_option("ticket", ticket)->required();
  auto json = false;
  auto* const evaluation = app.add_subcommand("evaluate", "Print the figures of a training");
  evaluation->add_option("folder", folder, "output of train")->required();
  evaluation->add_flag("--json", json, "as JSON");
  auto* const plotting = app.add_subcommand("plot", "Draw a training and make its page");
  plotting->add_option("folder", folder, "output of train")->required();
  auto* const printing = app.add_subcommand("data", "Print features and targets of every day");
  add_options_if(is_one_of({"data", "horizon", "seed"}), *printing, s);
  auto* const models = app.add_subcommand("models", "List the compiled models");
  auto service = service_settings{};
  auto* const serving = app.add_subcommand(
      "serve", "Serve trained models by HTTP; drift is measured in windows of different days");
  if (asked == "serve") add_config(*serving, argc, argv, service);
  add_options(*serving, service);
  auto target = std::string{"range"};
  auto data = std::string{};
  auto* const predicting = app.add_subcommand("predict", "Forecast what comes after some prices");
  auto* const retraining = app.add_subcommand(
      "retrain", "Train on new prices; serve what is better on the last of them");
  auto* const rolling = app.add_subcommand("rollback", "Serve the version before again");
  auto* const exporting = app.add_subcommand("export", "Write the served model as ONNX");
  auto file = fs::path{"model.onnx"};
  for (auto* const command : {predicting, retraining, rolling, exporting}) {
    command->add_option("folder", folder, "output of train")->required();
    add_option(*command, "target", target, "range, return or direction");
  }
  for (auto* const command : {predicting, retraining})
    add_option(*command, "data", data, "prices; none: those of the training");
  auto promote = std::string{"better"};
  add_option(*retraining, "promote", promote,
             "better (any smaller squared error) or significant (p < 0.05, too)");
  exporting->add_option("--file", file, "to be written")->capture_default_str();

  if (not parse_command_line(app, argc, argv)) return 0;
  if (*training || *demo) {
    check(s);
    if (prints) {
      std::cout << to_yaml(s);
      return 0;
    }
    auto const code = train(s, output, resumes);
    if (code != 0 || s.training.fast_dev_run > 0) return code;
    auto const t = open_folder(output);
    std::cout << to_text(t.reports);
    if (*demo) draw(output, t);
  } else if (*searching) {
    check(s);
    return search(s, how, searched);
  } else if (*one_trial) {
    return run_trial(folder, ticket);
  } else if (*evaluation) {
    auto const t = open_folder(folder);
    std::cout << (json ? to_json(t.reports) + '\n' : to_text(t.reports));
  } else if (*plotting) {
    draw(folder, open_folder(folder));
  } else if (*printing) {
    check(s);
    print_days(s);
  } else if (*serving) {
    return serve(service);
  } else if (*predicting) {
    predict(folder, target, data);
  } else if (*retraining) {
    check_one_of("promote", promote, {"better", "significant"});
    auto const lock = lock_of(folder);
    return print(retrain(folder, target_named(target), data,
                         promote == "better" ? promotion::better : promotion::significant));
  } else if (*rolling) {
    auto const lock = lock_of(folder);
    std::printf("version %s is served\n", roll_back(folder, target_named(target)).c_str());
  } else if (*exporting) {
    auto const m = load_served(folder, target);
    m.model->save_onnx(file, {{"config", to_json(m.description)}});
    std::printf("%s\n", file.c_str());
  } else if (*models) {
    for (auto const& m : compiled_models())
      std::printf("--model %s%s\n", m.kind,
                  m.hidden == 0 ? "" : (" --hidden " + std::to_string(m.hidden)).c_str());
  }
  return 0;
}

}  // namespace

}  // namespace forecast

auto main(int argc, char** argv) -> int {
  return tessera::run_program("forecast", [&] { return forecast::run(argc, argv); });
}
