// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/track/loggers.hpp>

#include <future>

using namespace tessera;
using namespace std::chrono_literals;

namespace {

using values = std::vector<named_value>;

/// What several threads tell.
struct diary {
  std::mutex mutex;
  std::vector<std::string> lines;

  void add(std::string line) {
    auto const lock = std::lock_guard{mutex};
    lines.push_back(std::move(line));
  }
  auto all() -> std::vector<std::string> {
    auto const lock = std::lock_guard{mutex};
    return lines;
  }
};

/// Writes each call down; `before` is called first, and may throw or wait.
struct writing final : logger {
  std::shared_ptr<diary> calls = std::make_shared<diary>();
  std::function<void(std::string const&)> before = [](std::string const&) {};
  std::function<void()> on_interrupt = [] {};

  void note(std::string const& call) {
    before(call);
    calls->add(call);
  }
  [[nodiscard]] auto title() const -> std::string override { return "writing"; }
  void begin(run_info const& run) override { note("begin " + run.name); }
  void scalars(moment when, std::span<named_value const> all) override {
    note("scalars " + std::to_string(when.step) + ' ' + all.front().name);
  }
  void histogram(moment, std::string_view name, std::span<float const> all) override {
    note("histogram " + std::string{name} + ' ' + std::to_string(all.size()));
  }
  void image(moment, std::string_view name, png_image const& picture) override {
    note("image " + std::string{name} + ' ' + std::to_string(picture.bytes.size()));
  }
  void text(moment, std::string_view, std::string_view words) override {
    note("text " + std::string{words});
  }
  void hyperparameters(std::span<named_setting const>, std::span<named_value const>) override {
    note("hyperparameters");
  }
  void finish(run_state state) override {
    note("finish " + std::to_string(static_cast<int>(state)));
  }
  void interrupt() noexcept override { on_interrupt(); }
};

void log_everything(logger& target) {
  target.begin({.name = "a"});
  target.scalars(1, values{{"loss", 1}});
  target.histogram(1, "h", std::vector<float>{1, 2});
  target.image(1, "p", {.bytes = std::vector<std::byte>(3), .width = 1, .height = 1});
  target.text(1, "t", "words");
  target.hyperparameters({}, {});
  target.finish(run_state::finished);
}
auto const everything =
    std::vector<std::string>{"begin a",    "scalars 1 loss",  "histogram h 2", "image p 3",
                             "text words", "hyperparameters", "finish 0"};

struct group_of {
  std::shared_ptr<diary> warnings = std::make_shared<diary>();
  logger_group loggers;

  explicit group_of(logger_group_options options = {})
      : loggers(((options.warn = [w = warnings](std::string const& text) { w->add(text); }),
                 std::move(options))) {}
  auto add(std::function<void(std::string const&)> before = [](std::string const&) {})
      -> std::shared_ptr<diary> {
    auto one = std::make_unique<writing>();
    one->before = std::move(before);
    auto calls = one->calls;
    loggers.add(std::move(one));
    return calls;
  }
};

/// Waits until it is let go, as a server that never answers.
struct gate {
  std::promise<void> opened;
  std::shared_future<void> open = opened.get_future().share();
  std::promise<void> reached;
};

}  // namespace

TEST_CASE("loggers: five at once are told the same in the same order") {
  auto group = group_of{};
  auto all = std::vector<std::shared_ptr<diary>>{};
  for (auto i = 0; i < 5; ++i) all.push_back(group.add());
  log_everything(group.loggers);
  for (auto const& calls : all) CHECK(calls->all() == everything);
  CHECK(group.warnings->all().empty());
}

TEST_CASE("loggers: one that throws is told of once, and the others go on") {
  auto group = group_of{};
  auto const fails = group.add([](std::string const& call) {
    if (call.starts_with("histogram")) throw std::runtime_error("the disk is full");
  });
  auto const odd = group.add([](std::string const&) { throw 7; });
  auto const fine = group.add();
  log_everything(group.loggers);
  CHECK(fine->all() == everything);
  CHECK(fails->all() == std::vector<std::string>{"begin a", "scalars 1 loss"});
  CHECK(odd->all().empty());
  auto warnings = group.warnings->all();
  std::ranges::sort(warnings);
  CHECK(warnings ==
        std::vector<std::string>{"writing: it threw something unknown; the run goes on without it",
                                 "writing: the disk is full; the run goes on without it"});
}

TEST_CASE("loggers: one that blocks stops nobody, and a full queue drops the oldest scalars") {
  auto const stuck = std::make_shared<gate>();
  auto group = group_of{{.queue_length = 10, .finish_within = 1s}};
  auto const blocked = group.add([stuck](std::string const& call) {
    if (call == "scalars 0 loss") {
      stuck->reached.set_value();
      stuck->open.wait();
    }
  });
  auto const fine = group.add();
  group.loggers.begin({.name = "a"});
  group.loggers.scalars(0, values{{"loss", 1}});
  stuck->reached.get_future().wait();
  group.loggers.text(1, "t", "words");
  for (auto step = std::uint64_t{1}; step <= 100; ++step) {
    group.loggers.scalars(step, values{{"loss", 1}});
    while (fine->all().size() < step + 3) std::this_thread::yield();
  }
  CHECK(group.loggers.dropped() == 91);  // the text and nine of a hundred scalars wait
  auto const begun = std::chrono::steady_clock::now();
  group.loggers.finish(run_state::finished);
  CHECK(std::chrono::steady_clock::now() - begun < 9s);
  CHECK(fine->all().back() == "finish 0");
  CHECK(group.loggers.dropped() == 91);
  CHECK(group.warnings->all() ==
        std::vector<std::string>{"writing: is busy still; the run ends without it",
                                 "writing: 91 calls were dropped: it was too slow"});
  CHECK(blocked->all() == std::vector<std::string>{"begin a"});
  stuck->opened.set_value();
}

