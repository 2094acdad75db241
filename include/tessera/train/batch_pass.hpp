// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/diagnosis.hpp>
#include <tessera/train/evaluation.hpp>
#include <tessera/train/placement.hpp>

namespace tessera::detail {

/// What a layer of a pass draws: the same for the same step, whoever computes.
struct drawn {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  float dropout = 0;

  [[nodiscard]] auto of(std::size_t chunk) const -> random_context {
    return {
        .seed = seed, .step = step, .chunk = static_cast<std::uint32_t>(chunk), .dropout = dropout};
  }
};

/// A batch of a training: loaded, differentiated by all workers, and looked into where its loss or
/// gradient is no number.
template <class Training, class Loss> class batch_pass {
 public:
  batch_pass(Training& training, workers& team, Loss loss)
      : training_(training), workers_(team), loss_(loss) {}

  void load(auto const& source, std::size_t batch, auto const& slots) {
    workers_.run(chunks, [&](std::size_t c) { source.load(batch, c, chunks, slots[c]); });
  }
  [[nodiscard]] auto terms_of(auto const& slots) const -> std::size_t {
    auto terms = std::size_t{0};
    for (auto c = std::size_t{0}; c < chunks; ++c)
      if (slots[c].x.read().size() > 0) terms += loss_.terms(slots[c].target.read());
    return terms;
  }
  /// The loss, a mean over `terms`; its gradient is training.passes[0].gradient then.
  auto differentiate(auto const& source, auto const& slots, std::size_t terms, drawn random)
      -> double {
    workers_.run(chunks, [&](std::size_t c) {
      auto const x = slots[c].x.read();
      losses_[c] = 0;
      if (x.size() == 0)
        training_.differentiate_nothing(c);
      else
        losses_[c] = training_.differentiate(c, x, slots[c].target.read(), loss_, terms,
                                             context_of(source, slots[c], random.of(c)));
    });
    auto loss = 0.0;
    for (auto const part : losses_) loss += static_cast<double>(part);
    (void)training_.gradient();
    wait_on<backend_of<typename Training::input>>();
    return loss;
  }
  /// Where the batch went wrong, in words.
  [[nodiscard]] auto reason(auto const& source, auto const& slots, double loss, drawn random) const
      -> std::string {
    for (auto c = std::size_t{0}; c < chunks; ++c) {
      auto const x = slots[c].x.read();
      if (x.size() > 0 && (not std::isfinite(static_cast<double>(losses_[c])) || c + 1 == chunks ||
                           std::isfinite(loss)))
        return diagnose<typename Training::model>(
            training_.parameters, training_.statistics, x, slots[c].target.read(),
            training_.passes[0].gradient, context_of(source, slots[c], random.of(c)));
    }
    return {};
  }

 private:
  static constexpr auto chunks = Training::chunks;

  Training& training_;
  workers& workers_;
  [[no_unique_address]] Loss loss_;
  std::array<typename Training::scalar, chunks> losses_ = {};  // of the last batch
};

}  // namespace tessera::detail
