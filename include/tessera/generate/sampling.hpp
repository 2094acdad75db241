// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/detail/score_passes.hpp>
#include <tessera/generate/sampling_options.hpp>
#include <tessera/random/philox.hpp>

#include <functional>

namespace tessera::inline TESSERA_TARGET {

/// A token and the logarithm of its probability.
struct token_probability {
  std::uint32_t token = 0;
  float log_probability = 0;
};

/// What a sampler drew. `top` is memory of the sampler, until its next draw.
struct sampled_token {
  std::uint32_t token = 0;
  float log_probability = 0;
  std::span<token_probability const> top = {};  ///< the `logprobs` highest, descending
};

/// Draws the tokens of one sequence from scores of a vocabulary whose size is known at run time.
///
/// The scores are changed in this order: logit bias, repetition penalty (of tokens of the prompt
/// and of generated ones), frequency and presence penalty (of generated ones), temperature, top-k,
/// top-p, min-p: transformers' order, and vLLM's but for min-p, which stands there before top-k.
/// Log-probabilities are the model's own, of the scores as they come.
///
/// State     the tokens seen. Draw n of a sequence is a function of (seed, stream, n) and of its
///           scores, whoever else is served, in whatever order
/// Cost      passes over the scores, a vector at a time, and a sort of what stays: no sort of the
///           vocabulary, but where top-p keeps most of it. Memory is taken at the first draws and
///           used again: (8 to 16 bytes)·vocabulary
/// Accuracy  exponentials in float, sums in double in a defined order: the same token for every
///           instruction set
/// Errors    std::invalid_argument for settings out of range and for scores of another vocabulary;
///           std::runtime_error for scores that have a NaN or +infinity, or leave nothing to draw
/// Source    the logits processors of Hugging Face transformers; OpenAI's presence and frequency
///           penalty; reference values: tests/reference/sampling.py
class sampler {
 public:
  sampler(sampling_options options, std::size_t vocabulary)
      : options_(std::move(options)), vocabulary_(vocabulary) {
    options_.check(vocabulary);
    if (penalizes()) seen_.resize(vocabulary);
  }
  [[nodiscard]] auto options() const -> sampling_options const& { return options_; }
  /// The tokens that were drawn.
  [[nodiscard]] auto drawn() const -> std::uint64_t { return drawn_; }

  /// Tokens of the prompt, for the repetition penalty.
  void read(std::span<std::uint32_t const> prompt) {
    for (auto const token : prompt) note(token, from_prompt);
  }
  /// The next token; one of `allowed`, which ascend, unless there are none.
  auto operator()(std::span<float const> scores, std::span<std::uint32_t const> allowed = {})
      -> sampled_token {
    auto result = sampled_token{};
    auto const own_sum = log_sum(scores);
    prepare(scores, allowed);
    result.token = options_.temperature == 0 ? highest() : draw();
    result.log_probability = own_sum.of(scores[result.token]);
    if (options_.logprobs > 0) result.top = highest_of(scores, own_sum);
    note(result.token, 1);
    ++drawn_;
    return result;
  }
  /// What the next token has for a probability, in [0, 1]: one for each of the vocabulary.
  void probabilities(std::span<float const> scores, std::span<double> to,
                     std::span<std::uint32_t const> allowed = {}) {
    (void)log_sum(scores);
    prepare(scores, allowed);
    std::ranges::fill(to, 0.0);
    if (options_.temperature == 0)
      to[highest()] = 1;
    else if (whole_)
      for (auto i = std::size_t{0}; i < to.size(); ++i)
        to[i] = static_cast<double>(weights_[i]) / total_;
    else
      for (auto i = std::size_t{0}; i < kept_.size(); ++i) to[kept_[i].token] = mass_[i] / total_;
  }

 private:
  static constexpr std::uint32_t from_prompt = std::uint32_t{1} << 31;
  using scored_token = detail::scored_token;

  [[nodiscard]] auto penalizes() const -> bool {
    return options_.repetition_penalty != 1 || options_.presence_penalty != 0 ||
           options_.frequency_penalty != 0;
  }
  void note(std::uint32_t token, std::uint32_t how) {
    if (token >= vocabulary_)
      throw std::invalid_argument("sampler: expected tokens below " + std::to_string(vocabulary_) +
                                  ", got " + std::to_string(token));
    if (seen_.empty()) return;
    if (seen_[token] == 0) touched_.push_back(token);
    if (how == from_prompt)
      seen_[token] |= from_prompt;
    else
      ++seen_[token];
  }