TEST_CASE(
    "loggers: what waits comes through as soon as there is room, the newest scalars with it") {
  auto const stuck = std::make_shared<gate>();
  auto group = group_of{{.queue_length = 3}};
  auto const calls = group.add([stuck](std::string const& call) {
    if (call == "begin a") {
      stuck->reached.set_value();
      stuck->open.wait();
    }
  });
  group.loggers.begin({.name = "a"});
  stuck->reached.get_future().wait();
  group.loggers.hyperparameters({}, {});
  group.loggers.text(1, "t", "words");
  for (auto step = std::uint64_t{1}; step <= 5; ++step)
    group.loggers.scalars(step, values{{"loss", 1}});
  group.loggers.text(6, "t", "more");
  group.loggers.text(7, "t", "last");
  stuck->opened.set_value();
  group.loggers.finish(run_state::stopped);
  CHECK(calls->all() == std::vector<std::string>{"begin a", "hyperparameters", "text more",
                                                 "text last", "finish 2"});
  CHECK(group.loggers.dropped() == 6);
}

TEST_CASE("loggers: a record larger than the queue is dropped, and nothing else") {
  auto const stuck = std::make_shared<gate>();
  auto group = group_of{{.queue_bytes = 1000}};
  auto const calls = group.add([stuck](std::string const& call) {
    if (call != "begin a") return;
    stuck->reached.set_value();
    stuck->open.wait();
  });
  group.loggers.begin({.name = "a"});
  stuck->reached.get_future().wait();
  group.loggers.text(1, "t", "words");
  group.loggers.scalars(1, values{{"loss", 1}});
  group.loggers.text(2, "t", std::string(1001, 'x'));
  CHECK(group.loggers.dropped() == 1);
  stuck->opened.set_value();
  group.loggers.finish(run_state::finished);
  CHECK(calls->all() ==
        std::vector<std::string>{"begin a", "text words", "scalars 1 loss", "finish 0"});
  CHECK(group.loggers.dropped() == 1);
}

TEST_CASE("loggers: a call that asks to be tried again is, with one warning") {
  auto group = group_of{{.first_wait = 1ms}};
  auto tries = std::make_shared<std::atomic<int>>(0);
  auto const calls = group.add([tries](std::string const& call) {
    if (call.starts_with("histogram") && ++*tries < 4) throw try_again("the server is down");
  });
  log_everything(group.loggers);
  CHECK(calls->all() == everything);
  CHECK(*tries == 4);
  CHECK(group.warnings->all() ==
        std::vector<std::string>{"writing: the server is down; it is tried again"});
}

TEST_CASE("loggers: one that never has luck gets one more try at the end") {
  auto group = group_of{
      {.finish_within = 20s, .failing_within = 20s, .first_wait = 1ms, .longest_wait = 1h}};
  auto tries = std::make_shared<std::atomic<int>>(0);
  auto const calls = group.add([tries](std::string const&) {
    ++*tries;
    throw try_again("the server is down");
  });
  auto const fine = group.add();
  group.loggers.begin({.name = "a"});
  while (*tries < 5) std::this_thread::yield();
  auto const before = tries->load();
  auto const begun = std::chrono::steady_clock::now();
  group.loggers.finish(run_state::finished);
  CHECK(std::chrono::steady_clock::now() - begun < 15s);  // less than failing_within
  CHECK(*tries <= before + 20);  // one, and those of the time from `before` to here
  CHECK(calls->all().empty());
  CHECK(fine->all().size() == 2);
  CHECK(group.warnings->all().size() == 1);
}

TEST_CASE("loggers: one that waits is interrupted when the group waits no longer") {
  auto const stuck = std::make_shared<gate>();
  auto group = group_of{{.finish_within = 50ms}};
  auto one = std::make_unique<writing>();
  one->before = [stuck](std::string const&) {
    stuck->reached.set_value();
    stuck->open.wait();
    throw try_again("given up");
  };
  one->on_interrupt = [stuck, told = group.warnings] {
    stuck->opened.set_value();
    while (told->all().empty()) std::this_thread::yield();
  };
  group.loggers.add(std::move(one));
  group.loggers.begin({});
  stuck->reached.get_future().wait();
  group.loggers.finish(run_state::finished);
  CHECK(group.warnings->all() == std::vector<std::string>{"writing: given up; it is tried again"});
}

TEST_CASE("loggers: what is held back is flushed while nothing comes") {
  struct flushed final : logger {
    std::promise<void> done;
    std::atomic<int> count = 0;
    [[nodiscard]] auto title() const -> std::string override { return "flushed"; }
    void flush() override {
      if (count++ == 0) done.set_value();
    }
  };
  auto group = group_of{{.flush_every = 5ms}};
  auto one = std::make_unique<flushed>();
  auto const done = one->done.get_future();
  group.loggers.add(std::move(one));
  group.loggers.scalars(1, values{{"loss", 1}});
  CHECK(done.wait_for(1min) == std::future_status::ready);
}

TEST_CASE("loggers: a group that goes without finish has failed") {
  auto calls = std::shared_ptr<diary>{};
  {
    auto group = group_of{};
    calls = group.add();
    group.loggers.begin({.name = "a"});
  }
  CHECK(calls->all() == std::vector<std::string>{"begin a", "finish 1"});
}

TEST_CASE("loggers: a group without any is as good as none") {
  auto group = group_of{};
  log_everything(group.loggers);
  CHECK(group.loggers.dropped() == 0);
}
