// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/study.hpp>
#include <tessera/train/interrupt.hpp>

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>

#include <sys/prctl.h>
#include <sys/wait.h>

namespace tessera {

struct process_options {
  std::size_t parallel = 2;         ///< children at once
  std::uint64_t attempts = 3;       ///< of a trial that is killed from outside
  std::filesystem::path logs = {};  ///< a folder for what children print; none: they share ours
  std::chrono::milliseconds grace{5000};  ///< between a polite end and a kill
  /// The words of a child's command line; the first is the path of its program.
  std::function<std::vector<std::string>(trial const&)> command = {};
  /// Called after each trial that this process has seen end.
  std::function<void(trial const&)> ended = {};
};

/// The program that is running, for a child that is to be the same one.
[[nodiscard]] inline auto own_program() -> std::string { return "/proc/self/exe"; }

namespace detail {

/// A child, from its start to its end; one that is left is killed.
class child_process {
 public:
  /// The child is a program of its own, not a fork that goes on: other threads of this process may
  /// hold locks (of the heap, a stream, a driver) that a copy of it could never open, and SQLite's
  /// connections must not be copied. Between fork and exec only what is safe there is called.
  child_process(std::vector<std::string> words, std::filesystem::path const& log) {
    auto arguments = std::vector<char*>{};
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto output = descriptor{};
    if (not log.empty()) {
      output = descriptor{::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
      if (not output.is_open()) throw file_error(log, "cannot be written: " + system_reason());
    }
    auto const parent = ::getpid();
    id_ = ::fork();
    if (id_ < 0) throw search_error("no process can be started: " + system_reason());
    if (id_ == 0) become(arguments.data(), output.number(), parent);
  }
  child_process(child_process&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  auto operator=(child_process&& other) noexcept -> child_process& {
    std::swap(id_, other.id_);
    return *this;
  }
  ~child_process() {
    if (id_ <= 0) return;
    signal(SIGKILL);
    (void)wait(0);
  }
  void signal(int number) const { (void)::kill(id_, number); }
  /// How it ended, as waitpid tells; nothing as long as it has not.
  [[nodiscard]] auto wait(int flags = WNOHANG) -> std::optional<int> {
    auto status = 0;
    auto found = ::waitpid(id_, &status, flags);
    while (found < 0 && errno == EINTR) found = ::waitpid(id_, &status, flags);
    if (found == 0) return std::nullopt;
    id_ = -1;
    return status;
  }

 private:
  [[noreturn]] static void become(char* const* arguments, int output, pid_t parent) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would take its result
    if (::getppid() != parent) ::_exit(127);
    if (output >= 0 && (::dup2(output, 1) < 0 || ::dup2(output, 2) < 0)) ::_exit(127);
    (void)::execv(arguments[0], arguments);
    constexpr auto why = std::string_view{"its program cannot be started\n"};
    [[maybe_unused]] auto const told = ::write(2, why.data(), why.size());
    ::_exit(127);
  }

  pid_t id_ = -1;
};

/// The last line that a file has, up to a length; "" where there is none.
[[nodiscard]] inline auto last_line(std::filesystem::path const& path) -> std::string {
  auto lines = std::string{};
  try {
    lines = read_text(path);
    lines.erase(0, lines.size() - std::min<std::size_t>(lines.size(), 2000));
  } catch (file_error const&) {
    return "";
  }
  while (not lines.empty() && (lines.back() == '\n' || lines.back() == '\r')) lines.pop_back();
  return lines.substr(lines.rfind('\n') + 1);
}

/// The children of one search, and the trials that they run.
class trial_processes {
 public:
  trial_processes(study& search, std::uint64_t trials, process_options const& options)
      : search_{search}, trials_{trials}, options_{options} {
    if (options.parallel < 1) throw search_error("expected at least one process, got 0");
    if (not options.logs.empty()) make_folder(options.logs);
  }
  /// True when all trials are finished, false after an interrupt.
  [[nodiscard]] auto run() -> bool {
    auto const guard = interrupt_guard{};
    try {
      while (not interrupt_guard::requested()) {
        start();
        if (running_.empty() && is_finished()) return true;
        pause();
        collect();
      }
      end_all();
      return false;
    } catch (...) {
      for (auto const& one : running_) search_.release(one.what);  // others may run them again
      running_.clear();
      throw;
    }
  }

