// SPDX-License-Identifier: MIT
// GPT-2 small in float, from random weights, which are read where they lie: one token after 128
// others, and 128 tokens at once. Positions are rotary, and the scores have weights of their own.
#include <tessera/models/gpt.hpp>
#include <tessera/tessera.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "reads.hpp"
#include "results.hpp"
#include "spread.hpp"

#include <benchmark/benchmark.h>

using namespace tessera;
using benchmark::State;

namespace {

constexpr auto vocabulary = std::size_t{50257};
constexpr auto prompt = std::size_t{128};
using model = gpt<gpt_options{
    .vocabulary = vocabulary, .width = 768, .blocks = 12, .heads = 12, .context = 1024}>;
using parameters = parameters_of<model, owned<float>>;
using token = tensor<float, shape<1>>;
using tokens = tensor<float, shape<prompt, 1>>;

/// The weights of all rows, made once.
auto weights() -> parameters const& {
  static auto const p = [] {
    auto made = std::make_unique<parameters>();
    auto g = torch_generator(1);
    model::initialize(*made, g);
    return made;
  }();
  return *p;
}
auto random_tokens() -> tokens {
  auto g = torch_generator(2);
  auto result = tokens{};
  for (auto& t : result) t = static_cast<float>(g.randint(vocabulary));
  return result;
}

/// Threads that share what the models compute; none for one.
struct shared_by {
  explicit shared_by(std::size_t threads) : team(threads) {
    if (threads < 2) return;
    spread(team);
    sharing.emplace(team);
  }
  workers team;
  std::optional<shared_operations> sharing;
};

/// Steps from the end of the prompt to its double, and again.
template <std::size_t Threads> void write_tokens(State& state) {
  auto const sharing = shared_by(Threads);
  auto const& p = weights();
  auto const run = std::make_unique<streaming<model, token>>();
  run->state = {};
  for (auto const t : random_tokens()) run->step(p, token{{t}});
  auto const start = std::make_unique<decltype(run->state)>(run->state);
  auto steps = std::size_t{0};
  for (auto _ : state) {
    benchmark::DoNotOptimize(run->step(p, token{{1.0F}}).data()[0]);
    if (++steps % prompt == 0) {
      state.PauseTiming();
      run->state = *start;
      state.ResumeTiming();
    }
  }
}
BENCHMARK(write_tokens<1>)->Name("gpt2/decode");
BENCHMARK(write_tokens<1>)->Name("one_thread/threads/gpt2/decode")->UseRealTime();
BENCHMARK(write_tokens<2>)->Name("threads/gpt2/decode")->UseRealTime();

/// The bound of a step: reads of the weights where they lie, but for the table of which it takes
/// one row.
void read_weights(State& state) {
  auto const& p = weights();
  for (auto _ : state)
    for_each_parameter(
        [](auto const& path, auto const& w) {
          if (!std::string_view{path.c_str()}.starts_with("embedding"))
            plain_reads::all_of({w.data(), w.size()});
        },
        p);
}
BENCHMARK(read_weights)->Name("gpt2/reads");

template <std::size_t Threads> void prefill(State& state) {
  auto const sharing = shared_by(Threads);
  auto const& p = weights();
  auto const run = std::make_unique<inference<model, tokens>>();
  auto const x = random_tokens();
  for (auto _ : state) benchmark::DoNotOptimize((*run)(p, x).data()[0]);
}
BENCHMARK(prefill<1>)->Name("gpt2/prefill128");
BENCHMARK(prefill<1>)->Name("one_thread/threads/gpt2/prefill128")->UseRealTime();
BENCHMARK(prefill<2>)->Name("threads/gpt2/prefill128")->UseRealTime();

/// The scores that follow the last token.
auto const tells_prefill =
    results::of_row("gpt2/prefill128", [](std::filesystem::path const& file) {
      auto const& p = weights();
      auto const run = std::make_unique<inference<model, tokens>>();
      auto const x = random_tokens();
      auto const scores = (*run)(p, x);
      auto last = std::make_unique<tensor<float, shape<1, vocabulary>>>();
      std::copy_n(scores.data() + (prompt - 1) * vocabulary, vocabulary, last->data());
      auto writer = safetensors_writer{};
      results::add_parameters(writer, p);
      results::add(writer, "x", x);
      results::add(writer, "result", *last);
      writer.write(file);
    });

/// The scores of steps behind the prompt.
auto const tells_decode = results::of_row("gpt2/decode", [](std::filesystem::path const& file) {
  auto const& p = weights();
  auto const run = std::make_unique<streaming<model, token>>();
  run->state = {};
  auto const x = random_tokens();
  for (auto const t : x) run->step(p, token{{t}});
  auto scores = std::make_unique<tensor<float, shape<2, vocabulary>>>();
  for (auto i = std::size_t{0}; i < 2; ++i)
    std::copy_n(run->step(p, token{{1.0F}}).data(), vocabulary, scores->data() + i * vocabulary);
  auto writer = safetensors_writer{};
  results::add_parameters(writer, p);
  results::add(writer, "x", x);
  results::add(writer, "results", *scores);
  writer.write(file);
});

}  // namespace
