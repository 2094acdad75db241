// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera {

/// What may come next in one sequence.
class token_constraint {
 public:
  token_constraint() = default;
  token_constraint(token_constraint const&) = delete;
  auto operator=(token_constraint const&) -> token_constraint& = delete;
  virtual ~token_constraint() = default;
  /// Tokens that may come next, ascending; none where the sequence is complete.
  [[nodiscard]] virtual auto allowed() -> std::span<std::uint32_t const> = 0;
  /// The token that came: one of those.
  virtual void accept(std::uint32_t token) = 0;
  /// True where from now on any token may come, and the sequence ends as one without a constraint.
  [[nodiscard]] virtual auto is_over() const -> bool { return false; }
};

/// Tokens by their bytes: made once for a vocabulary, whose strings are kept. Tokens without bytes
/// are not found.
class token_index {
 public:
  explicit token_index(std::vector<std::string> vocabulary) : vocabulary_(std::move(vocabulary)) {
    for (auto i = std::size_t{0}; i < vocabulary_.size(); ++i) {
      if (vocabulary_[i].empty()) continue;
      by_bytes_[vocabulary_[i]].push_back(static_cast<std::uint32_t>(i));
      longest_ = std::max(longest_, vocabulary_[i].size());
    }
  }
  token_index(token_index const&) = delete;
  auto operator=(token_index const&) -> token_index& = delete;
  [[nodiscard]] auto size() const -> std::size_t { return vocabulary_.size(); }
  [[nodiscard]] auto bytes(std::uint32_t token) const -> std::string_view {
    return vocabulary_.at(token);
  }
  /// Calls f(token, its bytes) for each token that `text` begins with.
  template <class F> void for_each_prefix(std::string_view text, F&& f) const {
    for (auto n = std::size_t{1}; n <= std::min(longest_, text.size()); ++n)
      if (auto const found = by_bytes_.find(text.substr(0, n)); found != by_bytes_.end())
        for (auto const token : found->second) f(token, n);
  }

 private:
  std::vector<std::string> vocabulary_;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_bytes_;
  std::size_t longest_ = 0;
};

/// One of some texts and nothing else, in whatever tokens spell it. Every way that is allowed leads
/// to the end of one of them.
///
/// Where one text begins another, a token that ends sequences tells that it is the shorter one.
/// Cost    a step looks up the tokens that what is left of each text begins with
/// Errors  std::invalid_argument: no texts; an empty one; one that no tokens spell; one that begins
///         another where there is no token that ends; a token that was not allowed
class choice_constraint final : public token_constraint {
 public:
  choice_constraint(std::shared_ptr<token_index const> index, std::vector<std::string> choices,
                    std::optional<std::uint32_t> end = {})
      : index_(std::move(index)), choices_(std::move(choices)), end_(end) {
    if (choices_.empty()) throw std::invalid_argument("choices: expected a text at least");
    for (auto const& c : choices_) {
      if (c.empty()) throw std::invalid_argument("choices: expected texts, got an empty one");
      leads_to_end_.push_back(ways(c));
      if (not leads_to_end_.back()[0])
        throw std::invalid_argument("choices: no tokens of the vocabulary spell \"" + c + '"');
    }
    for (auto const& a : choices_)
      for (auto const& b : choices_)
        if (not end_ && a != b && b.starts_with(a))
          throw std::invalid_argument(std::string{"choices: \""}.append(a) + "\" begins \"" + b +
                                      "\", and no token ends a sequence");
    look_up();
  }
  [[nodiscard]] auto allowed() -> std::span<std::uint32_t const> override { return allowed_; }
  void accept(std::uint32_t token) override {
    if (not std::ranges::binary_search(allowed_, token))
      throw std::invalid_argument("choices: token " + std::to_string(token) +
                                  " does not lead to one of them");
    if (end_ && token == *end_ && not continues(token))
      allowed_.clear();
    else {
      text_ += index_->bytes(token);
      look_up();
    }
  }
  /// Which it is, where the sequence is complete.
  [[nodiscard]] auto choice() const -> std::optional<std::size_t> {
    if (not allowed_.empty()) return {};
    auto const found = std::ranges::find(choices_, text_);
    return static_cast<std::size_t>(found - choices_.begin());
  }

