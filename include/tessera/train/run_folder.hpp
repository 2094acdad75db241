// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/folder_lock.hpp>
#include <tessera/train/settings_text.hpp>

#include <algorithm>
#include <cctype>
#include <ranges>
#include <vector>

namespace tessera {

/// What a run needs of the folder that its user names.
struct run_folder_options {
  std::filesystem::path folder;
  std::string settings;            ///< all that decides the result: see settings_text.hpp
  std::vector<std::string> files;  ///< of the program, besides those of the trainer
  bool resume = false;
};

namespace detail {

/// A folder, made with those above it; the ones that are still empty at the end are removed.
class made_folder {
 public:
  explicit made_folder(std::filesystem::path const& folder) {
    auto missing = std::vector<std::filesystem::path>{};
    auto error = std::error_code{};
    for (auto p = std::filesystem::absolute(folder); not std::filesystem::exists(p, error);
         p = p.parent_path())
      missing.push_back(p);
    for (auto const& p : std::views::reverse(missing)) {
      if (not p.filename().empty() && ::mkdir(p.c_str(), 0777) != 0 && errno != EEXIST)
        throw file_error(folder, "cannot be made: " + system_reason());
      made_.insert(made_.begin(), p);
    }
    if (not std::filesystem::is_directory(folder, error)) throw file_error(folder, "is no folder");
  }
  made_folder(made_folder const&) = delete;
  auto operator=(made_folder const&) -> made_folder& = delete;
  ~made_folder() {
    for (auto const& folder : made_) (void)::rmdir(folder.c_str());
  }

 private:
  std::vector<std::filesystem::path> made_;  // the deepest first
};

/// "a.4711-0.part" of "a": a temporary file of write_file.
[[nodiscard]] inline auto is_temporary_of(std::string_view name, std::string_view file) -> bool {
  if (not name.starts_with(file) || not name.ends_with(temporary_ending)) return false;
  name.remove_prefix(file.size());
  name.remove_suffix(std::min(name.size(), temporary_ending.size()));
  return name.starts_with('.') && std::ranges::all_of(name.substr(1), [](unsigned char letter) {
           return std::isdigit(letter) != 0 || letter == '-';
         });
}

}  // namespace detail

/// The place of one run on the disk.
///
/// A new run writes beside the old one, in .run.new, until it has something to show: show() then
/// takes the old run's files away and puts the new ones in their place. Whoever opens the folder
/// after a run was killed there finishes that first, so that no file of one run is ever used beside
/// a file of another. Files that are no run's stay where they are.
///
/// State   the folder is locked: see folder_lock.hpp
/// Cost    a rename for each file, once
/// Errors  file_error: another process has the folder, it cannot be written, or there is no
///         run with these settings to resume, and then the first setting that differs is named
class run_folder {
 public:
  static constexpr auto settings_file = "settings.yaml";
  static constexpr auto checkpoint_file = "checkpoint.safetensors";

  explicit run_folder(run_folder_options options)
      : options_(checked(std::move(options))),
        made_(options_.folder),
        lock_(options_.folder),
        beside_{at(".run.new")} {
    options_.files.insert(options_.files.end(),
                          {settings_file, checkpoint_file, "checkpoints", "log.csv", "log.jsonl"});
    finish();
    clean(options_.folder);
    clean(beside_.path);
    options_.resume ? choose() : begin();
  }
  /// Where the run reads and writes its files; show() changes it.
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto resumes() const -> bool { return options_.resume; }
  /// The run takes the folder; nothing where it has it.
  void show() {
    if (path_ == options_.folder) return;
    rename(beside_.path, at(".run.taking"));
    finish();
    path_ = options_.folder;
  }
  /// show() with the first checkpoint after a step; the trainer goes on in the folder. Both outlive
  /// the fit.
  template <class Trainer> void show_with_checkpoint_of(Trainer& trainer) {
    trainer.on_checkpoint = [this, &trainer] {
      if (trainer.progress().step == 0) return;
      show();
      trainer.move_to(path_);
    };
  }
  /// True for a folder whose last run was stopped while it took it: the files are of two runs until
  /// the next run_folder has finished that.
  [[nodiscard]] static auto is_torn(std::filesystem::path const& folder) -> bool {
    auto error = std::error_code{};
    return exists(folder / ".run.taking", error) || exists(folder / ".run.moving", error);
  }

