// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/slot.hpp>
#include <tessera/train/lent_passes.hpp>
#include <tessera/train/limits.hpp>
#include <tessera/train/log.hpp>
#include <tessera/train/placement.hpp>
#include <tessera/train/scores.hpp>
#include <tessera/train/workers.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace tessera::detail {

/// Memory for a batch of a source, a slot for each chunk.
template <class Training, class Target, class Source> [[nodiscard]] auto slots_of(Source const&) {
  using X = typename Training::input;
  using S = slot_of<Source, X, Target>;
  // What is large is read too often to come through the bus each time: its pages move once a step.
  constexpr auto moves = sizeof(S) > (std::size_t{1} << 20U);
  if constexpr (moves)
    return make_placed<S[], backend_of<X>>(Training::chunks);
  else
    return make_placed_on_host<S[], backend_of<X>>(Training::chunks);
}
/// What a source lends a call besides x.
template <class Source>
[[nodiscard]] auto context_of(Source const& source, auto const& slot, auto base) {
  if constexpr (requires { source.context(slot, base); })
    return source.context(slot, base);
  else
    return base;
}

/// Parameters and the statistics that belong to them.
template <class Training> struct model_weights {
  typename Training::parameters_type const& parameters;
  typename Training::statistics_type const& statistics;
};

/// Answers of a model to a source, and its scores, in the memory of the passes of a training.
///
/// Cost  see lent_passes.hpp; a batch allocates nothing
template <class Training, class Loss> class evaluation {
 public:
  using Y = typename Training::output;
  using target_type = detail::target_type<Loss, Y, Y>;

  evaluation(Training& training, workers& team, Loss loss)
      : workers_(team), loss_(loss), passes_(training) {}

  /// How often a source was begun anew: a training that is in the midst of it begins again.
  [[nodiscard]] auto runs() const -> std::uint64_t { return runs_; }
  template <class Source> [[nodiscard]] static auto slots_of(Source const& source) {
    return detail::slots_of<Training, target_type>(source);
  }
  /// Calls f(x, y, target, batch) for every chunk of the batches that `limit` leaves.
  template <class Source>
  void predict(auto const& slots, model_weights<Training> const& w, Source& source,
               batch_limit limit, auto&& f) {
    auto const sharing = shared_operations(workers_);
    auto runs = typename lent_passes<Training>::loan(passes_);
    const_view_of<Y> answers[chunks] = {};
    ++runs_;
    source.begin(0);
    auto const batches = limit.of(source.size());
    for (auto b = std::size_t{0}; b < batches; ++b) {
      workers_.run(chunks, [&](std::size_t c) {
        source.load(b, c, chunks, slots[c]);
        if (not Source::carries) clear_on<backend_of<Y>>(runs[c].state);
        if (slots[c].x.read().size() == 0) return;
        auto const context = context_of(source, slots[c], plain_context{});
        auto const y = [&] {
          if constexpr (Training::has_statistics)
            return runs[c].resume(w.parameters, w.statistics, slots[c].x.read(), context);
          else
            return runs[c].resume(w.parameters, slots[c].x.read(), context);
        }();
        answers[c] = y;
      });
      wait_on<backend_of<Y>>();
      for (auto c = std::size_t{0}; c < chunks; ++c)
        if (slots[c].x.read().size() > 0)
          f(slots[c].x.read(), answers[c], slots[c].target.read(), b);
    }
  }
  /// The mean loss, named "loss", and scores; NaN where there are no terms.
  template <class Source, class... Scores>
  auto measure(auto const& slots, model_weights<Training> const& w, Source& source,
               batch_limit limit, Scores const&... scores) -> std::vector<named_score> {
    auto sums = std::array<double, 1 + sizeof...(Scores)>{};
    auto terms = sums;
    predict(slots, w, source, limit, [&](auto const&, auto y, auto target, std::size_t) {
      auto const n = loss_.terms(target);
      if (n > 0) sums[0] += static_cast<double>(loss_.value(y, target, scalar{1}));
      terms[0] += static_cast<double>(n);
      [[maybe_unused]] auto i = std::size_t{0};
      ((++i, sums[i] += scores.value(y, target),
        terms[i] += static_cast<double>(scores.terms(target))),
       ...);
    });
    auto result = std::vector<named_score>{};
    auto const mean = [&] {
      auto const i = result.size();
      return terms[i] > 0 ? sums[i] / terms[i] : std::numeric_limits<double>::quiet_NaN();
    };
    result.push_back({"loss", mean()});
    (result.push_back({scores.name, finished(scores, mean()), more_is_better<Scores>}), ...);
    return result;
  }

 private:
  using scalar = typename Training::scalar;
  static constexpr auto chunks = Training::chunks;

  workers& workers_;
  [[no_unique_address]] Loss loss_;
  lent_passes<Training> passes_;
  std::uint64_t runs_ = 0;
};

}  // namespace tessera::detail