  /// The logarithm of the sum of exponentials, in two parts, as large scores would hide the small
  /// one.
  struct sum_of_scores {
    float most;
    float log_of_rest;
    [[nodiscard]] auto of(float score) const -> float { return (score - most) - log_of_rest; }
  };
  /// Where it exists, all scores can be compared.
  [[nodiscard]] auto log_sum(std::span<float const> scores) const -> sum_of_scores {
    if (scores.size() != vocabulary_)
      throw std::invalid_argument("sampler: expected " + std::to_string(vocabulary_) +
                                  " scores, got " + std::to_string(scores.size()));
    auto const most = detail::highest_score(scores);
    auto const sum = detail::add_weights(scores, most, 1, nullptr, nullptr);
    if (not std::isfinite(sum))
      throw std::runtime_error("sampler: expected finite scores, got some that are no numbers");
    return {most, static_cast<float>(lane::log(sum))};
  }
  [[nodiscard]] auto highest_of(std::span<float const> scores, sum_of_scores own_sum)
      -> std::span<token_probability const> {
    detail::select_highest(scores, options_.logprobs, tops_);
    std::ranges::sort(tops_, std::less<>{});
    top_.clear();
    for (auto const& one : tops_) top_.push_back({one.token, own_sum.of(one.score)});
    return top_;
  }

  /// Leaves what may be drawn: in kept_ and mass_, or, where it is the whole vocabulary, weights_.
  void prepare(std::span<float const> scores, std::span<std::uint32_t const> allowed) {
    auto const x = changed(scores);
    whole_ = false;
    kept_.clear();
    if (not allowed.empty()) {
      for (auto const token : allowed)
        if (token < vocabulary_ && x[token] > -std::numeric_limits<float>::infinity())
          kept_.push_back({x[token], token});
      std::ranges::sort(kept_, std::less<>{});
      if (not kept_.empty()) cut_to_k();
    } else if (options_.temperature == 0) {
      detail::select_highest(x, 1, kept_);
    } else if (options_.top_k > 0 && options_.top_k < vocabulary_) {
      detail::select_highest(x, options_.top_k, kept_);
      std::ranges::sort(kept_, std::less<>{});
      add_ties(x);
    } else if (options_.top_p < 1) {
      keep_by_mass(x);
      return;
    } else if (options_.min_p > 0) {
      keep_by_least(x);
    } else {
      whole_ = true;
      weights_.resize(vocabulary_);
      blocks_.resize((vocabulary_ + detail::weight_block - 1) / detail::weight_block);
      total_ = detail::add_weights(x, detail::highest_score(x), factor(), weights_.data(),
                                   blocks_.data());
      require_mass();
      return;
    }
    weigh();
    auto all = 0.0;
    for (auto const m : mass_) all += m;
    cut_to_mass(all);
    finish();
  }
  [[nodiscard]] auto factor() const -> float {
    return static_cast<float>(1 / std::max(options_.temperature, 1e-6));
  }
  /// The scores with bias and penalties: those that came, where there are none.
  [[nodiscard]] auto changed(std::span<float const> scores) -> std::span<float const> {
    if (options_.logit_bias.empty() && touched_.empty()) return scores;
    changed_.assign(scores.begin(), scores.end());
    for (auto const& [token, bias] : options_.logit_bias) changed_[token] += bias;
    auto const repeated = static_cast<float>(options_.repetition_penalty);
    for (auto const token : touched_) {
      auto& score = changed_[token];
      score = score < 0 ? score * repeated : score / repeated;
      auto const count = seen_[token] & ~from_prompt;
      if (count > 0)
        score -= static_cast<float>(options_.frequency_penalty * count + options_.presence_penalty);
    }
    return changed_;
  }
  /// Those equal to the last of the top k stay.
  void add_ties(std::span<float const> x) {
    if (kept_.size() < options_.top_k) return;
    auto const last = kept_.back();
    detail::for_each_score<false>(x.subspan(last.token + 1), last.score, [&](std::size_t i) {
      auto const token = last.token + 1 + static_cast<std::uint32_t>(i);
      if (x[token] == last.score) kept_.push_back({last.score, token});
    });
  }
  void cut_to_k() {
    if (options_.top_k == 0 || kept_.size() <= options_.top_k) return;
    auto const last = kept_[options_.top_k - 1].score;
    std::erase_if(kept_, [&](scored_token const& one) { return one.score < last; });
  }
  /// More and more of the highest, until they hold top_p of all.
  void keep_by_mass(std::span<float const> x) {
    auto const all = detail::add_weights(x, detail::highest_score(x), factor(), nullptr, nullptr);
    for (auto most = std::size_t{64};; most *= 8) {
      detail::select_highest(x, most, kept_);
      std::ranges::sort(kept_, std::less<>{});
      weigh();
      auto const before = kept_.size();
      cut_to_mass(all);
      if (kept_.size() < before || before < most || most >= vocabulary_) break;
    }
    finish();
  }
  /// All that have min_p of the highest probability, with a margin for what `finish` decides.
  void keep_by_least(std::span<float const> x) {
    auto const most = detail::highest_score(x);
    auto const cut = static_cast<float>(static_cast<double>(most) +
                                        (std::log(options_.min_p) - 1e-3) * options_.temperature -
                                        1e-5 * std::abs(static_cast<double>(most)));
    detail::for_each_score<false>(
        x, cut, [&](std::size_t i) { kept_.push_back({x[i], static_cast<std::uint32_t>(i)}); });
    std::ranges::sort(kept_, std::less<>{});
  }
  void weigh() {
    mass_.clear();
    for (auto const& one : kept_)
      mass_.push_back(
          lane::exp((static_cast<double>(one.score) - static_cast<double>(kept_.front().score)) /
                    std::max(options_.temperature, 1e-6)));
  }
  /// The first that hold top_p of `all`.
  void cut_to_mass(double all) {
    if (options_.top_p >= 1) return;
    auto reached = 0.0;
    auto count = std::size_t{0};
    while (count < mass_.size() && reached < options_.top_p * all) reached += mass_[count++];
    count = std::max<std::size_t>(count, mass_.empty() ? 0 : 1);
    mass_.resize(count);
    kept_.resize(count);
  }
  /// The last cut, by min_p, and the sum of what is left.
  void finish() {
    auto count = mass_.size();
    while (count > 1 && mass_[count - 1] < options_.min_p * mass_.front()) --count;
    mass_.resize(count);
    kept_.resize(count);
    total_ = 0;
    for (auto const m : mass_) total_ += m;
    require_mass();
  }
  void require_mass() const {
    if (not(total_ > 0) || not std::isfinite(total_))
      throw std::runtime_error("sampler: the scores leave no token to draw");
  }

