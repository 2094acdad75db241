// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace tessera {

namespace detail {

/// Within a `catch`: what the exception says, or that `who` has failed.
[[nodiscard]] inline auto failure_of(std::string const& who) -> std::string {
  try {
    throw;
  } catch (std::exception const& e) {
    return *e.what() == '\0' ? who + " failed" : e.what();
  } catch (...) {
    return who + " has thrown what is no exception";
  }
}

}  // namespace detail

/// Tells of what a function of the user's has thrown where nobody is left who could handle it: of
/// the first time, since the others are likely to be the same. Any thread may have something to
/// tell.
class told_once {
 public:
  /// How it is told, on the thread where it was thrown; where nothing is said, as a warning on
  /// standard error.
  explicit told_once(std::function<void(std::string const&)> how = {}) : how_(std::move(how)) {}

  /// Within a `catch`; `what` says whose function it was.
  void of_exception(std::string const& what) noexcept try {
    {
      auto const lock = std::lock_guard{mutex_};
      if (std::exchange(told_, true)) return;
    }
    auto const text = what + " has thrown " + reason();
    if (how_)
      how_(text);
    else
      (void)std::fprintf(stderr, "warning: %s\n", text.c_str());
  } catch (std::bad_alloc const&) {
    (void)std::fputs("warning: no memory is left to tell of an exception\n", stderr);
  } catch (...) {
    std::terminate();  // telling has failed, too
  }

 private:
  [[nodiscard]] static auto reason() -> std::string {
    try {
      throw;
    } catch (std::exception const& e) {
      return e.what();
    } catch (...) {
      return "what is no exception";
    }
  }

  std::function<void(std::string const&)> how_;
  std::mutex mutex_;
  bool told_ = false;
};

}  // namespace tessera
