// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <utility>

#include <sys/mman.h>

namespace tessera {

/// A file as memory that is only read: pages come from the disk when they are touched, and are
/// shared with every process that maps the same file.
///
/// State   the content that the file had: write_file puts another one in its place. Whoever cuts
///         the file short in place takes the pages away, and reading them ends the program
/// Cost    no copy; what looks into it is valid as long as it lives, also after a move
/// Errors  file_error for a file that cannot be read, a folder, a pipe, a device
class mapped_file {
 public:
  explicit mapped_file(std::filesystem::path path) : path_(std::move(path)) {
    auto const file = detail::input_file(path_);
    size_ = static_cast<std::size_t>(file.size());
    if (size_ == 0) return;
    memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (memory_ == MAP_FAILED) {
      memory_ = nullptr;
      throw file_error(path_, "cannot be mapped: " + detail::system_reason());
    }
  }
  mapped_file(mapped_file&& other) noexcept
      : path_(std::move(other.path_)),
        memory_(std::exchange(other.memory_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  auto operator=(mapped_file&& other) noexcept -> mapped_file& {
    std::swap(path_, other.path_);
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~mapped_file() {
    if (memory_ != nullptr) (void)::munmap(memory_, size_);
  }
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto bytes() const& -> std::span<std::byte const> {
    return {static_cast<std::byte const*>(memory_), size_};
  }
  void bytes() const&& = delete;

 private:
  std::filesystem::path path_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tessera
