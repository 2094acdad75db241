// SPDX-License-Identifier: MIT
#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/bridge/npy.hpp>
#include <tessera/generate/compiled_model.hpp>
#include <tessera/io/mapped_file.hpp>
#include <tessera/program/settings.hpp>
#include <tessera/text/gguf_tokenizer.hpp>

#include <nlohmann/json.hpp>
#include <xtensor/xadapt.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "commands.hpp"
#include "model_options.hpp"
#include "sentences.hpp"

#define AGENTS_LITERAL_OF(...) #__VA_ARGS__
#define AGENTS_LITERAL(...) AGENTS_LITERAL_OF(__VA_ARGS__)

namespace agents {

namespace {

using namespace tessera;
constexpr auto instruction_set = AGENTS_LITERAL(TESSERA_TARGET);
using clock = std::chrono::steady_clock;

struct bench_settings {
  model_options model;
  std::size_t tokens = 64;
  std::size_t runs = 5;
  std::string sentences;
  std::string ids;
  std::string prompts;
  std::string scores;
  std::string perplexity;
  std::optional<std::size_t> window;
};

[[nodiscard]] auto seconds_of(auto const& work) -> double {
  auto const begun = clock::now();
  work();
  return std::chrono::duration<double>(clock::now() - begun).count();
}
[[nodiscard]] auto median_seconds(std::size_t runs, auto const& work) -> double {
  work();
  auto times = std::vector<double>{};
  for (auto i = std::size_t{0}; i < runs; ++i) times.push_back(seconds_of(work));
  std::ranges::sort(times);
  return times[times.size() / 2];
}
/// Bytes in memory that no file is behind, without what was given back and is kept for later.
[[nodiscard]] auto anonymous_bytes() -> std::size_t {
#if defined(__GLIBC__)
  static_cast<void>(malloc_trim(0));
#endif
  auto file = std::ifstream{"/proc/self/status"};
  for (auto word = std::string{}; file >> word;)
    if (word == "RssAnon:") {
      auto kilobytes = std::size_t{0};
      file >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

/// Feeds lanes and forgets what they say.
class feeder {
 public:
  explicit feeder(lane_model& model) : model_(model) {}
  /// Reads a prompt of `size` tokens into a lane that begins anew.
  void read_prompt(std::size_t lane, std::size_t size) {
    auto prompt = std::vector<std::uint32_t>(size);
    for (auto i = std::size_t{0}; i < size; ++i)
      prompt[i] = static_cast<std::uint32_t>(7 + i * 31 % (model_.bounds().vocabulary - 8));
    for (auto at = std::size_t{0}; at < size;) {
      auto const n = std::min(model_.bounds().rows, size - at);
      auto const part = std::array{lane_tokens{lane, at, std::span{prompt}.subspan(at, n)}};
      auto scores = std::array<std::span<float const>, 1>{};
      model_.step(part, scores);
      at += n;
    }
  }
  /// A token for each of the first lanes, which have seen `seen` ones.
  void step(std::size_t lanes, std::size_t seen) {
    auto const token = std::array{std::uint32_t{11}};
    auto parts = std::vector<lane_tokens>{};
    for (auto lane = std::size_t{0}; lane < lanes; ++lane) parts.push_back({lane, seen, token});
    auto scores = std::vector<std::span<float const>>(lanes);
    model_.step(parts, scores);
  }

 private:
  lane_model& model_;
};

/// How fast one thread reads the memory of a file, in order, with the next lines asked for: the
/// bound of one sequence's steps.
[[nodiscard]] auto bytes_per_second(std::string const& path) -> double {
  constexpr auto line = std::size_t{64} / sizeof(std::uint64_t);
  constexpr auto ahead = std::size_t{4096} / sizeof(std::uint64_t);
  auto const file = mapped_file(path);
  auto const bytes = file.bytes();
  auto const* const words = reinterpret_cast<std::uint64_t const*>(bytes.data());
  auto const count = bytes.size() / sizeof(std::uint64_t);
  auto volatile sum = std::uint64_t{0};
  auto const seconds = median_seconds(5, [&] {
    auto parts = std::array<std::uint64_t, line>{};
    for (auto i = std::size_t{0}; i + line <= count; i += line) {
      __builtin_prefetch(words + std::min(i + ahead, count - line));
      for (auto w = std::size_t{0}; w < line; ++w) parts[w] += words[i + w];
    }
    sum = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  });
  return static_cast<double>(bytes.size()) / seconds;
}

/// The file's list of tensors and its tokenizer, and the memory that they took: a model's own take
/// as much.
struct measured_file {
  std::size_t before = anonymous_bytes();
  open_gguf file;
  tokenizer words;
  std::size_t bytes = anonymous_bytes() - before;

  explicit measured_file(std::string const& path)
      : file(path), words(load_tokenizer(file.content)) {}
};
/// What sequences touch of the memory that memory_of counts: caches of the tokens that were held,
/// in pages, of which each run of a sequence's keys or values shares one with others; of
/// attention's work the longest sequence's share of a context; and of scores those of last tokens.
/// All else is counted whole.
[[nodiscard]] auto touched_bytes(lanes_of_file const& opened, std::size_t held, std::size_t longest)
    -> std::size_t {
  constexpr auto page = std::size_t{4096};
  auto const bounds = opened.model->bounds();
  auto const caches = bounds.lanes * bounds.context * opened.token_bytes;
  auto const scores = (bounds.rows - bounds.lanes) * bounds.vocabulary * sizeof(float);
  auto const attention = opened.attention_bytes * (bounds.context - longest) / bounds.context;
  return opened.parameter_bytes + opened.stream_bytes - caches - scores - attention +
         held * opened.token_bytes + bounds.lanes * opened.token_runs * page;
}
void print_memory(lanes_of_file const& opened, std::size_t held, std::size_t longest,
                  std::size_t resident) {
  auto const expected = touched_bytes(opened, held, longest);
  std::printf(
      "memory_of: %zu bytes, of which %zu are touched with %zu tokens in caches; resident beside "
      "the file and the tokenizer: %zu, %+.1f %%\n",
      opened.parameter_bytes + opened.stream_bytes, expected, held, resident,
      100 * (static_cast<double>(resident) / static_cast<double>(expected) - 1));
}

[[nodiscard]] auto opened_lanes_of(bench_settings const& s) -> lanes_of_file {
  auto how = s.model.how;
  how.texts_alone = true;
  return open_lanes(s.model.path, how);
}
void measure(bench_settings const& s) {
  auto const file = measured_file(s.model.path);
  auto const before = anonymous_bytes();
  auto opened = opened_lanes_of(s);
  auto const bounds = opened.model->bounds();
  if (16 + s.tokens > bounds.context)
    refuse("tokens", "a number from 1 to " + std::to_string(bounds.context - 16), s.tokens);
  auto feed = feeder(*opened.model);
  std::printf("%s, %zu threads, %zu sequences at most, %zu tokens of context, %s%s\n",
              opened.name.c_str(), s.model.how.threads, bounds.lanes, bounds.context,
              instruction_set, lane::has_matrix_unit() ? ", AMX" : "");
  auto longest = 16 + s.tokens;
  for (auto const size : {std::size_t{128}, std::size_t{512}}) {
    if (size >= bounds.context) continue;
    longest = std::max(longest, size);
    auto const seconds = median_seconds(s.runs, [&] { feed.read_prompt(0, size); });
    std::printf("prompt of %zu tokens: %.1f tokens/s\n", size, static_cast<double>(size) / seconds);
  }
  auto alone = 0.0;
  for (auto const lanes : {std::size_t{1}, bounds.lanes}) {
    for (auto lane = std::size_t{0}; lane < lanes; ++lane) feed.read_prompt(lane, 16);
    auto const seconds = median_seconds(s.runs, [&] {
      for (auto i = std::size_t{0}; i < s.tokens; ++i) feed.step(lanes, 16 + i);
    });
    auto const rate = static_cast<double>(lanes * s.tokens) / seconds;
    if (lanes == 1) alone = rate;
    std::printf("%zu sequence%s: %.1f tokens/s, %.2f x of one\n", lanes, lanes == 1 ? "" : "s",
                rate, rate / alone);
  }
  auto const memory = bytes_per_second(s.model.path);
  std::printf("memory read by one thread: %.1f GB/s, %.1f tokens/s of one sequence at most\n",
              memory * 1e-9, memory / static_cast<double>(opened.file_bytes));
  auto const held = (bounds.lanes - 1) * (16 + s.tokens) + longest;
  print_memory(opened, held, longest, anonymous_bytes() - before - file.bytes);
}

/// The perplexity of a text, by windows of its tokens, as many at a time as there are lanes. The
/// first token of each is not asked for.
void measure_perplexity(bench_settings const& s) {
  auto opened = opened_lanes_of(s);
  auto const bounds = opened.model->bounds();
  auto const window = s.window.value_or(std::min<std::size_t>(512, bounds.context));
  if (window > bounds.context)
    refuse("window", "a number from 2 to " + std::to_string(bounds.context), window);
  auto const text = read_text(s.perplexity);
  if (auto const fault = fault_of_utf8(text); not fault.empty())
    throw file_error(s.perplexity, fault);
  auto const tokens = opened.texts.encode(text);
  if (tokens.size() < 2)
    throw file_error(s.perplexity,
                     "expected two tokens at least, got " + std::to_string(tokens.size()));
  auto windows = std::vector<std::span<std::uint32_t const>>{};
  for (auto at = std::size_t{0}; at + 1 < tokens.size(); at += window)
    windows.push_back(std::span{tokens}.subspan(at, std::min(window, tokens.size() - at)));
  auto sum = 0.0;
  auto count = std::size_t{0};
  auto scores = std::vector<std::span<float const>>(bounds.lanes);
  for (auto first = std::size_t{0}; first < windows.size(); first += bounds.lanes) {
    for (auto at = std::size_t{0}; at + 1 < window; ++at) {
      auto parts = std::vector<lane_tokens>{};
      for (auto i = first; i < std::min(windows.size(), first + bounds.lanes); ++i)
        if (at + 1 < windows[i].size()) parts.push_back({i - first, at, windows[i].subspan(at, 1)});
      if (parts.empty()) break;
      opened.model->step(parts, std::span{scores}.first(parts.size()));
      for (auto i = std::size_t{0}; i < parts.size(); ++i) {
        auto const most = *std::ranges::max_element(scores[i]);
        auto total = 0.0;
        for (auto const score : scores[i]) total += std::exp(static_cast<double>(score - most));
        auto const next = windows[first + parts[i].lane][at + 1];
        sum += std::log(total) - static_cast<double>(scores[i][next] - most);
        ++count;
      }
    }
  }
  std::printf("perplexity %.5f of %zu tokens, in windows of %zu%s\n",
              std::exp(sum / static_cast<double>(count)), count, window,
              s.model.how.exact ? ", weights widened" : ", weights as stored");
}
/// The scores of all tokens behind each line of a file, as one array (lines, vocabulary).
void write_scores(bench_settings const& s) {
  auto opened = opened_lanes_of(s);
  auto const bounds = opened.model->bounds();
  auto lines = std::istringstream{read_text(s.prompts)};
  auto all = std::vector<float>{};
  auto count = std::size_t{0};
  for (auto line = std::string{}; std::getline(lines, line); ++count) {
    auto const tokens = opened.texts.encode(line);
    if (tokens.empty() || tokens.size() > bounds.context)
      throw file_error(s.prompts, "line " + std::to_string(count + 1) + ": expected 1 to " +
                                      std::to_string(bounds.context) + " tokens, got " +
                                      std::to_string(tokens.size()));
    auto scores = std::array<std::span<float const>, 1>{};
    for (auto at = std::size_t{0}; at < tokens.size();) {
      auto const n = std::min(bounds.rows, tokens.size() - at);
      opened.model->step(std::array{lane_tokens{0, at, std::span{tokens}.subspan(at, n)}}, scores);
      at += n;
    }
    all.insert(all.end(), scores[0].begin(), scores[0].end());
  }
  save_npy(s.scores, xt::adapt(all, std::vector<std::size_t>{count, bounds.vocabulary}));
}
/// The time of lists of tokens, each alone, through a model of sentences.
void measure_sentences(bench_settings const& s) {
  auto model = sentences(s.sentences);
  auto const text = nlohmann::json::parse(read_text(s.ids), nullptr, false);
  auto lists = std::vector<std::vector<std::uint32_t>>{};
  try {
    text.get_to(lists);
  } catch (nlohmann::json::exception const&) {
    throw file_error(s.ids, "expected a JSON list of lists of tokens");
  }
  auto to = std::vector<float>(model.width());
  auto const seconds = median_seconds(1, [&] {
    for (auto const& tokens : lists) model.embed(tokens, to);
  });
  std::printf("{\"seconds\": %.6f}\n", seconds);
}
[[nodiscard]] auto bench(bench_settings const& s) -> int {
  if (not s.sentences.empty())
    measure_sentences(s);
  else if (s.model.path.empty())
    throw usage_error("bench: expected --model or --sentences, got none");
  else if (not s.prompts.empty())
    write_scores(s);
  else if (s.perplexity.empty())
    measure(s);
  else
    measure_perplexity(s);
  return 0;
}

}  // namespace

auto add_bench(CLI::App& program) -> command {
  auto* const app =
      program.add_subcommand("bench", "measure a model: tokens/s, memory, perplexity");
  auto const s = std::make_shared<bench_settings>();
  s->model.add_to(*app, false);
  app->add_option("--tokens", s->tokens, "of each timed sequence")
      ->capture_default_str()
      ->check(CLI::Range(1, 512));
  app->add_option("--runs", s->runs, "of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--perplexity", s->perplexity, "the perplexity of this file's text, instead");
  app->add_option("--window", s->window,
                  "tokens that are read together for it (default 512, or the context)")
      ->check(CLI::Range(2, 1 << 20));
  auto* const prompts =
      app->add_option("--prompts", s->prompts, "a text in each line of this file");
  auto* const scores =
      app->add_option("--scores", s->scores, "an NPY file for the scores behind each, instead")
          ->needs(prompts);
  prompts->needs(scores);
  auto* const folder =
      app->add_option("--sentences", s->sentences, "a folder of bert, whose time is taken instead");
  app->add_option("--ids", s->ids, "a JSON file with the tokens of each sentence")->needs(folder);
  folder->needs("--ids");
  return {app, [s] { return bench(*s); }};
}

}  // namespace agents
