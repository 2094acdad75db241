// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/detail/checksum.hpp>
#include <tessera/track/detail/growing_file.hpp>

#include <algorithm>

namespace tessera::detail {

/// Records in blocks of 32,768 bytes, as LevelDB's log has them, behind the header of W&B.
///
/// Source  github.com/google/leveldb, doc/log_format.md; the sums are of IEEE 802.3, unmasked, and
///         the first block counts the seven bytes of the header
class record_log {
 public:
  static constexpr auto block = std::size_t{32768};
  static constexpr auto heading = std::size_t{7};

  record_log() = default;
  explicit record_log(std::filesystem::path path) : file_(std::move(path)) {
    file_.add(std::string{":W&B"} + little_endian(0xBEE1, 2) + '\0');
  }
  /// One write, so that a process that is killed leaves whole records.
  void add(std::string_view record) {
    auto bytes = std::string{};
    auto is_first = true;
    auto is_last = false;
    while (not is_last) {
      auto const room = block - (static_cast<std::size_t>(file_.size()) + bytes.size()) % block;
      if (room < heading) {
        bytes.append(room, '\0');
        continue;
      }
      auto const part = record.substr(0, room - heading);
      record.remove_prefix(part.size());
      is_last = record.empty();
      add_part(bytes, type_of(is_first, is_last), part);
      is_first = false;
    }
    file_.add(bytes);
  }
  void sync() const { file_.sync(); }

 private:
  [[nodiscard]] static auto type_of(bool is_first, bool is_last) -> char {
    if (is_first) return is_last ? '\1' : '\2';
    return is_last ? '\4' : '\3';
  }
  static void add_part(std::string& bytes, char type, std::string_view part) {
    bytes += little_endian(crc32_of(type, part), 4);
    bytes += little_endian(part.size(), 2);
    bytes += type;
    bytes += part;
  }

  growing_file file_;
};

}  // namespace tessera::detail