 private:
  /// For each place of a text, whether tokens spell what is left from there on.
  [[nodiscard]] auto ways(std::string_view text) const -> std::vector<bool> {
    auto result = std::vector<bool>(text.size() + 1);
    result.back() = true;
    for (auto at = text.size(); at-- > 0;)
      index_->for_each_prefix(text.substr(at), [&](std::uint32_t, std::size_t n) {
        if (result[at + n]) result[at] = true;
      });
    return result;
  }
  /// Whether a token that ends sequences is here one that goes on, by its bytes.
  [[nodiscard]] auto continues(std::uint32_t token) const -> bool {
    auto const longer = text_ + std::string{index_->bytes(token)};
    return longer.size() > text_.size() &&
           std::ranges::any_of(choices_, [&](auto const& c) { return c.starts_with(longer); });
  }
  void look_up() {
    allowed_.clear();
    auto complete = false;
    for (auto i = std::size_t{0}; i < choices_.size(); ++i) {
      if (not choices_[i].starts_with(text_)) continue;
      complete = complete || choices_[i].size() == text_.size();
      index_->for_each_prefix(std::string_view{choices_[i]}.substr(text_.size()),
                              [&](std::uint32_t token, std::size_t n) {
                                if (leads_to_end_[i][text_.size() + n]) allowed_.push_back(token);
                              });
    }
    if (complete && end_ && not allowed_.empty()) allowed_.push_back(*end_);
    std::ranges::sort(allowed_);
    allowed_.erase(std::ranges::unique(allowed_).begin(), allowed_.end());
  }

  std::shared_ptr<token_index const> index_;
  std::vector<std::string> choices_;
  std::optional<std::uint32_t> end_;
  std::vector<std::vector<bool>> leads_to_end_;  // for each choice and place in it
  std::string text_;                             // so far
  std::vector<std::uint32_t> allowed_;
};

/// A text that says something: it begins with a token that is neither blank nor an end, and goes on
/// as it likes.
///
/// Errors  std::invalid_argument where a vocabulary has no such token; a token that was not allowed
class spoken_constraint final : public token_constraint {
 public:
  using beginnings = std::shared_ptr<std::vector<std::uint32_t> const>;

  /// The tokens of a vocabulary that such a text may begin with: made once.
  [[nodiscard]] static auto beginnings_of(token_index const& index,
                                          std::span<std::uint32_t const> ends) -> beginnings {
    auto result = std::vector<std::uint32_t>{};
    for (auto token = std::uint32_t{0}; token < index.size(); ++token)
      if (index.bytes(token).find_first_not_of(" \t\r\n\f\v") != std::string_view::npos &&
          std::ranges::find(ends, token) == ends.end())
        result.push_back(token);
    if (result.empty())
      throw std::invalid_argument(
          "spoken_constraint: expected a token that is not blank, got none");
    return std::make_shared<std::vector<std::uint32_t> const>(std::move(result));
  }
  explicit spoken_constraint(beginnings allowed) : allowed_(std::move(allowed)) {}
  [[nodiscard]] auto allowed() -> std::span<std::uint32_t const> override { return *allowed_; }
  void accept(std::uint32_t token) override {
    if (not std::ranges::binary_search(*allowed_, token))
      throw std::invalid_argument("spoken_constraint: token " + std::to_string(token) +
                                  " begins no text");
    begun_ = true;
  }
  [[nodiscard]] auto is_over() const -> bool override { return begun_; }

 private:
  beginnings allowed_;
  bool begun_ = false;
};

}  // namespace tessera
