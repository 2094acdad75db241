// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tessera::detail {

/// Begins a thread of work(i) for each i from `first` below `count`. Where one cannot be made,
/// stop() ends and joins those that were: threads that are not joined would end the program.
///
/// Errors  std::runtime_error where the system has no thread to give: `who` and which one it was
void start_threads(std::vector<std::thread>& threads, std::string const& who, std::size_t first,
                   std::size_t count, auto const& work, auto const& stop) {
  try {
    threads.reserve(threads.size() + count - first);
    for (; first < count; ++first) threads.emplace_back(work, first);
  } catch (std::system_error const& e) {
    stop();
    throw std::runtime_error(who + ": thread " + std::to_string(first + 1) + " of " +
                             std::to_string(count) + " cannot be made: " + e.code().message());
  } catch (...) {
    stop();
    throw;
  }
}

}  // namespace tessera::detail
