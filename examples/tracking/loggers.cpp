// SPDX-License-Identifier: MIT
#include "loggers.hpp"

#include <tessera/track/csv_logger.hpp>
#include <tessera/track/json_lines_logger.hpp>
#include <tessera/track/loggers.hpp>
#include <tessera/track/mlflow_logger.hpp>
#include <tessera/track/tensorboard_logger.hpp>
#include <tessera/track/training_logger.hpp>
#include <tessera/track/wandb_logger.hpp>
#include <tessera/train/learning_rate_monitor.hpp>

namespace tracking {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

[[nodiscard]] auto free_name(fs::path const& folder, std::string const& name) -> std::string {
  auto const taken = [&](std::string const& one) {
    return fs::exists(folder / one) || fs::exists(folder / "tensorboard" / one);
  };
  auto found = name;
  for (auto i = 2; taken(found); ++i) found = name + '.' + std::to_string(i);
  return found;
}

[[nodiscard]] auto make_logger(std::string const& kind, std::string const& mlflow_url,
                               fs::path const& folder, std::string const& name)
    -> std::unique_ptr<logger> {
  if (kind == "csv") return std::make_unique<csv_logger>(folder / name);
  if (kind == "json") return std::make_unique<json_lines_logger>(folder / name / "metrics.jsonl");
  if (kind == "tensorboard")
    return std::make_unique<tensorboard_logger>(folder / "tensorboard" / name);
  if (kind == "wandb") return std::make_unique<wandb_logger>(wandb_options{.folder = folder});
  return std::make_unique<mlflow_logger>(mlflow_options{.url = mlflow_url});
}

/// Begins a run with the training, so that one that is refused leaves nothing, and ends it.
class run_of_training : public callback {
 public:
  run_of_training(std::shared_ptr<logger_group> group, logger_settings which, fs::path folder,
                  run_info run)
      : group_(std::move(group)),
        which_(std::move(which)),
        folder_(std::move(folder)),
        run_(std::move(run)) {}

  void on_fit_start(fit_control& fit) override {
    if (fit.options().fast_dev_run > 0) return;
    run_.name = free_name(folder_, run_.name);
    run_.started = std::chrono::system_clock::now();
    for (auto const& kind : which_.names())
      group_->add(make_logger(kind, which_.mlflow_url, folder_, run_.name));
    group_->begin(run_);
  }
  void on_fit_end(fit_control&, ending how) override {
    group_->finish(how == ending::interrupted ? run_state::stopped : run_state::finished);
  }
  void on_exception(fit_control&, std::exception const&) override {
    group_->finish(run_state::failed);
  }

 private:
  std::shared_ptr<logger_group> group_;
  logger_settings which_;
  fs::path folder_;
  run_info run_;
};

}  // namespace

auto logger_settings::names() const -> std::vector<std::string> {
  if (loggers == "none") return {};
  return check_words("loggers", loggers, {"csv", "json", "tensorboard", "wandb", "mlflow"});
}

void add_loggers(callbacks& to, logger_settings const& which, fs::path const& folder,
                 run_info run) {
  if (which.names().empty()) return;
  auto const group = std::make_shared<logger_group>();
  to.push_back(std::make_shared<run_of_training>(group, which, folder, std::move(run)));
  to.push_back(std::make_shared<learning_rate_monitor>());
  to.push_back(std::make_shared<training_logger>(group));
}

}  // namespace tracking
