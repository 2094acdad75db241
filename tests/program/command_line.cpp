// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/program/command_line.hpp>

using namespace tessera;

namespace {

struct settings {
  double learning_rate = 3e-3;
  std::string kind = "plain";
  std::optional<std::uint64_t> epochs;
  std::uint64_t seed = 1;

  static void visit(auto const& f, auto& s) {
    f("learning_rate", s.learning_rate, "at the start", {0, 10});
    f("kind", s.kind, "plain or film");
    f("epochs", s.epochs, "passes");
    f("seed", s.seed, "of the weights");
  }
};

struct of_two_commands {
  std::uint64_t seed = 1;
  std::uint64_t epochs = 2;
  double guidance = 0;

  static void visit(auto const& f, auto& s) {
    f("seed", s.seed, "of both");
    f("epochs", s.epochs, "of train", {.command = "train"});
    f("guidance", s.guidance, "of sample", {.command = "sample"});
  }
};

/// A program of these options alone.
struct program {
  settings s = {};
  bool runs = false;
  std::string help = "";

  void parse(std::vector<std::string> const& words) {
    auto arguments = std::vector<char const*>{"program"};
    for (auto const& word : words) arguments.push_back(word.c_str());
    auto const count = static_cast<int>(arguments.size());
    auto app = CLI::App{"A program"};
    add_config(app, count, arguments.data(), s);
    add_options(app, s, "by kind");
    help = app.help();
    runs = parse_command_line(app, count, arguments.data());
  }
  [[nodiscard]] auto refused(std::vector<std::string> const& words) -> std::string {
    try {
      parse(words);
    } catch (usage_error const& e) {
      return e.what();
    }
    return "nothing is thrown";
  }
};

/// What a file stream of the C library receives while `f` runs.
auto written(std::FILE* stream, std::filesystem::path const& path, auto const& f) -> std::string {
  std::fflush(stream);
  auto const kept = ::dup(::fileno(stream));
  auto const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(::dup2(file, ::fileno(stream)) >= 0);
  f();
  std::cout.flush();
  std::fflush(stream);
  REQUIRE(::dup2(kept, ::fileno(stream)) >= 0);
  ::close(file);
  ::close(kept);
  return test::text_of(path);
}

}  // namespace

TEST_CASE("command_line: an option for every setting, with - for _") {
  auto p = program{};
  p.parse({"--learning-rate", "0.5", "--kind=film", "--epochs", "7"});
  CHECK(p.runs);
  CHECK(p.s.learning_rate == 0.5);
  CHECK(p.s.kind == "film");
  CHECK(p.s.epochs == 7U);
  CHECK(p.s.seed == 1);
  p = {};
  p.parse({});
  CHECK(not p.s.epochs);
  p = {};
  p.parse({"--kind=", "--epochs=7"});
  CHECK(p.s.kind.empty());
  CHECK(p.s.epochs == 7U);
  CHECK(p.refused({"--epochs=", "7"}).starts_with("--epochs: expected a whole number"));
}

TEST_CASE("command_line: the file is read first, wherever it is named") {
  auto const folder = test::folder{};
  auto const path = (folder / "config.yaml").string();
  write_file(path, "learning_rate: 0.25\nepochs: 3\n");
  for (auto const& words : {std::vector<std::string>{"--learning-rate", "0.5", "--config", path},
                            {"--config=" + path, "--learning-rate", "0.5"}}) {
    auto p = program{};
    p.parse(words);
    CHECK(p.s.learning_rate == 0.5);
    CHECK(p.s.epochs == 3U);
  }
  auto p = program{};
  p.parse({"--config", path});
  CHECK(p.s.learning_rate == 0.25);
  CHECK(p.help.find("0.25") != std::string::npos);
  write_file(path, "speed: 1\n");
  CHECK(p.refused({"--config", path}) == path + ": unknown key speed");
  CHECK(p.refused({"--config"}) == "--config: 1 required TEXT missing");
}

