// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/track/logger.hpp>

using namespace tessera;

namespace {

/// A format that holds texts alone.
struct texts_alone final : logger {
  std::string held;

  [[nodiscard]] auto title() const -> std::string override { return "texts"; }
  void text(moment when, std::string_view name, std::string_view words) override {
    held += std::to_string(when.step) + ' ' + std::string{name} + ' ' + std::string{words};
  }
};

}  // namespace

TEST_CASE("logger: what a format cannot hold is passed over") {
  auto only_texts = texts_alone{};
  logger& target = only_texts;
  target.begin({.name = "a"});
  target.scalars(1, std::vector<named_value>{{"loss", 1}});
  target.histogram(1, "weights", std::vector<float>{1, 2});
  target.image(1, "picture", {});
  target.text(2, "note", "words");
  target.hyperparameters({}, {});
  target.flush();
  target.finish(run_state::finished);
  target.interrupt();
  CHECK(only_texts.held == "2 note words");
}

TEST_CASE("logger: a setting keeps its kind") {
  auto const run =
      run_info{.name = "a", .settings = {{"adam", "yes"}, {"bias", true}, {"n", 3}, {"rate", 0.5}}};
  CHECK(std::get<std::string>(run.settings[0].value) == "yes");
  CHECK(std::get<bool>(run.settings[1].value));
  CHECK(std::get<std::int64_t>(run.settings[2].value) == 3);
  CHECK(std::get<double>(run.settings[3].value) == 0.5);
}
