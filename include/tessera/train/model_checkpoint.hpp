// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/callback.hpp>
#include <tessera/train/state_text.hpp>

namespace tessera {

struct model_checkpoint_options {
  std::string folder = "checkpoints";  ///< in the trainer's; two of one are refused
  std::string monitor = "loss";        ///< empty: the newest are kept
  monitor_mode mode = monitor_mode::of_score;
  std::int64_t save_top_k = 1;            ///< -1 keeps all, 0 none
  bool save_last = false;                 ///< last.safetensors, beside them
  std::uint64_t every_n_epochs = 1;       ///< after validations of every n-th epoch
  std::uint64_t every_n_train_steps = 0;  ///< instead of that, where it is not 0
};

/// Keeps checkpoints of the best validations, as <folder>/checkpoints/epoch=3-step=120.safetensors
/// with the epoch counted from 0: each is one that `resume` takes.
///
/// A file is written before the trainer's checkpoint knows of it, and one that is no longer wanted
/// goes only after that: so a process that is killed anywhere and resumed ends with the same files.
/// Where an older checkpoint is resumed, those of later steps go so, too.
///
/// State   the files that are kept, and the score of the last validation
/// Errors  std::invalid_argument for a trainer without folder, a monitor that no score has, a
///         save_top_k below -1; file_error
/// Source  lightning.pytorch.callbacks.ModelCheckpoint
class model_checkpoint : public callback {
 public:
  explicit model_checkpoint(model_checkpoint_options options = {}) : options_(std::move(options)) {
    if (options_.save_top_k < -1)
      throw std::invalid_argument("model_checkpoint: expected a save_top_k of -1 or more, got " +
                                  std::to_string(options_.save_top_k));
    auto const folder = std::filesystem::path(options_.folder);
    if (folder.empty() || folder != folder.filename() || folder == "." || folder == "..")
      throw std::invalid_argument("model_checkpoint: expected the name of a folder, got \"" +
                                  options_.folder + '"');
    if (options_.every_n_train_steps == 0 && options_.every_n_epochs == 0)
      throw std::invalid_argument(
          "model_checkpoint: expected every_n_epochs or every_n_train_steps above 0");
  }
  static constexpr auto last_name = "last.safetensors";

  void on_fit_start(fit_control& fit) override {
    if (fit.options().fast_dev_run > 0) return;
    if (fit.options().folder.empty())
      throw std::invalid_argument("model_checkpoint: expected a trainer with a folder, got none");
    detail::make_folder(folder(fit));
    forget_missing(fit);
    unwanted_.clear();  // a fit that failed may have left some that a checkpoint knows
    swept_ = false;
    due_ = false;
  }
  void on_validation_end(fit_control&, validation_report const& r) override {
    if (not options_.monitor.empty())
      score_ = detail::as_cost(detail::find_score(r.scores, options_.monitor, "model_checkpoint"),
                               options_.mode);
    if (options_.every_n_train_steps == 0 && r.epoch % options_.every_n_epochs == 0) due_ = true;
  }
  void between_steps(fit_control& fit) override {
    if (not is_due(fit.progress().updates) || fit.options().fast_dev_run > 0) return;
    written_ = fit.progress().updates;
    auto const name = file_name(fit.progress());
    if (takes(name)) fit.save(folder(fit) / name);
    if (options_.save_last) fit.save(folder(fit) / last_name);
    fit.request_checkpoint();
  }
  void on_checkpoint(fit_control& fit) override {
    if (not swept_) sweep(fit);
    for (auto const& name : std::exchange(unwanted_, {})) remove(folder(fit) / name);
  }
  /// The best of those that are kept, or nothing.
  [[nodiscard]] auto best_name() const -> std::string {
    return kept_.empty() ? "" : kept_.front().name;
  }

  [[nodiscard]] auto settings() const -> std::string override {
    auto const& o = options_;
    return "model_checkpoint(" + o.folder + ", " + o.monitor + ", " + described(o.mode) + ", " +
           described(o.save_top_k) + ", " + described(o.save_last) + ", " +
           described(o.every_n_epochs) + ", " + described(o.every_n_train_steps) + ')';
  }
  [[nodiscard]] auto state() const -> std::string override {
    auto text = detail::state_text(score_, written_);
    for (auto const& one : kept_) text += ' ' + detail::state_text(one.cost, one.name);
    return text;
  }
  void restore(std::string const& state) override {
    auto words = detail::state_words(state);
    words.read(score_, written_);
    kept_.clear();
    while (not words.is_empty()) {
      auto& one = kept_.emplace_back();
      words.read(one.cost, one.name);
      if (not is_checkpoint_name(one.name))
        throw std::invalid_argument("a callback's state has the file \"" + one.name + '"');
    }
  }
  [[nodiscard]] auto own_folder() const -> std::string override { return options_.folder; }
  [[nodiscard]] auto best_file(std::string const& state) const -> std::string override {
    auto found = model_checkpoint(options_);
    found.restore(state);
    return found.kept_.empty() ? "" : options_.folder + '/' + found.best_name();
  }

