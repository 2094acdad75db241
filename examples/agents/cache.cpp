// SPDX-License-Identifier: MIT
#include "cache.hpp"

#include <tessera/io/file.hpp>

#include <cstdlib>

namespace agents {

namespace fs = std::filesystem;

auto cache_folder() -> fs::path {
  auto const* const cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "tessera";
  auto const* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache" / "tessera";
  throw std::runtime_error("expected XDG_CACHE_HOME or HOME to be the path of a folder");
}

work_folder::work_folder(fs::path const& cache) {
  tessera::detail::make_folder(cache);
  auto name = (cache / ".fetch-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw tessera::file_error(cache, "cannot be written: " + tessera::detail::system_reason());
  path_ = name;
}
work_folder::~work_folder() {
  auto ignored = std::error_code{};
  fs::remove_all(path_, ignored);
}

}  // namespace agents