 private:
  /// The new run's files until it is shown; what has no checkpoint is of no use to anybody.
  struct beside {
    std::filesystem::path path;

    explicit beside(std::filesystem::path p) : path(std::move(p)) {}
    beside(beside const&) = delete;
    auto operator=(beside const&) -> beside& = delete;
    ~beside() {
      auto ignored = std::error_code{};
      if (not exists(path / checkpoint_file, ignored)) remove_all(path, ignored);
    }
  };

  [[nodiscard]] static auto checked(run_folder_options options) -> run_folder_options {
    auto error = std::error_code{};
    if (options.resume && not exists(options.folder, error)) nothing_to_resume(options.folder);
    return options;
  }
  [[noreturn]] static void nothing_to_resume(std::filesystem::path const& folder) {
    throw file_error(folder, std::string{"has no "} + checkpoint_file + " to go on from");
  }
  [[nodiscard]] auto at(std::string const& name) const -> std::filesystem::path {
    return options_.folder / name;
  }
  static void check(std::filesystem::path const& path, bool done, int error) {
    if (not done) throw file_error(path, "cannot be replaced: " + detail::system_reason(error));
  }
  void sync() const { detail::sync_names(options_.folder, detail::open_folder(options_.folder)); }
  void rename(std::filesystem::path const& from, std::filesystem::path const& to) const {
    check(to, ::rename(from.c_str(), to.c_str()) == 0, errno);
    sync();
  }
  static void remove(std::filesystem::path const& path) {
    auto error = std::error_code{};
    remove_all(path, error);
    check(path, not error, error.value());
  }
  /// From the moment that .run.taking is there the folder is the new run's, and this can be done
  /// again from its beginning, wherever it was stopped: no new file stands among the old ones
  /// before all of those are gone.
  void finish() const {
    auto error = std::error_code{};
    if (is_directory(at(".run.taking"), error)) {
      for (auto const& name : options_.files) remove(at(name));
      sync();
      rename(at(".run.taking"), at(".run.moving"));
    }
    if (not is_directory(at(".run.moving"), error)) return;
    for (auto const& file : list(at(".run.moving"))) {
      auto const to = at(file.filename());
      check(to, ::rename(file.c_str(), to.c_str()) == 0, errno);
    }
    sync();
    remove(at(".run.moving"));
  }
  /// What a process that was killed left of the files of a run.
  void clean(std::filesystem::path const& folder) const {
    for (auto const& file : list(folder))
      for (auto const& name : options_.files)
        if (detail::is_temporary_of(file.filename().string(), name)) remove(file);
  }
  [[nodiscard]] static auto list(std::filesystem::path const& folder)
      -> std::vector<std::filesystem::path> {
    auto error = std::error_code{};
    auto result = std::vector<std::filesystem::path>{};
    if (not is_directory(folder, error)) return result;
    auto each = std::filesystem::directory_iterator{folder, error};
    for (; not error && each != std::filesystem::directory_iterator{}; each.increment(error))
      result.push_back(each->path());
    check(folder, not error, error.value());
    return result;
  }

  void begin() {
    remove(beside_.path);
    if (::mkdir(beside_.path.c_str(), 0777) != 0)
      throw file_error(beside_.path, "cannot be made: " + detail::system_reason());
    write_file(beside_.path / settings_file, options_.settings);
    path_ = beside_.path;
  }
  /// The newest run that has a checkpoint and the settings that are asked for.
  void choose() {
    auto difference = std::string{};
    auto error = std::error_code{};
    for (auto const& folder : {beside_.path, options_.folder}) {
      if (not exists(folder / checkpoint_file, error)) continue;
      auto const found = settings_difference(options_.settings, read_text(folder / settings_file));
      if (found.empty()) {
        path_ = folder;
        return;
      }
      if (difference.empty()) difference = found;
    }
    if (difference.empty()) nothing_to_resume(options_.folder);
    throw file_error(options_.folder, "was trained with other settings: " + difference);
  }

  run_folder_options options_;
  detail::made_folder made_;
  folder_lock lock_;
  beside beside_;
  std::filesystem::path path_;
};

}  // namespace tessera
