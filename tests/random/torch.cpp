// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <set>
#include <vector>

using namespace tessera;

static_assert(std::is_trivially_copyable_v<torch_generator>, "a state that can be saved");
static_assert(torch_generator(1).rand<float>() == torch_generator(1 + (1ULL << 32)).rand<float>(),
              "the low 32 bits of the seed count");

// -- reference: tests/reference/random_streams.py -------------------------------------------------
TEST_CASE("torch: the streams of manual_seed, bit for bit") {
  auto const g = test::golden("random_streams");
  for (auto const seed : {0ULL, 1ULL, 42ULL, (1ULL << 32) - 1, 1ULL << 63}) {
    auto const key = std::to_string(seed);
    INFO("seed " << key);
    auto r = torch_generator(seed);
    for (auto const want : g["rand." + key]) CHECK(static_cast<double>(r.rand<float>()) == want);
    r = torch_generator(seed);
    for (auto const want : g["rand64." + key]) CHECK(r.rand<double>() == want);
    r = torch_generator(seed);
    float uniform[50];
    r.uniform(uniform, 50, -0.1, 0.3);
    for (auto i = std::size_t{0}; i < 50; ++i)
      CHECK(static_cast<double>(uniform[i]) == g["uniform." + key][i]);
    r = torch_generator(seed);
    for (auto const want : g["randint." + key]) CHECK(r.randint(1000) == want);
    r = torch_generator(seed);
    int order[50];
    r.randperm(order, 50);
    for (auto i = std::size_t{0}; i < 50; ++i) CHECK(order[i] == g["randperm." + key][i]);
    r = torch_generator(seed);
    float coin[60];
    r.bernoulli(coin, 60, 0.3);
    for (auto i = std::size_t{0}; i < 60; ++i)
      CHECK(static_cast<double>(coin[i]) == g["bernoulli." + key][i]);
  }
}
TEST_CASE("torch: normal numbers within 1e-6") {
  auto const g = test::golden("random_streams");
  for (auto const seed : {0ULL, 1ULL, 42ULL, (1ULL << 32) - 1, 1ULL << 63}) {
    for (auto const n : {1, 15, 16, 17, 31, 100}) {
      auto const key = std::to_string(seed) + "." + std::to_string(n);
      INFO(key);
      auto r = torch_generator(seed);
      auto single = std::vector<float>(static_cast<std::size_t>(n));
      r.normal(single.data(), single.size());
      CHECK(test::distance(single, g["randn." + key]) <= 1e-6);
      r = torch_generator(seed);
      auto twice = std::vector<double>(static_cast<std::size_t>(n));
      r.normal(twice.data(), twice.size());
      CHECK(test::distance(twice, g["randn64." + key]) <= 4e-15);
    }
  }
}
TEST_CASE("torch: draws of several kinds share one stream") {
  auto const g = test::golden("random_streams");
  for (auto const seed : {0ULL, 1ULL, 42ULL}) {
    auto r = torch_generator(seed);
    auto all_draws = std::vector<float>(31);
    auto* at = all_draws.data();
    r.normal(at, 3);
    for (auto i = 3; i < 5; ++i) at[i] = r.rand<float>();
    r.normal(at + 5, 2);
    for (auto i = 7; i < 10; ++i) at[i] = static_cast<float>(r.randint(7));
    r.normal(at + 10, 20);
    r.normal(at + 30, 1);
    CHECK(test::distance(all_draws, g["mixed." + std::to_string(seed)]) <= 1e-6);
  }
}

template <class Layer>
void starts_like_torch(torch_generator& r, test::golden const& g, std::string const& prefix) {
  auto p = parameters_of<Layer, owned<float>>{};
  Layer::initialize(p, r);
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        auto const& want = g["init." + prefix + "." + path.c_str()];
        INFO(prefix << "." << path.c_str());
        REQUIRE(want.size() == w.size());
        for (auto i = std::size_t{0}; i < want.size(); ++i)
          CHECK(static_cast<double>(w.values[i]) == want[i]);
      },
      p);
}
TEST_CASE("torch: modules start with the same bits, drawn in the same order") {
  auto const g = test::golden("random_streams");
  auto r = torch_generator(1);
  starts_like_torch<lstm<3, 5, lstm_options{.layers = 2}>>(r, g, "lstm");
  starts_like_torch<linear<5, 2>>(r, g, "linear");
  starts_like_torch<conv1d<4, 6, 3, conv1d_options{.groups = 2}>>(r, g, "conv");
  starts_like_torch<attention_layer<8, attention_options{.heads = 2}>>(r, g, "mha");
  starts_like_torch<layer_norm<3>>(r, g, "norm");
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("torch: a permutation has every number once, for any length") {
  auto r = torch_generator(3);
  for (auto n = std::size_t{0}; n < 300; n += 7) {
    auto order = std::vector<std::uint32_t>(n);
    r.randperm(order.data(), n);
    auto const seen = std::set<std::uint32_t>(order.begin(), order.end());
    CHECK(seen.size() == n);
    if (n > 0) CHECK(*seen.rbegin() == n - 1);
  }
}
TEST_CASE("torch: a saved state goes on alike, with its kept normal number") {
  auto r = torch_generator(3);
  float one = 0;
  r.normal(&one, 1);
  auto saved = r;
  float a[5];
  float b[5];
  r.normal(a, 5);
  saved.normal(b, 5);
  CHECK(std::memcmp(a, b, sizeof a) == 0);
  CHECK(saved == r);
}
TEST_CASE(
    "torch_generator: whole numbers below a bound of 2^28 or more are of 64 bits, as torch's") {
  auto g = torch_generator(1);  // torch 2.15: torch.randint(3 << 30, (3,)) after manual_seed(1)
  CHECK(g.randint(3U << 30U) == 2135392491);
  CHECK(g.randint(3U << 30U) == 784077896);
  CHECK(g.randint(3U << 30U) == 1624032137);
  auto a = torch_generator(1);
  auto b = torch_generator(1);
  CHECK(a.randint((1U << 28U) - 1) == b.random() % ((1U << 28U) - 1));
}
TEST_CASE("torch_generator: normal numbers of another mean and deviation are the same draws") {
  for (auto const n : {5U, 20U}) {
    auto a = std::vector<double>(n);
    auto b = a;
    auto first = torch_generator(3);
    auto second = torch_generator(3);
    first.normal(a.data(), n);
    second.normal(b.data(), n, 3, 0.5);
    for (auto i = std::size_t{0}; i < n; ++i) CHECK(b[i] == Approx(a[i] * 0.5 + 3));
  }
}
