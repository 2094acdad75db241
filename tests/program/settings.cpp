// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/program/settings.hpp>

#include <bit>
#include <cmath>

using namespace tessera;

namespace {

struct settings {
  std::string kind = "plain";
  double rate = 3e-3;
  std::optional<std::uint64_t> epochs;
  std::optional<double> decay;
  std::optional<std::string> note;
  std::uint64_t seed = 1;
  std::uint64_t threads = 0;

  static void visit(auto const& f, auto& s) {
    f("kind", s.kind, "plain or film");
    f("rate", s.rate, "at the start", {0, 10});
    f("epochs", s.epochs, "passes", {1, 1000});
    f("decay", s.decay, "of weights", {0, 0.5});
    f("note", s.note, "for the reader");
    f("seed", s.seed, "of the weights", {.high = 4294967295});
    f("threads", s.threads, "of a batch", {.changes_result = false});
  }
  friend auto operator==(settings const&, settings const&) -> bool = default;
};

auto message_of(auto const& f) -> std::string {
  try {
    f();
  } catch (usage_error const& e) {
    return e.what();
  }
  return "nothing is thrown";
}

struct config {
  test::folder folder;
  std::filesystem::path path = folder / "config.yaml";

  [[nodiscard]] auto read(std::string const& text) const -> settings {
    write_file(path, text);
    auto s = settings{};
    read_config(path.string(), s);
    return s;
  }
  /// What the file is refused for, without its name.
  [[nodiscard]] auto refused(std::string const& text) const -> std::string {
    auto const said = message_of([&] { (void)read(text); });
    auto const name = path.string() + ": ";
    return said.starts_with(name) ? said.substr(name.size()) : said;
  }
};

}  // namespace

TEST_CASE("settings: what a file names is read over the defaults") {
  auto const c = config{};
  CHECK(c.read("") == settings{});
  CHECK(c.read("# nothing\n") == settings{});
  CHECK(c.read("~\n") == settings{});
  auto want = settings{};
  want.rate = 0.25;
  want.epochs = 7;
  want.kind = "film";
  CHECK(c.read("rate: 0.25\nepochs: 7\nkind: \"film\"\n") == want);
  CHECK(c.read("{kind: film, epochs: 7, rate: 25e-2}") == want);
  CHECK(c.read("threads: 18446744073709551615").threads == ~std::uint64_t{0});
  CHECK(c.read("threads: 0").threads == 0);
}

TEST_CASE("settings: a file that is none is refused by its name and the reason") {
  auto const c = config{};
  CHECK(c.refused("rate: [").starts_with("is not YAML: "));
  CHECK(c.refused("a: 1\n---\nb: 2\n") == "has more than one document");
  CHECK(c.refused("kind: caf\xe9\n") == "expected UTF-8, byte 9 is none");
  for (auto const* const quote : {"'", "\""})
    for (auto const* const end : {"", "\n", "\nepochs: 4\n"})
      CHECK(c.refused("rate: 1\nkind: " + std::string{quote} + "film" + end)
                .starts_with("is not YAML: "));
  CHECK(c.read("rate: 2\n...\n").rate == 2);
  CHECK(c.refused(std::string{"kind: a\0n\n", 10}) == "has a control character");
  CHECK(c.refused("kind: a\x1b[1m\n") == "has a control character");
  CHECK(c.refused("- rate\n- 1\n") == "expected keys and values");
  CHECK(c.refused("rate\n") == "expected keys and values");
  CHECK(c.refused("[1, 2]: 3\n") == "a key is no name");
  CHECK(c.refused("rate: 1\nseed: 2\nrate: 1\n") == "the key rate comes twice");
  CHECK(c.refused("speed: 1\n") == "unknown key speed");
  CHECK(c.refused(std::string(100, 'k') + ": 1\n") ==
        "unknown key " + std::string(60, 'k') + "...");
  CHECK(c.refused("#" + std::string(65535, ' ')) == "nothing is thrown");
  CHECK(c.refused("#" + std::string(65536, ' ')) == "has 65537 bytes; settings take at most 65536");
  auto s = settings{};
  CHECK_THROWS_AS(read_config((c.folder / "none.yaml").string(), s), file_error);
  CHECK_THROWS_AS(read_config(c.folder.path().string(), s), file_error);
}

TEST_CASE("settings: a value of another type is refused") {
  auto const c = config{};
  auto const number = std::string{"rate: expected a finite number, got "};
  auto const whole = std::string{"a whole number of 0 or more, in decimal digits, got "};
  for (auto const* const given :
       {"fast", "1e-400", "1e400", "inf", ".nan", "nan", "0x10", "1,5", "+1"})
    CHECK(c.refused("rate: " + std::string{given}) == number + given);
  for (auto const* const given :
       {"-1", "0100", "0x10", "1.0", "1e3", "many", "+1", "00", "18446744073709551616"}) {
    CHECK(c.refused("seed: " + std::string{given}) == "seed: expected " + whole + given);
    CHECK(c.refused("epochs: " + std::string{given}) == "epochs: expected " + whole + given);
  }
  CHECK(c.refused("rate: \"\"") == number);
  CHECK(c.refused("rate: ' 1'") == number + " 1");
  for (auto const* const given : {"", "[1]", "{a: 1}"}) {
    auto const nothing = std::string{", got a list, a map or nothing"};
    CHECK(c.refused("rate: " + std::string{given}) == "rate: expected a finite number" + nothing);
    CHECK(c.refused("kind: " + std::string{given}) == "kind: expected a text" + nothing);
  }
}