 private:
  struct child {
    trial what;
    child_process process;
  };

  /// Where nothing is left, it is not asked all the time whether another process gave one up.
  void start() {
    while (running_.size() < options_.parallel && clock::now() >= next_look_) {
      auto const t = search_.ask(trials_);
      if (not t) {
        next_look_ = clock::now() + std::chrono::milliseconds{200};
        return;
      }
      try {
        running_.push_back({*t, child_process(options_.command(*t), log_of(*t))});
      } catch (...) {
        search_.put_back(*t);
        throw;
      }
    }
  }
  void collect() {
    for (auto i = std::size_t{0}; i < running_.size();) {
      auto const status = running_[i].process.wait();
      if (status) {
        auto const t = running_[i].what;
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        next_look_ = {};
        settle(t, *status);
      } else {
        ++i;
      }
    }
  }
  /// A trial whose child ended without telling of it.
  void settle(trial const& t, int status) {
    auto const now = search_.find(t.number);
    if (now.attempt == t.attempt && now.state == trial_state::running) {
      auto const killed = WIFSIGNALED(status) && is_from_outside(WTERMSIG(status));
      if (interrupt_guard::requested() || (killed && t.attempt < options_.attempts))
        search_.put_back(t);
      else
        search_.fail(t, message_of(t, status));
    }
    search_.release(t);
    if (options_.ended) options_.ended(search_.find(t.number));
  }
  /// Signals that a user or the system sends, not a mistake of the program.
  [[nodiscard]] static auto is_from_outside(int signal) -> bool {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
           signal == SIGQUIT;
  }
  [[nodiscard]] auto message_of(trial const& t, int status) const -> std::string {
    auto text = std::string{"it ended without a value"};
    if (WIFSIGNALED(status))
      text = "killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
             ::strsignal(WTERMSIG(status)) + ")";
    else if (WEXITSTATUS(status) != 0)
      text = "ended with code " + std::to_string(WEXITSTATUS(status));
    auto const last = options_.logs.empty() ? "" : last_line(log_of(t));
    return last.empty() ? text : text + ": " + shortened(last, 300);
  }
  [[nodiscard]] auto log_of(trial const& t) const -> std::filesystem::path {
    if (options_.logs.empty()) return {};
    return options_.logs / ("trial-" + std::to_string(t.number) + ".log");
  }
  /// Another process may run the last ones; they are taken over where it ends.
  [[nodiscard]] auto is_finished() -> bool {
    auto const found = search_.trials();
    auto const last = std::min<std::size_t>(found.size(), static_cast<std::size_t>(trials_));
    return std::all_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(last),
                       [](trial const& t) { return t.is_finished(); });
  }
  /// A signal cuts it short.
  void pause() const {
    auto const time = timespec{0, running_.empty() ? 50'000'000 : 5'000'000};
    (void)::nanosleep(&time, nullptr);
  }
  void end_all() {
    for (auto const& one : running_) one.process.signal(SIGTERM);
    auto const end = clock::now() + options_.grace;
    while (not running_.empty() && clock::now() < end) {
      pause();
      collect();
    }
    for (auto const& one : running_) one.process.signal(SIGKILL);
    while (not running_.empty()) {
      pause();
      collect();
    }
  }

  using clock = std::chrono::steady_clock;

  study& search_;
  std::uint64_t trials_;
  process_options const& options_;
  std::vector<child> running_;
  clock::time_point next_look_ = {};
};

}  // namespace detail

/// Runs the trials of a search that are numbered below `trials`, each in a process of its own.
///
/// A child joins the trial (`study::join`) whose ticket its command line has, and tells what came
/// of it. One that crashes or ends without telling is a failed trial, with the signal or code and
/// the last line of its log as the message; one that is killed from outside (a kill, no memory
/// left) is run again. Children end with this process. Ctrl-C, and a polite kill, ends them, and
/// puts their trials back; false then.
///
/// Errors  search_error where no process can be started, file_error where there is no place for
///         logs, and those of study; children are killed and their trials wait
inline auto run_trials(study& search, std::uint64_t trials, process_options const& options)
    -> bool {
  return detail::trial_processes(search, trials, options).run();
}

}  // namespace tessera
