// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/// Whole files: read at once, written so that a reader finds the old content or the new one.
///
/// By the calls of POSIX; needs nothing but the standard library.
namespace tessera {

/// What went wrong with a file: its path and the reason.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
  file_error(std::filesystem::path const& path, std::string const& reason)
      : std::runtime_error(path.string() + ": " + reason) {}
};

namespace detail {

[[nodiscard]] inline auto system_reason(int error = errno) -> std::string {
  return std::generic_category().message(error);
}

/// The number of an open file, which is closed with it.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  auto operator=(descriptor&& other) noexcept -> descriptor& {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { (void)close(); }
  [[nodiscard]] auto is_open() const -> bool { return number_ >= 0; }
  [[nodiscard]] auto number() const -> int { return number_; }
  /// False where the system has an error to tell: errno says which.
  auto close() -> bool { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// A regular file that is open for reading. A pipe or a device, which may never end, is refused.
class input_file {
 public:
  explicit input_file(std::filesystem::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat facts{};
    if (not file_.is_open() || ::fstat(file_.number(), &facts) != 0) fail();
    if (S_ISDIR(facts.st_mode)) throw file_error(path_, "is a folder, not a file");
    if (not S_ISREG(facts.st_mode)) throw file_error(path_, "is a pipe or a device, not a file");
    size_ = static_cast<std::uint64_t>(facts.st_size);
  }
  [[nodiscard]] auto size() const -> std::uint64_t { return size_; }
  [[nodiscard]] auto number() const -> int { return file_.number(); }
  /// The next `n` bytes, or those up to the end.
  [[nodiscard]] auto read(std::uint64_t n) -> std::vector<std::byte> {
    auto bytes = std::vector<std::byte>{};
    try {
      bytes.resize(static_cast<std::size_t>(n));
    } catch (std::exception const&) {  // std::bad_alloc, std::length_error
      throw file_error(path_, "has " + std::to_string(size_) + " bytes, more than there is memory");
    }
    auto count = std::size_t{0};
    while (count < bytes.size()) {
      auto const got = ::read(file_.number(), bytes.data() + count, bytes.size() - count);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;
      count += static_cast<std::size_t>(got);
    }
    bytes.resize(count);
    return bytes;
  }

 private:
  [[noreturn]] void fail() const { throw file_error(path_, "cannot be read: " + system_reason()); }

  std::filesystem::path path_;
  descriptor file_;
  std::uint64_t size_ = 0;
};

/// All of `bytes`, or false, and errno says why.
[[nodiscard]] inline auto write_all(int file, std::span<std::byte const> bytes) -> bool {
  while (not bytes.empty()) {
    auto const n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}
/// What was written to a file or folder is on the disk; some file systems cannot, and need not.
[[nodiscard]] inline auto reaches_disk(int file) -> bool {
  return ::fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}
[[nodiscard]] inline auto folder_of(std::filesystem::path const& path) -> std::filesystem::path {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
}
/// A folder that is there after the call, with those above it.
inline void make_folder(std::filesystem::path const& folder) {
  auto error = std::error_code{};
  create_directories(folder, error);
  if (error) throw file_error(folder, "cannot be made: " + error.message());
}
/// A folder, open so that the names in it can be sent to the disk. One that may be searched but not
/// read is left to the system.
[[nodiscard]] inline auto open_folder(std::filesystem::path const& folder) -> descriptor {
  auto result = descriptor{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (not result.is_open() && errno != EACCES)
    throw file_error(folder, "cannot be opened: " + system_reason());
  return result;
}
inline void sync_names(std::filesystem::path const& path, descriptor const& folder) {
  if (folder.is_open() && not reaches_disk(folder.number()))
    throw file_error(
        path, "is written, but not sure to be there after a power failure: " + system_reason());
}

constexpr auto temporary_ending = std::string_view{".part"};

[[noreturn]] inline void cannot_be_written(std::filesystem::path const& path, int error = errno) {
  throw file_error(path, "cannot be written: " + system_reason(error));
}
/// The file that a path leads to, over links.
[[nodiscard]] inline auto target_of(std::filesystem::path const& path) -> std::filesystem::path {
  auto target = path;
  for (auto links = 0; links < 40; ++links) {
    auto none = std::error_code{};
    auto const next = read_symlink(target, none);
    if (none) return target;
    target = next.is_absolute() ? next : folder_of(target) / next;
  }
  cannot_be_written(path, ELOOP);
}
/// Who may read and write the file that is replaced; 0 where there is none.
[[nodiscard]] inline auto mode_of_replaced(std::filesystem::path const& path) -> ::mode_t {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  if (S_ISDIR(facts.st_mode)) cannot_be_written(path, EISDIR);
  if (not S_ISREG(facts.st_mode)) throw file_error(path, "is a pipe or a device, not a file");
  if (::access(path.c_str(), W_OK) != 0) cannot_be_written(path);
  return facts.st_mode & 07777U;
}
/// A new file beside `path`, under a name that no other process and no other thread has, and that
/// is no link.
[[nodiscard]] inline auto open_temporary(std::filesystem::path const& path, ::mode_t mode)
    -> std::pair<std::filesystem::path, descriptor> {
  static auto count = std::atomic<unsigned>{0};
  constexpr auto longest = std::size_t{200};  // of 255 letters
  for (;;) {
    auto name = path;
    name.replace_filename(path.filename().string().substr(0, longest) + '.' +
                          std::to_string(::getpid()) + '-' + std::to_string(count++) +
                          std::string{temporary_ending});
    auto file = descriptor{
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
    if (file.is_open()) return {std::move(name), std::move(file)};
    if (errno != EEXIST) cannot_be_written(path);
  }
}

/// See write_file.
inline void write_parts(std::filesystem::path const& given,
                        std::span<std::span<std::byte const> const> parts) {
  auto const path = target_of(given);
  auto const folder = open_folder(folder_of(path));
  auto const mode = mode_of_replaced(path);
  auto [temporary, file] = open_temporary(path, mode != 0 ? mode : 0666);
  auto written = mode == 0 || ::fchmod(file.number(), mode) == 0;
  for (auto const part : parts) written = written && write_all(file.number(), part);
  written = written && reaches_disk(file.number()) && file.close() &&
            ::rename(temporary.c_str(), path.c_str()) == 0;
  if (not written) {
    auto const reason = errno;
    (void)::unlink(temporary.c_str());
    cannot_be_written(path, reason);
  }
  sync_names(path, folder);
}

}  // namespace detail

/// The bytes of a file.
///
/// Errors  file_error where it cannot be read to its end, and for a folder, a pipe, a device
[[nodiscard]] inline auto read_file(std::filesystem::path const& path) -> std::vector<std::byte> {
  auto file = detail::input_file(path);
  auto bytes = file.read(file.size());
  for (auto more = file.read(4096); not more.empty(); more = file.read(4096))  // it grew
    bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}
/// The same as text.
[[nodiscard]] inline auto read_text(std::filesystem::path const& path) -> std::string {
  auto const bytes = read_file(path);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// Writes `parts` one after another, all or nothing: into a temporary file of the same folder, to
/// the disk, then under its name. A file that is mapped elsewhere keeps its old content. A link
/// stays one, and what it leads to is written; who may read a file that is replaced, stays.
///
/// Errors  file_error (a full disk, a file or folder that is not writable, a pipe, a device); the
///         old content remains and no temporary file does. Only where the disk refuses the new
///         name last of all, the new content is there already, and the message says so
inline void write_file(std::filesystem::path const& path,
                       std::initializer_list<std::span<std::byte const>> parts) {
  detail::write_parts(path, {parts.begin(), parts.size()});
}
inline void write_file(std::filesystem::path const& path, std::string_view text) {
  write_file(path, {std::as_bytes(std::span{text.data(), text.size()})});
}

/// Adds a text to the end of a file that is there, and sends it to the disk.
///
/// Errors  file_error
inline void append_file(std::filesystem::path const& path, std::string_view text) {
  auto file = detail::descriptor{
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (not file.is_open() ||
      not detail::write_all(file.number(), std::as_bytes(std::span{text.data(), text.size()})) ||
      not detail::reaches_disk(file.number()) || not file.close())
    throw file_error(path, "cannot be written: " + detail::system_reason());
}

}  // namespace tessera
