// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// How a sequence is continued: what is drawn, and where it ends. The defaults draw from the
/// model's own probabilities.
///
/// Errors  `check` throws std::invalid_argument that names the setting, what it may be and what it
///         is
struct sampling_options {
  double temperature = 1;         ///< 0: always the highest score, the first of equal ones
  std::size_t top_k = 0;          ///< of the highest scores, with those equal to the last; 0: all
  double top_p = 1;               ///< the smallest set that holds so much probability; (0, 1]
  double min_p = 0;               ///< of the highest probability, at least; [0, 1]
  double repetition_penalty = 1;  ///< divides positive scores of tokens seen, multiplies others
  double presence_penalty = 0;    ///< taken from the scores of tokens that were generated
  double frequency_penalty = 0;   ///< taken from them as often as they were
  std::vector<std::pair<std::uint32_t, float>> logit_bias = {};  ///< added to scores of tokens
  std::size_t max_tokens = 256;                                  ///< to generate
  std::vector<std::string> stop = {};                            ///< texts that end the sequence
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< of the seed: several answers to one prompt differ by it
  std::size_t logprobs = 0;  ///< the highest log-probabilities that come with each token

  void check(std::size_t vocabulary) const {
    expect("temperature", temperature, 0, 1e4, true);
    expect("top_p", top_p, 0, 1, false);
    expect("min_p", min_p, 0, 1, true);
    expect("repetition_penalty", repetition_penalty, 0, 1e4, false);
    expect("presence_penalty", presence_penalty, -1e4, 1e4, true);
    expect("frequency_penalty", frequency_penalty, -1e4, 1e4, true);
    expect("logprobs", static_cast<double>(logprobs), 0, static_cast<double>(vocabulary), true);
    for (auto const& [token, bias] : logit_bias) {
      if (token >= vocabulary)
        throw std::invalid_argument("logit_bias: expected tokens below " +
                                    std::to_string(vocabulary) + ", got " + std::to_string(token));
      if (not std::isfinite(bias))
        throw std::invalid_argument("logit_bias: expected a finite number for token " +
                                    std::to_string(token));
    }
    for (auto const& text : stop)
      if (text.empty()) throw std::invalid_argument("stop: expected texts, got an empty one");
  }

 private:
  static void expect(char const* name, double value, double low, double high, bool with_low) {
    if (value <= high && (with_low ? value >= low : value > low)) return;
    throw std::invalid_argument(std::string{name} + ": expected a number of " +
                                (with_low ? "[" : "(") + std::to_string(low) + ", " +
                                std::to_string(high) + "], got " + std::to_string(value));
  }
};

}  // namespace tessera
