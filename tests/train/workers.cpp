// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/room_for_threads.hpp>
#include <tessera/tessera.hpp>
#include <tessera/train/workers.hpp>

#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>

using namespace tessera;

TEST_CASE("workers: every task once, loop after loop") {
  for (auto const threads : {0U, 1U, 2U, 4U, 7U}) {
    auto team = workers(threads);
    auto counts = std::vector<int>(100);
    for (auto loop = 0; loop < 50; ++loop)
      team.run(counts.size(), [&](std::size_t i) { ++counts[i]; });
    for (auto const n : counts) CHECK(n == 50);
    team.run(0, [](std::size_t) { FAIL("there is no task"); });
  }
}
TEST_CASE("workers: what a task throws is thrown by the loop, and the team goes on") {
  auto team = workers(3);
  CHECK_THROWS_WITH(team.run(5,
                             [](std::size_t i) {
                               if (i == 4) throw std::runtime_error("task 4");
                             }),
                    "task 4");
  auto counts = std::vector<int>(5);
  team.run(5, [&](std::size_t i) { ++counts[i]; });
  CHECK(std::accumulate(counts.begin(), counts.end(), 0) == 5);
}

TEST_CASE("workers: a loop within a task, and loops of several threads, lose no task") {
  auto team = workers(3);
  auto counts = std::vector<std::atomic<int>>(4 * 8);
  team.run(4, [&](std::size_t i) { team.run(8, [&](std::size_t j) { ++counts[i * 8 + j]; }); });
  for (auto const& n : counts) CHECK(n == 1);

  auto const loops = [&] {
    for (auto loop = 0; loop < 200; ++loop)
      team.run(counts.size(), [&](std::size_t i) { ++counts[i]; });
  };
  auto other = std::thread(loops);
  loops();
  other.join();
  for (auto const& n : counts) CHECK(n == 401);
}
TEST_CASE("workers: threads that fell asleep wake for the next loop") {
  auto team = workers(2);
  auto counts = std::vector<int>(2);
  for (auto loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds{loop % 2});
    team.run(2, [&](std::size_t i) { ++counts[i]; });
  }
  CHECK(counts == std::vector{20, 20});
}

namespace {

/// A forward and a backward, with the sizes at which kernels share a product.
struct network {
  using model = sequential<linear<300, 500>, relu_layer, linear<500, 200>>;
  using input = tensor<float, shape<37, 300>>;
  using pass_type = differentiation<model, input>;

  network() {
    auto g = torch_generator(1);
    model::initialize(*parameters, g);
    g.uniform(x->data(), x->size(), -1, 1);
  }
  /// All that is computed, where it was.
  auto run() -> pass_type const& {
    clear(*pass);
    pass->forward(*parameters, *x);
    for (auto i = std::size_t{0}; i < pass->dy.size(); ++i)
      pass->dy.data()[i] = static_cast<float>(i % 7) - 3;
    pass->backward(*parameters, *x);
    return *pass;
  }
  std::unique_ptr<parameters_of<model, owned<float>>> parameters =
      std::make_unique<parameters_of<model, owned<float>>>();
  std::unique_ptr<input> x = std::make_unique<input>();
  std::unique_ptr<pass_type> pass = std::make_unique<pass_type>();
};

}  // namespace

TEST_CASE("workers: operations that are shared have the bits of one thread") {
  auto alone = network{};
  auto const& want = alone.run();
  auto team = workers(2);
  auto shared = network{};
  for (auto i = 0; i < 3; ++i) {
    {
      auto const sharing = shared_operations(team);
      CHECK(detail::current_team != nullptr);
      shared.run();
    }
    CHECK(detail::current_team == nullptr);
    CHECK(std::memcmp(&shared.pass->gradient, &want.gradient, sizeof want.gradient) == 0);
  }
}
TEST_CASE("workers: two forwards share one team, which serves one of them at a time") {
  auto alone = network{};
  auto const& want = alone.run();
  auto team = workers(2);
  auto const forwards = [&](network& n) {
    auto const sharing = shared_operations(team);
    for (auto i = 0; i < 5; ++i) n.run();
  };
  auto first = network{};
  auto second = network{};
  auto other = std::thread([&] { forwards(second); });
  forwards(first);
  other.join();
  CHECK(std::memcmp(&first.pass->gradient, &want.gradient, sizeof want.gradient) == 0);
  CHECK(std::memcmp(&second.pass->gradient, &want.gradient, sizeof want.gradient) == 0);
}

TEST_CASE("workers: a thread that cannot be made is an exception, and the others end") {
  {
    auto const room = test::room_for_one_thread{};
    CHECK_NOTHROW(workers(2));
    CHECK_THROWS_WITH(workers(4), Catch::Contains("workers: thread 3 of 4 cannot be made: "));
  }
  CHECK(workers(4).size() == 4);
}
