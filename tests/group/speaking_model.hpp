// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/engine_agent.hpp>
#include <tessera/random/philox.hpp>

namespace test {

using namespace tessera;

/// A model of letters. It says what a script makes of what it has read, or letters at random that
/// depend on all that it has read.
class speaking_model final : public lane_model {
 public:
  static constexpr std::uint32_t end = 96;  ///< the token behind the letters
  static constexpr std::size_t vocabulary = 97;
  using script_function = std::function<std::string(std::string_view conversation)>;
  using pause_function = std::function<void()>;

  explicit speaking_model(lane_bounds bounds, script_function script = {},
                          pause_function pause = {})
      : bounds_(bounds),
        script_(std::move(script)),
        pause_(std::move(pause)),
        lanes_(bounds.lanes) {}
  [[nodiscard]] auto bounds() const -> lane_bounds override { return bounds_; }
  void step(std::span<lane_tokens const> parts, std::span<std::span<float const>> scores) override {
    if (pause_) pause_();
    memory_.assign(parts.size() * vocabulary, 0);
    for (auto i = std::size_t{0}; i < parts.size(); ++i) {
      auto& lane = lanes_.at(parts[i].lane);
      if (parts[i].seen < lane.read.size()) {
        lane.read.resize(parts[i].seen);
        lane.hashes.resize(parts[i].seen + 1);
      }
      if (lane.read.size() != parts[i].seen) throw std::logic_error("a lane has seen another text");
      for (auto const token : parts[i].tokens) {
        lane.read += letter(token);
        lane.hashes.push_back((lane.hashes.back() ^ (token + 1)) * 0x9E3779B97F4A7C15U);
      }
      auto const to = std::span{memory_}.subspan(i * vocabulary, vocabulary);
      if (script_)
        say(lane.read, to);
      else
        babble(lane.hashes.back(), to);
      scores[i] = to;
    }
  }

  /// A token's letter; the one that ends has none.
  [[nodiscard]] static auto letter(std::uint32_t token) -> char {
    if (token < 95) return static_cast<char>(' ' + token);
    return token == 95 ? '\n' : '\0';
  }
  [[nodiscard]] static auto token(char letter) -> std::uint32_t {
    return letter == '\n' ? 95 : static_cast<std::uint32_t>(letter - ' ');
  }
  [[nodiscard]] static auto texts() -> std::vector<std::string> {
    auto result = std::vector<std::string>{};
    for (auto i = std::uint32_t{0}; i < end; ++i) result.emplace_back(1, letter(i));
    result.emplace_back();
    return result;
  }
  [[nodiscard]] static auto encode(std::vector<group_message> const& messages)
      -> std::vector<std::uint32_t> {
    auto text = std::string{};
    for (auto const& one : messages) text += one.role + ": " + one.content + "\n";
    text += answers_here;
    auto result = std::vector<std::uint32_t>{};
    for (auto const one : text) result.push_back(token(one));
    return result;
  }
  [[nodiscard]] static auto model_of(engine& runs) -> agent_model {
    auto const words = std::make_shared<std::vector<std::string> const>(texts());
    return {.runs = &runs,
            .encode = encode,
            .make_decoder = [words] { return std::make_unique<bytes_decoder>(words); },
            .index = std::make_shared<token_index const>(texts()),
            .end_tokens = {end}};
  }

 private:
  struct lane_state {
    std::string read = {};
    std::vector<std::uint64_t> hashes = {1};  ///< of its beginnings
  };
  static constexpr auto answers_here = "assistant now: ";

  void say(std::string_view read, std::span<float> to) const {
    auto const here = read.rfind(answers_here);
    if (here == std::string_view::npos) return;  // in a prompt
    auto const said = read.substr(here + std::string_view{answers_here}.size());
    auto const text = script_(read.substr(0, here));
    to[said.size() < text.size() ? token(text[said.size()]) : end] = 50;
  }
  static void babble(std::uint64_t hash, std::span<float> to) {
    for (auto v = std::size_t{0}; v < to.size(); ++v) to[v] = 6 * philox_stream{hash}.uniform(v);
    to[end] += 3;
    to[0] += 4;  // words
  }

  lane_bounds bounds_;
  script_function script_;
  pause_function pause_;
  std::vector<lane_state> lanes_;
  std::vector<float> memory_;
};

}  // namespace test
