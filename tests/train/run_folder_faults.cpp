// SPDX-License-Identifier: MIT
// Faults at every call that reaches the disk: a training is killed or refused there, over nothing
// or over an old run, and then resumed. What is in the folder then is the new run, byte for byte,
// or the resume said no; never is it the old one, and never a file of each.
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/data/batches.hpp>
#include <tessera/train/model_checkpoint.hpp>
#include <tessera/train/run_folder.hpp>
#include <tessera/train/trainer.hpp>

#include <cstdarg>
#include <cstdio>
#include <random>

#include <sys/syscall.h>
#include <sys/wait.h>

// -- the calls: this program's own stand in front of the C library's
// -------------------------------
namespace {

enum class fault { none, killed, killed_after, refused, half };

/// What happens at call number `at`.
struct plan {
  fault what = fault::none;
  long at = 0;
  int error = 0;
  bool stays = false;  // every later call is refused, too: a disk that is full stays full
};
plan now;
long calls = 0;

/// True where the call is to be refused, and errno says why.
auto is_refused(bool may_fail = true) -> bool {
  auto const hit = ++calls == now.at || (now.stays && calls > now.at);
  if (not hit || now.what == fault::none) return false;
  if (now.what == fault::killed) ::_exit(99);
  if (now.what != fault::refused || not may_fail) return false;
  errno = now.error;
  return true;
}
template <class R> auto done(R result) -> R {
  if (now.what == fault::killed_after && calls == now.at) ::_exit(99);
  return result;
}
template <class... T> auto call(long number, T... arguments) -> int {
  if (is_refused()) return -1;
  return done(static_cast<int>(::syscall(number, arguments...)));
}

}  // namespace

