// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/program/training_settings.hpp>

using namespace tessera;

namespace {

struct settings {
  double learning_rate = 0.5;
  training_settings training = {.max_epochs = 7};

  static void visit(auto const& f, auto& s) {
    f("learning_rate", s.learning_rate, "of Adam");
    training_settings::visit(f, s.training, "train");
  }
};
/// The settings after a command line, by subcommand `train`.
struct parsed {
  settings s;
  std::string resume;
  std::string help;
};
[[nodiscard]] auto parse(std::vector<std::string> const& words, char const* command = "train")
    -> parsed {
  auto result = parsed{};
  auto app = CLI::App{};
  auto* const train = app.add_subcommand(command);
  add_options(*train, result.s);
  add_resume(*train, result.resume);
  auto all = std::vector<char const*>{"program", command};
  for (auto const& word : words) all.push_back(word.c_str());
  (void)parse_command_line(app, static_cast<int>(all.size()), all.data());
  result.help = train->help();
  return result;
}

}  // namespace

TEST_CASE("training_settings: the command line's words are the trainer's options") {
  auto const o = parse({"--max-epochs",
                        "3",
                        "--max-steps=40",
                        "--max-time",
                        "2.5",
                        "--gradient-clip-val",
                        "0.5",
                        "--gradient-clip-algorithm",
                        "value",
                        "--accumulate-grad-batches",
                        "4",
                        "--limit-train-batches",
                        "0.5",
                        "--limit-val-batches",
                        "20",
                        "--overfit-batches",
                        "1",
                        "--fast-dev-run",
                        "2",
                        "--val-check-interval",
                        "0.25",
                        "--check-val-every-n-epoch",
                        "3",
                        "--num-sanity-val-steps",
                        "0",
                        "--precision",
                        "bf16",
                        "--threads",
                        "5",
                        "--checkpoint-seconds",
                        "1.5"})
                     .s.training.options();
  CHECK(o.max_epochs == 3);
  CHECK(o.max_steps == 40);
  CHECK(o.max_time == 2.5);
  CHECK(o.gradient_clip_val == 0.5);
  CHECK(o.gradient_clip_algorithm == "value");
  CHECK(o.accumulate_grad_batches == 4);
  CHECK(o.limit_train_batches.text() == "0.5");
  CHECK(o.limit_val_batches.text() == "20");
  CHECK(o.overfit_batches.text() == "1");
  CHECK(o.fast_dev_run == 2);
  CHECK(o.val_check_interval.text() == "0.25");
  CHECK(o.check_val_every_n_epoch == 3);
  CHECK(o.num_sanity_val_steps == 0);
  CHECK(o.precision == "bf16");
  CHECK(o.threads == 5);
  CHECK(o.checkpoint_seconds == 1.5);
}
TEST_CASE("training_settings: without a word they are the trainer's defaults and the program's") {
  auto const o = parse({}).s.training.options();
  auto const d = trainer_options{};
  CHECK(o.max_epochs == 7);
  CHECK(o.facts() == d.facts());
  CHECK(o.limit_train_batches.text() == d.limit_train_batches.text());
  CHECK(o.num_sanity_val_steps == d.num_sanity_val_steps);
  CHECK(o.max_steps == d.max_steps);
  CHECK(o.max_time == d.max_time);
  CHECK(o.threads == std::thread::hardware_concurrency());
  CHECK(parse({}).s.training.made_callbacks().empty());
  CHECK(parse({}).help.find("--max-epochs UINT=7") != std::string::npos);
}
TEST_CASE("training_settings: patience and checkpoints to keep are what callbacks are made with") {
  auto const words =
      std::vector<std::string>{"--patience", "4", "--min-delta", "0.25", "--save-top-k", "5"};
  auto const made = parse(words).s.training.made_callbacks();
  REQUIRE(made.size() == 2);
  CHECK(made[0]->settings() == early_stopping({.min_delta = 0.25, .patience = 4}).settings());
  CHECK(made[1]->settings() == model_checkpoint({.save_top_k = 5}).settings());
}
TEST_CASE("training_settings: --resume alone is the last") {
  CHECK(parse({}).resume.empty());
  CHECK(parse({"--resume"}).resume == "last");
  CHECK(parse({"--resume", "--max-epochs", "2"}).resume == "last");
  CHECK(parse({"--resume", "best"}).resume == "best");
  CHECK(parse({"--resume=some/file"}).resume == "some/file");
}
TEST_CASE("training_settings: what is none is refused by name") {
  auto const refuses = [](std::vector<std::string> const& words, std::string const& why) {
    CHECK_THROWS_WITH((check_ranges(parse(words).s), parse(words).s.training.check()),
                      Catch::Contains(why));
  };
  auto const expected = std::string{": expected a number of batches, as 20, or a share, as 0.5 "};
  refuses({"--limit-train-batches", "1.5"}, "--limit-train-batches" + expected);
  refuses({"--limit-val-batches", "0"}, "--limit-val-batches" + expected);
  refuses({"--overfit-batches", "some"}, "--overfit-batches" + expected);
  refuses({"--precision", "16"}, "--precision: expected one of 32, bf16, got 16");
  refuses({"--gradient-clip-algorithm", "sum"}, "expected one of norm, value, got sum");
  refuses({"--device", "tpu"}, "--device: expected one of auto, cpu, cuda, got tpu");
  refuses({"--max-epochs", "0"}, "--max-epochs: expected a number from 1 to");
  refuses({"--accumulate-grad-batches", "0"},
          "--accumulate-grad-batches: expected a number from 1");
  CHECK_THROWS_AS(parse({"--max-epochs", "2"}, "sample"), usage_error);
}
TEST_CASE("training_settings: what changes no result is not what a training is resumed by") {
  auto s = settings{};
  s.training.device = "cpu";
  s.training.threads = 3;
  s.training.max_time = 9;
  s.training.num_sanity_val_steps = 0;
  s.training.fast_dev_run = 1;
  s.training.checkpoint_seconds = 1;
  CHECK(to_result_yaml(s) == to_result_yaml(settings{}));
  s.training.accumulate_grad_batches = 2;
  CHECK(to_result_yaml(s) != to_result_yaml(settings{}));
}
