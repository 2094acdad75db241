// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <cstdint>

#include <sys/file.h>

namespace tessera::detail {

/// A file that records are added to. Each goes to the system at once, so that what was added is
/// there when the process is killed; one that does not fit on the disk leaves no part behind, and
/// takes nothing of what others added by their own growing_file.
///
/// Errors  file_error
class growing_file {
 public:
  growing_file() = default;
  /// A new file in the place of any old one; or, with `keeps`, one that goes on.
  explicit growing_file(std::filesystem::path path, bool keeps = false)
      : path_(std::move(path)),
        file_(::open(path_.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (keeps ? 0 : O_TRUNC), 0666)),
        size_(size_now()) {}
  void add(std::string_view bytes) {
    auto const turn = turn_of(file_.number());
    size_ = size_now();
    if (not write_all(file_.number(), std::as_bytes(std::span{bytes.data(), bytes.size()}))) {
      auto const reason = system_reason();
      (void)::ftruncate(file_.number(), static_cast<off_t>(size_));
      throw file_error(path_, "cannot be written: " + reason);
    }
    size_ += bytes.size();
  }
  [[nodiscard]] auto size() const -> std::uint64_t { return size_; }
  [[nodiscard]] auto is_open() const -> bool { return file_.is_open(); }
  /// At the end of a run: it is on the disk.
  void sync() const {
    if (not reaches_disk(file_.number()))
      throw file_error(path_, "cannot be written: " + system_reason());
  }

 private:
  /// One at a time adds; where the file system has no locks, each does as if it were alone.
  class turn_of {
   public:
    explicit turn_of(int file) : file_(file) {
      while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
    }
    turn_of(turn_of const&) = delete;
    auto operator=(turn_of const&) -> turn_of& = delete;
    ~turn_of() { (void)::flock(file_, LOCK_UN); }

   private:
    int file_;
  };
  [[nodiscard]] auto size_now() const -> std::uint64_t {
    struct stat facts{};
    if (not file_.is_open() || ::fstat(file_.number(), &facts) != 0)
      throw file_error(path_, "cannot be written: " + system_reason());
    return static_cast<std::uint64_t>(facts.st_size);
  }

  std::filesystem::path path_;
  descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace tessera::detail