TEST_CASE("command_line: values are as strict as in a file") {
  auto const whole = std::string{": expected a whole number of 0 or more, in decimal digits, got "};
  auto p = program{};
  CHECK(p.refused({"--seed", "0100"}) == "--seed" + whole + "0100");
  CHECK(p.refused({"--seed=-1"}) == "--seed" + whole + "-1");
  CHECK(p.refused({"--epochs", "1.5"}) == "--epochs" + whole + "1.5");
  CHECK(p.refused({"--learning-rate", "1e-400"}) ==
        "--learning-rate: expected a finite number, got 1e-400");
  CHECK(p.s.seed == 1);
  CHECK(not p.s.epochs);
}

TEST_CASE("command_line: what the program does not take is refused in one line") {
  auto p = program{};
  CHECK(p.refused({"--speed", "1"}).find("--speed") != std::string::npos);
  CHECK(p.refused({"--seed"}).find("--seed") != std::string::npos);
  CHECK(p.refused({"--seed", "1", "--seed", "2"}).find("--seed") != std::string::npos);
  auto const said = p.refused({"--" + std::string(1000, 'x') + "\n"});
  CHECK(said.size() <= 303);
  CHECK(said.find('\n') == std::string::npos);
}

TEST_CASE("command_line: help is printed, with defaults, and nothing runs") {
  auto const folder = test::folder{};
  auto p = program{};
  auto const printed = written(stdout, folder / "out", [&] { p.parse({"--help"}); });
  CHECK(not p.runs);
  CHECK(printed.find("A program") != std::string::npos);
  for (auto const* const part : {"--config", "--learning-rate", "0.003", "at the start", "plain",
                                 "passes (default by kind)", "of the weights"})
    CHECK(p.help.find(part) != std::string::npos);
}

TEST_CASE("command_line: a command has the options of all commands and its own") {
  auto const refuses = [](std::vector<char const*> words) {
    words.insert(words.begin(), "program");
    auto s = of_two_commands{};
    auto app = CLI::App{};
    for (auto const* const name : {"train", "sample"}) add_options(*app.add_subcommand(name), s);
    try {
      return not parse_command_line(app, static_cast<int>(words.size()), words.data());
    } catch (usage_error const&) {
      return true;
    }
  };
  CHECK(not refuses({"train", "--seed", "2", "--epochs", "3"}));
  CHECK(not refuses({"sample", "--seed", "2", "--guidance", "0.5"}));
  CHECK(refuses({"train", "--guidance", "0.5"}));
  CHECK(refuses({"sample", "--epochs", "3"}));
}

TEST_CASE("command_line: a single option beside the settings") {
  auto rows = std::uint64_t{10};
  auto app = CLI::App{};
  add_option(app, "print_rows", rows, "to print");
  CHECK(app.help().find("10") != std::string::npos);
  char const* const arguments[] = {"program", "--print-rows", "12"};
  CHECK(parse_command_line(app, 3, arguments));
  CHECK(rows == 12);
}

TEST_CASE("command_line: a text that is no UTF-8 is refused by its option") {
  auto text = std::string{};
  auto app = CLI::App{};
  app.add_option("--text", text)->check(utf8_text());
  char const* fine[] = {"program", "--text", "caf\xc3\xa9"};
  CHECK(parse_command_line(app, 3, fine));
  char const* cut[] = {"program", "--text", "caf\xc3"};
  CHECK_THROWS_WITH(parse_command_line(app, 3, cut), "--text: expected UTF-8, byte 3 is none");
}

TEST_CASE("command_line: a program ends with its code, or with 2 and one line") {
  auto const folder = test::folder{};
  auto code = -1;
  auto const errors = [&](auto const& f) {
    return written(stderr, folder / "err", [&] { code = run_program("name", f); });
  };
  CHECK(errors([] { return 130; }).empty());
  CHECK(code == 130);
  CHECK(errors([]() -> int { throw usage_error("two\nlines"); }) == "name: two lines\n");
  CHECK(code == 2);
  CHECK(errors([]() -> int { throw usage_error(std::string(2000, 'x')); }) ==
        "name: " + std::string(1000, 'x') + "...\n");
}