 private:
  /// Steps are told by their number, which a checkpoint between this one and its validation has.
  [[nodiscard]] auto is_due(std::uint64_t step) -> bool {
    auto const every = options_.every_n_train_steps;
    return std::exchange(due_, false) || (every > 0 && step % every == 0 && step != written_);
  }
  struct kept_file {
    double cost = 0;
    std::string name;
  };
  [[nodiscard]] auto folder(fit_control const& fit) const -> std::filesystem::path {
    return fit.options().folder / options_.folder;
  }
  /// Between two steps the epoch is that of the step before.
  [[nodiscard]] static auto file_name(training_progress const& p) -> std::string {
    auto const epoch = p.batch == 0 && p.epoch > 0 ? p.epoch - 1 : p.epoch;
    return "epoch=" + std::to_string(epoch) + "-step=" + std::to_string(p.updates) + ".safetensors";
  }
  [[nodiscard]] static auto is_checkpoint_name(std::string_view name) -> bool {
    auto const takes_word = [&](std::string_view word) {
      if (not name.starts_with(word)) return false;
      name.remove_prefix(word.size());
      return true;
    };
    auto const takes_number = [&] {
      auto const digits = std::min(name.find_first_not_of("0123456789"), name.size());
      name.remove_prefix(digits);
      return digits > 0;
    };
    return takes_word("epoch=") && takes_number() && takes_word("-step=") && takes_number() &&
           name == ".safetensors";
  }
  /// True where the file is to be written; the list has it then, and the one that it replaces not.
  [[nodiscard]] auto takes(std::string const& name) -> bool {
    auto const by_time = options_.monitor.empty();
    if (options_.save_top_k == 0 || (not by_time && not std::isfinite(score_))) return false;
    std::erase_if(kept_, [&](auto const& one) { return one.name == name; });
    auto const cost = by_time ? 0 : score_;
    auto const place = std::ranges::find_if(kept_, [&](auto const& one) {
      return by_time || cost < one.cost;  // equal ones: the older is the better
    });
    auto const most = static_cast<std::size_t>(options_.save_top_k);
    if (options_.save_top_k > 0 && place == kept_.end() && kept_.size() >= most) return false;
    kept_.insert(place, {cost, name});
    if (options_.save_top_k > 0 && kept_.size() > most) {
      unwanted_.push_back(kept_.back().name);
      kept_.pop_back();
    }
    return true;
  }
  static void remove(std::filesystem::path const& path) {
    auto error = std::error_code{};
    if (std::filesystem::remove(path, error); error)
      throw file_error(path, "cannot be removed: " + error.message());
  }
  /// Where an older checkpoint is resumed, some of its files may be gone.
  void forget_missing(fit_control const& fit) {
    std::erase_if(kept_, [&](auto const& one) { return not exists(folder(fit) / one.name); });
  }
  /// Takes away what another run left, or this one before it was killed.
  void sweep(fit_control const& fit) {
    swept_ = true;
    auto stale = std::vector<std::filesystem::path>{};
    for (auto const& entry : std::filesystem::directory_iterator{folder(fit)}) {
      auto const name = entry.path().filename().string();
      if (is_own(name) && not keeps(fit, name)) stale.push_back(entry.path());
    }
    for (auto const& path : stale) remove(path);
  }

  /// A checkpoint, or what was to become one.
  [[nodiscard]] static auto is_own(std::string const& name) -> bool {
    constexpr auto type = std::string_view{".safetensors"};
    auto const whole = name.substr(0, name.find(type) + type.size());
    return (is_checkpoint_name(whole) || whole == last_name) &&
           (name == whole || name.ends_with(detail::temporary_ending));
  }
  [[nodiscard]] auto keeps(fit_control const& fit, std::string const& name) const -> bool {
    if (name == last_name) return fit.progress().step > 0;
    return std::ranges::any_of(kept_, [&](auto const& one) { return one.name == name; });
  }

  model_checkpoint_options options_;
  double score_ = std::numeric_limits<double>::infinity();
  std::uint64_t written_ = 0;    // the step of the last one
  std::vector<kept_file> kept_;  // the best first
  std::vector<std::string> unwanted_;
  bool due_ = false;
  bool swept_ = false;
};

}  // namespace tessera
