// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>
#include <tessera/train/run_folder.hpp>

#include <cstdio>

namespace tessera {

/// What the command line of a training says of its folder.
struct training_request {
  std::filesystem::path output;    ///< --output
  std::string settings;            ///< all that decides the result: see settings_text.hpp
  std::vector<std::string> files;  ///< of the program, besides those of the trainer
  std::string resume;              ///< --resume: "last", "best" or a file; empty: a new training
  bool keeps_nothing = false;      ///< --fast-dev-run
};

/// The run_folder of a program's training; a line is printed where an older training ends by it.
///
/// Errors  usage_error for an empty --output, for --resume of what keeps nothing, and for a file to
///         resume that is of another run; file_error: see run_folder
class training_run : public run_folder {
 public:
  explicit training_run(training_request const& asked) try : run_folder(options_of(asked)) {
    auto error = std::error_code{};
    replaces_ =
        not resumes() && not asked.keeps_nothing && exists(asked.output / checkpoint_file, error);
    if (replaces_)
      std::printf("the training in %s is replaced with the first checkpoint\n",
                  asked.output.c_str());
  } catch (file_error const& e) {
    if (asked.resume.empty() || asked.resume == "last" || asked.resume == "best") throw;
    throw usage_error("--resume " + asked.resume + ": expected a file of the run in " +
                      asked.output.string() + ": " + e.what());
  }
  /// True where a training was in the folder that ends with the first checkpoint of this one.
  [[nodiscard]] auto replaces() const -> bool { return replaces_; }
  /// What a program can refuse before it reads anything. `keeps_nothing` is --fast-dev-run.
  ///
  /// Errors  usage_error for an empty --output, and for --resume of what keeps nothing
  static void check_options(std::filesystem::path const& output, bool resumes, bool keeps_nothing) {
    if (output.empty()) throw usage_error("--output: expected a folder, got nothing");
    if (keeps_nothing && resumes)
      throw usage_error("--resume: expected no --fast-dev-run, which keeps nothing to go on with");
  }
  /// Errors  usage_error for a folder of which a stopped training had taken a part
  static void check_whole(std::filesystem::path const& folder) {
    if (is_torn(folder))
      throw usage_error(folder.string() +
                        ": a training was stopped while it took this folder: train --resume");
  }

 private:
  [[nodiscard]] static auto options_of(training_request const& asked) -> run_folder_options {
    auto const resumes = not asked.resume.empty();
    check_options(asked.output, resumes, asked.keeps_nothing);
    return {asked.output, asked.settings, asked.files, resumes};
  }
  bool replaces_ = false;
};

}  // namespace tessera
