// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <unistd.h>
#endif

/// Whole files: read at once, written so that a reader finds the old content or the new one.
namespace tessera {

/// What went wrong with a file: its path and the reason.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
  file_error(std::filesystem::path const& path, std::string const& reason)
      : std::runtime_error(path.string() + ": " + reason) {}
};

namespace detail {

struct file_closer {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

[[nodiscard]] inline auto system_reason() -> std::string {
  return std::generic_category().message(errno);
}

/// Everything of `file` is on the disk, or errno says why not.
[[nodiscard]] inline auto reaches_disk([[maybe_unused]] std::FILE* file) -> bool {
  if (std::fflush(file) != 0) return false;
#if __has_include(<unistd.h>)
  // A pipe or a device has nothing to wait for.
  return ::fsync(::fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP;
#else
  return true;
#endif
}

}  // namespace detail

/// The bytes of a file.
///
/// Errors  file_error where it cannot be read to its end
[[nodiscard]] inline auto read_file(std::filesystem::path const& path) -> std::vector<std::byte> {
  auto error = std::error_code{};
  if (std::filesystem::is_directory(path, error)) throw file_error(path, "is a folder, not a file");
  auto const file = detail::file_handle{std::fopen(path.c_str(), "rb")};
  if (not file) throw file_error(path, "cannot be read: " + detail::system_reason());
  auto const expected = std::filesystem::file_size(path, error);
  auto bytes = std::vector<std::byte>(error ? 0 : expected);
  auto count = std::fread(bytes.data(), 1, bytes.size(), file.get());
  for (std::byte more[4096]; count == bytes.size();) {  // a pipe, or a file that grew
    auto const n = std::fread(more, 1, sizeof more, file.get());
    if (n == 0) break;
    bytes.insert(bytes.end(), more, more + n);
    count += n;
  }
  if (std::ferror(file.get()) != 0)
    throw file_error(path, "cannot be read: " + detail::system_reason());
  bytes.resize(count);
  return bytes;
}

/// Writes `parts` one after another, all or nothing: into a temporary file of the same folder, to
/// the disk, then under its name. A file that is mapped elsewhere keeps its old content.
///
/// Errors  file_error (a full disk, a folder that is not writable); the old content remains and no
///         temporary file does
inline void write_file(std::filesystem::path const& path,
                       std::initializer_list<std::span<std::byte const>> parts) {
  auto temporary = path;
  temporary += ".part";
  auto const fail = [&](std::string const& reason) {
    auto ignored = std::error_code{};
    std::filesystem::remove(temporary, ignored);
    throw file_error(path, "cannot be written: " + reason);
  };
  {
    auto const file = detail::file_handle{std::fopen(temporary.c_str(), "wb")};
    if (not file) throw file_error(path, "cannot be written: " + detail::system_reason());
    for (auto const part : parts)
      if (std::fwrite(part.data(), 1, part.size(), file.get()) != part.size())
        fail(detail::system_reason());
    if (not detail::reaches_disk(file.get())) fail(detail::system_reason());
  }
  auto error = std::error_code{};
  std::filesystem::rename(temporary, path, error);
  if (error) fail(error.message());
#if __has_include(<unistd.h>)
  auto const parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  if (auto const folder = ::open(parent.c_str(), O_RDONLY | O_CLOEXEC); folder >= 0) {
    (void)::fsync(folder);  // the name, too; some file systems cannot, and need not
    (void)::close(folder);
  }
#endif
}
inline void write_file(std::filesystem::path const& path, std::string_view text) {
  write_file(path, {std::as_bytes(std::span{text.data(), text.size()})});
}

}  // namespace tessera
