// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace test {

/// A folder of the test's own, gone with it.
class folder {
 public:
  folder() {
    static auto count = std::atomic<int>{0};
    path_ = std::filesystem::temp_directory_path() /
            ("tessera." + std::to_string(::getpid()) + "." + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  folder(folder const&) = delete;
  auto operator=(folder const&) -> folder& = delete;
  ~folder() {
    auto ignored = std::error_code{};
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] auto operator/(std::string const& name) const -> std::filesystem::path {
    return path_ / name;
  }
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto files() const -> std::size_t {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{path_},
                                                  std::filesystem::directory_iterator{}));
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline auto text_of(std::filesystem::path const& path) -> std::string {
  auto file = std::ifstream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace test
