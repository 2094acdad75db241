// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>

/// What a training tells of its epochs: to files, to a terminal, to callbacks.
namespace tessera {

struct epoch_report {
  std::uint64_t epoch = 0;  ///< counted from 1
  double rate = 0;
  double training_loss = 0;   ///< while the weights changed
  double monitored_loss = 0;  ///< with frozen weights
  double largest_gradient_norm = 0;
  double seconds = 0;
  bool best = false;
};

/// Writes log.csv and log.jsonl of a folder, a line for each epoch.
///
/// Errors  file_error where the folder is not writable
class epoch_log {
 public:
  /// A new log; or, with `epochs` finished ones, the log of a training that is resumed after them.
  explicit epoch_log(std::filesystem::path folder, std::uint64_t epochs = 0)
      : folder_(std::move(folder)) {
    keep("log.csv", std::string{header} + '\n', 1, epochs);
    keep("log.jsonl", "", 0, epochs);
  }
  void add(epoch_report const& r) {
    char line[512];
    (void)std::snprintf(line, sizeof line, "%llu,%.9g,%.9g,%.9g,%.9g,%.3f\n",
                        static_cast<unsigned long long>(r.epoch), r.rate, r.training_loss,
                        r.monitored_loss, r.largest_gradient_norm, r.seconds);
    append("log.csv", line);
    (void)std::snprintf(line, sizeof line,
                        R"({"epoch":%llu,"rate":%.9g,"training_loss":%.9g,"monitored_loss":%.9g,)"
                        R"("largest_gradient_norm":%.9g,"seconds":%.3f})"
                        "\n",
                        static_cast<unsigned long long>(r.epoch), r.rate, r.training_loss,
                        r.monitored_loss, r.largest_gradient_norm, r.seconds);
    append("log.jsonl", line);
  }

  static constexpr auto header =
      "epoch,rate,training_loss,monitored_loss,largest_gradient_norm,seconds";

 private:
  /// The first lines of a file that a resumed training keeps.
  void keep(char const* name, std::string text, std::uint64_t first, std::uint64_t epochs) const {
    if (epochs > 0) {
      auto file = std::ifstream{folder_ / name};
      auto line = std::string{};
      for (auto n = std::uint64_t{0}; n < first + epochs && std::getline(file, line); ++n)
        if (n >= first) text += line + '\n';
    }
    write_file(folder_ / name, text);
  }
  void append(char const* name, char const* line) const {
    auto file = std::ofstream{folder_ / name, std::ios::app};
    file << line << std::flush;
    if (not file) throw file_error(folder_ / name, "cannot be written");
  }

  std::filesystem::path folder_;
};

}  // namespace tessera