TEST_CASE("settings: written as YAML they are read as the same bits") {
  auto const c = config{};
  auto s = settings{};
  for (auto const rate : {0.0, -0.0, 0.1, 1.0 / 3, 1e-4, 5e-324, 2.2250738585072014e-308,
                          1.7976931348623157e308, 100'000.0, std::nextafter(1.0, 2.0)}) {
    s.rate = rate;
    s.decay = -rate;
    auto const back = c.read(to_yaml(s));
    CHECK(std::bit_cast<std::uint64_t>(back.rate) == std::bit_cast<std::uint64_t>(rate));
    CHECK(std::bit_cast<std::uint64_t>(*back.decay) == std::bit_cast<std::uint64_t>(-rate));
  }
  s.seed = s.threads = ~std::uint64_t{0};
  for (auto const* const text :
       {"",           " ",    "a: b",      "- a",  "# a",
        "~",          "null", "'a' \"b\"", "true", "1",
        "two\nlines", "[",    "\xc3\xa4",  "\r",   "run\r",
        "\r\n",       "?\r",  "a\rb: \\",  "\x7f", "a\x7f\x7f\r\x1b[1m\xc2\x9b"}) {
    s.kind = text;
    s.note = text;
    CHECK(c.read(to_yaml(s)) == s);
  }
}

TEST_CASE("settings: texts that no file of settings can hold are refused before it is written") {
  auto s = settings{};
  auto const said = [&] { return message_of([&] { (void)to_yaml(s); }); };
  s.note = "caf\xe9";
  CHECK(said() == "--note: expected UTF-8, byte 3 is none");
  CHECK(message_of([&] { (void)to_result_yaml(s); }) == said());
  s.note = std::string(65'536, 'x');
  CHECK(said() == "settings: expected at most 65536 bytes as YAML, got 65586");
  s.note->resize(65'536 - 50);
  CHECK(said() == "nothing is thrown");
  CHECK(config{}.read(to_yaml(s)) == s);
}

TEST_CASE("settings: in the order of visit, without what is undecided or changes no result") {
  auto s = settings{};
  CHECK(to_yaml(s) == "kind: plain\nrate: 0.003\nseed: 1\nthreads: 0\n");
  CHECK(to_result_yaml(s) == "kind: plain\nrate: 0.003\nseed: 1\n");
  s.epochs = 5;
  s.decay = 1e-5;
  CHECK(to_result_yaml(s) == "kind: plain\nrate: 0.003\nepochs: 5\ndecay: 1e-05\nseed: 1\n");
}

TEST_CASE("settings: ranges are checked in the order of visit, the undecided left out") {
  auto s = settings{};
  auto const said = [&] { return message_of([&] { check_ranges(s); }); };
  CHECK(said() == "nothing is thrown");
  s.rate = 10;
  s.epochs = 1000;
  s.seed = 4294967295;
  s.threads = ~std::uint64_t{0};
  CHECK(said() == "nothing is thrown");
  s.seed = 4294967296;
  CHECK(said() == "--seed: expected a number from 0 to 4294967295, got 4294967296");
  s.decay = 0.6;
  CHECK(said() == "--decay: expected a number from 0 to 0.5, got 0.6");
  s.epochs = 0;
  CHECK(said() == "--epochs: expected a number from 1 to 1000, got 0");
  s.rate = std::nan("");
  CHECK(said() == "--rate: expected a number from 0 to 10, got nan");
  s.rate = -1;
  CHECK(said() == "--rate: expected a number from 0 to 10, got -1");
}

TEST_CASE("settings: a refusal names the option, what was expected and what came") {
  CHECK(message_of([] { refuse("clip_norm", "a number", std::string{"none"}); }) ==
        "--clip-norm: expected a number, got none");
  CHECK(message_of([] { refuse("hidden", "64", std::uint64_t{32}); }) ==
        "--hidden: expected 64, got 32");
  CHECK(message_of([] { refuse("text", "less", std::string(99, 'x')); }) ==
        "--text: expected less, got " + std::string(60, 'x') + "...");
  CHECK(message_of([] { check_one_of("kind", "square", {"plain", "film"}); }) ==
        "--kind: expected one of plain, film, got square");
  CHECK_NOTHROW(check_one_of("kind", "film", {"plain", "film"}));
  auto const words = [](char const* list) { return check_words("kinds", list, {"a", "b", "c"}); };
  CHECK(words("c,a") == std::vector<std::string>{"c", "a"});
  CHECK(message_of([&] { (void)words("a,d"); }) == "--kinds: expected one of a, b, c, got d");
  CHECK(message_of([&] { (void)words("a,"); }) == "--kinds: expected one of a, b, c, got ");
  CHECK(message_of([&] { (void)words("b,a,b"); }) == "--kinds: expected each word once, got b,a,b");
  CHECK_NOTHROW(check_range("rate", 1.0, 0, 1));
  CHECK(message_of([] { check_range("print_rows", std::uint64_t{0}, 1, 100); }) ==
        "--print-rows: expected a number from 1 to 100, got 0");
}
