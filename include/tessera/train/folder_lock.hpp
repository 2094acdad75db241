// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/train/settings_text.hpp>

#include <array>

#include <sys/file.h>

namespace tessera {

/// A folder that belongs to one process, as long as this lives: others are refused by the name of
/// the holder. A process that is killed holds nothing any more.
///
/// State   a file .run.lock in the folder, or one of another name for who shares it with a run,
///         locked by flock; gone with its holder
/// Errors  file_error where another process has the folder, or where it cannot be written
class folder_lock {
 public:
  explicit folder_lock(std::filesystem::path const& folder, char const* file = ".run.lock")
      : path_(folder / file) {
    while (not takes(folder)) {
    }
    auto host = std::array<char, 256>{};
    (void)::gethostname(host.data(), host.size() - 1);
    auto const holder = "process " + std::to_string(::getpid()) + " on " + host.data();
    // Who holds it is a courtesy: a disk that is full shall not take it from the owner.
    (void)(::ftruncate(file_.number(), 0) == 0 &&
           detail::write_all(file_.number(), std::as_bytes(std::span{holder})));
  }
  folder_lock(folder_lock&&) = default;
  auto operator=(folder_lock&&) -> folder_lock& = delete;
  ~folder_lock() {
    if (file_.is_open()) (void)::unlink(path_.c_str());  // while it is locked: see takes()
  }

 private:
  /// False where the file was removed by its last holder between opening and locking.
  [[nodiscard]] auto takes(std::filesystem::path const& folder) -> bool {
    auto const fail = [&] {
      throw file_error(path_, "cannot be locked: " + detail::system_reason());
    };
    file_ = detail::descriptor{
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)};
    if (not file_.is_open()) fail();
    while (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) fail();
      auto holder = std::array<char, 100>{};
      auto const n = ::pread(file_.number(), holder.data(), holder.size(), 0);
      auto const name = std::string(holder.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
      file_ = detail::descriptor{};
      throw file_error(folder, "belongs to a run that goes on: " +
                                   (name.empty() ? "another process" : shortened(name)));
    }
    struct stat mine{};
    struct stat there{};
    if (::fstat(file_.number(), &mine) != 0) fail();
    return ::stat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
  }

  std::filesystem::path path_;
  detail::descriptor file_;
};

}  // namespace tessera
