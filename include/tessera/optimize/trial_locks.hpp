// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <cstdint>
#include <set>

namespace tessera {

/// Who runs which trial: byte n of a file is locked, shared, by the processes that hold trial n.
/// The system takes a lock away with its process, however that ends; no clock and no number of a
/// process, which another may get, has a say.
///
/// State   an open file description lock: closing the file elsewhere in the process keeps it; a
///         child that is forked without exec holds it too
/// Errors  file_error where the file cannot be made or locked
class trial_locks {
 public:
  explicit trial_locks(std::filesystem::path path)
      : path_(std::move(path)),
        file_{::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)} {
    if (not file_.is_open()) fail();
  }
  void hold(std::uint64_t number) {
    change(number, F_RDLCK);
    held_.insert(number);
  }
  void release(std::uint64_t number) {
    if (held_.erase(number) > 0) change(number, F_UNLCK);
  }
  /// True where this object or any other one holds it.
  [[nodiscard]] auto is_held(std::uint64_t number) const -> bool {
    if (held_.contains(number)) return true;
    auto lock = at(number, F_WRLCK);
    if (::fcntl(file_.number(), F_OFD_GETLK, &lock) != 0) fail();
    return lock.l_type != F_UNLCK;
  }

 private:
  [[nodiscard]] static auto at(std::uint64_t number, int type) -> struct flock {
    struct flock lock{};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(number);
    lock.l_len = 1;
    return lock;
  } void change(std::uint64_t number, int type) const {
    auto lock = at(number, type);
    while (::fcntl(file_.number(), F_OFD_SETLK, &lock) != 0)
      if (errno != EINTR) fail();
  }
  [[noreturn]] void fail() const {
    throw file_error(path_, "cannot be locked: " + detail::system_reason());
  }

  std::filesystem::path path_;
  detail::descriptor file_;
  std::set<std::uint64_t> held_;
};

}  // namespace tessera