  [[nodiscard]] auto highest() const -> std::uint32_t { return kept_.front().token; }
  [[nodiscard]] auto draw() const -> std::uint32_t {
    auto const words = philox_stream{options_.seed, options_.stream}.block(drawn_);
    auto const high = std::uint64_t{words[0]} << 21;
    auto target = static_cast<double>(high ^ (words[1] >> 11)) * 0x1p-53 * total_;
    if (not whole_) {
      auto i = std::size_t{0};
      while (i + 1 < mass_.size() && target >= mass_[i]) target -= mass_[i++];
      return kept_[i].token;
    }
    auto block = std::size_t{0};
    while (block + 1 < blocks_.size() && target >= blocks_[block]) target -= blocks_[block++];
    return drawn_in(block, target);
  }
  /// Where rounding leads beyond the last weight of a block, the last that has one.
  [[nodiscard]] auto drawn_in(std::size_t block, double target) const -> std::uint32_t {
    auto const first = block * detail::weight_block;
    auto const end = std::min(first + detail::weight_block, weights_.size());
    auto last = std::size_t{0};
    for (auto i = first; i < end; ++i) {
      if (weights_[i] == 0) continue;
      last = i;
      if (target < static_cast<double>(weights_[i])) break;
      target -= static_cast<double>(weights_[i]);
    }
    if (last < first || weights_[last] == 0)  // an empty block, by rounding
      for (last = first; last > 0 && weights_[last] == 0;) --last;
    return static_cast<std::uint32_t>(last);
  }

  sampling_options options_;
  std::size_t vocabulary_;
  std::uint64_t drawn_ = 0;
  std::vector<std::uint32_t> seen_;  // how often each token was generated, and from_prompt
  std::vector<std::uint32_t> touched_;
  std::vector<float> changed_;
  std::vector<float> weights_;
  std::vector<double> blocks_;
  std::vector<scored_token> kept_;  // descending
  std::vector<double> mass_;        // of kept_
  std::vector<scored_token> tops_;
  std::vector<token_probability> top_;
  double total_ = 0;
  bool whole_ = false;
};

}  // namespace tessera::inline TESSERA_TARGET