extern "C" {
int open(char const* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  auto const mode = (flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0U;
  va_end(more);
  return call(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t write(int file, void const* bytes, std::size_t n) {
  if (is_refused()) return -1;
  if (now.what == fault::half && calls == now.at) {
    n = n / 2;  // then the disk is full, or the power is gone
    now = {now.error == 0 ? fault::killed : fault::refused, calls + 1, now.error, true};
  }
  return done(static_cast<ssize_t>(::syscall(SYS_write, file, bytes, n)));
}
int fsync(int) { return is_refused() ? -1 : done(0); }
int close(int file) {
  auto const refused = is_refused();
  auto const result = static_cast<int>(::syscall(SYS_close, file));  // closed all the same
  return refused ? (errno = now.error, -1) : done(result);
}
int rename(char const* from, char const* to) noexcept {
  return call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(char const* path) noexcept { return call(SYS_unlinkat, AT_FDCWD, path, 0); }
int unlinkat(int folder, char const* path, int flags) noexcept {
  return call(SYS_unlinkat, folder, path, flags);
}
int remove(char const* path) noexcept {
  struct stat facts{};
  auto const is_folder = ::lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
  return call(SYS_unlinkat, AT_FDCWD, path, is_folder ? AT_REMOVEDIR : 0);
}
int rmdir(char const* path) noexcept { return call(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int mkdir(char const* path, mode_t mode) noexcept {
  return call(SYS_mkdirat, AT_FDCWD, path, mode);
}
}

using namespace tessera;

namespace {

using model = sequential<lstm<1, 2>, linear<2, 1>>;
using training_type = training<model, tensor<float, shape<at_most(4), at_most(2), 1>>, adam>;

/// Waves, as short as can be.
[[nodiscard]] auto data() -> std::shared_ptr<recordings const> {
  static auto const result = [] {
    auto one = recording{};
    one.inputs = xt::xtensor<float, 2>(std::array<std::size_t, 2>{8, 1}, 0.5F);
    one.targets = xt::xtensor<float, 2>(std::array<std::size_t, 2>{8, 1}, 0.25F);
    for (auto i = std::size_t{0}; i < 8; i += 2) one.inputs(i, 0) = -0.5F;
    return std::make_shared<recordings const>(2, one);
  }();
  return result;
}

/// A program like examples/frequency: 0 where it trained to the end, 2 where it said why not.
auto program(std::filesystem::path const& folder, double rate, bool resume) -> int {
  auto const settings = "rate: " + std::to_string(rate) + "\nseed: 1\n";
  try {
    auto run = run_folder({folder, settings, {"model"}, resume});
    auto t = trainer<training_type, mse>({.max_epochs = 2,
                                          .folder = run.path(),
                                          .checkpoint_seconds = 0,
                                          .model = "tiny",
                                          .settings = settings},
                                         adam{.rate = rate}, {}, {});
    run.show_with_checkpoint_of(t);
    if (resume) {
      t.resume();
    } else {
      auto g = torch_generator(1);
      model::initialize(t.parameters(), g);
    }
    auto source = lane_batches(data(), 4);
    auto monitor = lane_batches(data(), 4);
    if (t.fit(source, monitor) != ending::finished) return 3;
    save_parameters(run.path() / "model", t.best());
    return 0;
  } catch (std::exception const& e) {
    // One clear message: it names a file and a reason.
    return std::string_view{e.what()}.find(": ") == std::string_view::npos ? 4 : 2;
  }
}
/// What it answers in a process of its own: its exit code, or 99 where it was killed.
auto outcome_of(auto const& one, plan p) -> int {
  auto const child = ::fork();
  if (child == 0) {
    calls = 0;
    now = p;
    ::_exit(one());
  }
  auto status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
auto outcome(std::filesystem::path const& folder, double rate, bool resume, plan p = {}) -> int {
  return outcome_of([&] { return program(folder, rate, resume); }, p);
}
/// The files of a run; of its log what no clock decides.
using files = std::map<std::string, std::string>;
[[nodiscard]] auto files_of(std::filesystem::path const& folder) -> files {
  auto result = files{};
  for (auto const& entry : std::filesystem::directory_iterator{folder}) {
    auto const name = entry.path().filename().string();
    if (name == "checkpoints") continue;  // a folder of them
    auto text = test::text_of(entry.path());
    if (name.starts_with("log.")) {
      auto kept = std::string{};
      auto lines = std::istringstream{text};
      for (auto line = std::string{}; std::getline(lines, line);)
        kept += line.substr(0, line.rfind(',')) + '\n';
      text = kept;
    }
    result[name] = text;
  }
  return result;
}

constexpr auto old_rate = 0.5;
constexpr auto new_rate = 0.25;

}  // namespace

TEST_CASE("run_folder: 2,000 schedules of faults, then a resume: the new run or a clear no") {
  auto const f = test::folder{};
  REQUIRE(outcome(f / "old", old_rate, false) == 0);
  REQUIRE(outcome(f / "new", new_rate, false) == 0);
  auto const old_run = files_of(f / "old");
  auto const new_run = files_of(f / "new");
  REQUIRE(old_run.size() == 5);
  REQUIRE(old_run.at("checkpoint.safetensors") != new_run.at("checkpoint.safetensors"));

  auto dice = std::mt19937{1};
  auto const roll = [&](unsigned sides) { return static_cast<long>(dice() % sides); };
  auto seen = std::map<std::string, int>{};
  for (auto schedule = 0; schedule < 2000; ++schedule) {
    auto const folder = f / ("run" + std::to_string(schedule));
    auto const over_old = roll(3) != 0;
    if (over_old) std::filesystem::copy(f / "old", folder);
    constexpr fault kinds[] = {fault::killed, fault::killed_after, fault::refused, fault::refused,
                               fault::half};
    constexpr int errors[] = {ENOSPC, EIO, EMFILE};
    auto p = plan{kinds[roll(5)], 1 + roll(160), errors[roll(3)], roll(2) == 0};
    if (p.what == fault::half && roll(2) == 0) p.error = 0;
    auto const first = outcome(folder, new_rate, false, p);
    INFO("schedule " << schedule << ": fault " << static_cast<int>(p.what) << " at call " << p.at
                     << ", error " << p.error << ", stays " << p.stays << ", over old " << over_old
                     << ": ended with " << first);
    REQUIRE((first == 0 || first == 2 || first == 99));

    // Now and then the resume is stopped, too.
    auto again =
        outcome(folder, new_rate, true, roll(3) == 0 ? plan{fault::killed, 1 + roll(120)} : plan{});
    if (again == 99) again = outcome(folder, new_rate, true);
    REQUIRE((again == 0 || again == 2));
    if (again == 0) {
      REQUIRE(files_of(folder) == new_run);
      ++seen[over_old ? "the new run over the old one" : "the new run"];
    } else if (over_old) {
      // Nothing was shown: the old run is whole, and is what its own settings resume.
      REQUIRE(outcome(folder, old_rate, true) == 0);
      auto left = files_of(folder);
      left.erase(".run.new");
      REQUIRE(left == old_run);
      ++seen["no, and the old run is whole"];
    } else {
      REQUIRE(outcome(folder, new_rate, false) == 0);
      REQUIRE(files_of(folder) == new_run);
      ++seen["no, and it begins anew"];
    }
    std::filesystem::remove_all(folder);
  }
  for (auto const& [what, times] : seen) std::printf("%5d %s\n", times, what.c_str());
  CHECK(seen.size() == 4);
  for (auto const& [what, times] : seen) CHECK(times >= 50);
}
TEST_CASE("run_folder: a run that dies at each of its calls in turn goes on to the same bytes") {
  auto const f = test::folder{};
  REQUIRE(outcome(f / "old", old_rate, false) == 0);
  REQUIRE(outcome(f / "new", new_rate, false) == 0);
  auto const new_run = files_of(f / "new");
  auto deaths = 0L;
  for (;; ++deaths) {
    auto const folder = f / "run";
    std::filesystem::copy(f / "old", folder);
    INFO("killed at call " << deaths + 1);
    if (outcome(folder, new_rate, false, {fault::killed, deaths + 1}) == 0) break;
    auto again = outcome(folder, new_rate, true);
    REQUIRE((again == 0 || again == 2));
    if (again == 2) again = outcome(folder, new_rate, false);
    REQUIRE(again == 0);
    REQUIRE(files_of(folder) == new_run);
    std::filesystem::remove_all(folder);
  }
  CHECK(deaths > 100);
  std::printf("%5ld calls\n", deaths);
}

namespace {
constexpr auto older = "checkpoints/epoch=1-step=4.safetensors";

/// Four epochs, all of which are kept, on from a checkpoint; a program like the one above.
auto keeps_all(std::filesystem::path const& folder, std::string const& from) -> int {
  try {
    auto t = trainer<training_type, mse>({.max_epochs = 4, .folder = folder},
                                         adam{.rate = old_rate}, {}, {});
    t.callbacks = {std::make_shared<model_checkpoint>(model_checkpoint_options{.save_top_k = -1})};
    if (not from.empty()) t.resume(from == older ? (folder / older).string() : from);
    auto source = lane_batches(data(), 4);
    return t.fit(source) == ending::finished ? 0 : 3;
  } catch (std::exception const&) {
    return 2;
  }
}
/// The files of such a run, without what a writer that was killed left.
[[nodiscard]] auto all_files_of(std::filesystem::path const& folder) -> files {
  auto result = files_of(folder);
  for (auto& [name, text] : files_of(folder / "checkpoints")) result["checkpoints/" + name] = text;
  std::erase_if(result, [](auto const& each) { return each.first.ends_with(".part"); });
  return result;
}
/// Kills and refuses at one call after another, until none is left that ends it; how many did.
[[nodiscard]] auto ends_at_each_call(auto const& is_ended) -> long {
  auto ends = 0L;
  while (is_ended(plan{fault::killed, ends + 1}))
    (void)is_ended(plan{fault::refused, ++ends, ENOSPC, true});
  return ends;
}

}  // namespace

TEST_CASE("run_folder: a fit on from an older checkpoint, ended at each call, can be resumed") {
  constexpr auto all = std::filesystem::copy_options::recursive;
  auto const f = test::folder{};
  auto const run = [&](char const* folder, std::string const& from, plan p = {}) {
    return outcome_of([&] { return keeps_all(f / folder, from); }, p);
  };
  REQUIRE(run("whole", "") == 0);
  auto const want = all_files_of(f / "whole");
  REQUIRE(want.contains(older));
  auto const is_ended = [&](plan p) {
    std::filesystem::copy(f / "whole", f / "run", all);
    auto const first = run("run", older, p);
    REQUIRE((first == 0 || first == 2 || first == 99));
    for (auto const* const from : {older, "last", "best"}) {
      INFO("fault " << static_cast<int>(p.what) << " at call " << p.at << ", then " << from);
      std::filesystem::copy(f / "run", f / "again", all);
      REQUIRE(run("again", from) == 0);
      REQUIRE(all_files_of(f / "again") == want);
      std::filesystem::remove_all(f / "again");
    }
    std::filesystem::remove_all(f / "run");
    return first != 0;
  };
  auto const deaths = ends_at_each_call(is_ended);
  CHECK(deaths > 50);
  std::printf("%5ld calls\n", deaths);
}
TEST_CASE("run_folder: a fit that goes on in a new folder, ended at each call, can be resumed") {
  constexpr auto all = std::filesystem::copy_options::recursive;
  auto const f = test::folder{};
  auto const run = [&](char const* folder, std::string const& from, plan p = {}) {
    return outcome_of([&] { return keeps_all(f / folder, from); }, p);
  };
  REQUIRE(run("whole", "") == 0);
  auto const from = (f / "whole" / older).string();
  REQUIRE(run("want", from) == 0);
  auto const want = all_files_of(f / "want");
  REQUIRE(want.at("log.csv") == files_of(f / "whole").at("log.csv"));
  auto const is_ended = [&](plan p) {
    auto const first = run("run", from, p);
    for (auto const& way : {std::string{"last"}, from}) {
      INFO("fault " << static_cast<int>(p.what) << " at call " << p.at << ", then " << way);
      if (way == "last" && not exists(f / "run/checkpoint.safetensors")) continue;
      if (exists(f / "run")) std::filesystem::copy(f / "run", f / "again", all);
      REQUIRE(run("again", way) == 0);
      REQUIRE(all_files_of(f / "again") == want);
      std::filesystem::remove_all(f / "again");
    }
    std::filesystem::remove_all(f / "run");
    return first != 0;
  };
  CHECK(ends_at_each_call(is_ended) > 50);
}
