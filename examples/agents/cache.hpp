// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace agents {

/// $XDG_CACHE_HOME/tessera, or ~/.cache/tessera.
///
/// Errors  std::runtime_error where neither variable holds a path that is absolute
[[nodiscard]] auto cache_folder() -> std::filesystem::path;

/// A folder beside those of the cache, with no name of theirs, that is gone with its owner.
class work_folder {
 public:
  explicit work_folder(std::filesystem::path const& cache);
  work_folder(work_folder const&) = delete;
  auto operator=(work_folder const&) -> work_folder& = delete;
  ~work_folder();
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace agents
