// SPDX-License-Identifier: MIT
#include <tessera/program/settings.hpp>

#include <array>
#include <utility>
#include <vector>

#include "../forecaster.hpp"
#include "../models.hpp"

namespace forecast {

template <class Model, std::size_t Heads = 0>
[[nodiscard]] auto make_forecaster_of() -> std::unique_ptr<forecaster>;  // compiled beside this
[[nodiscard]] auto make_ridge() -> std::unique_ptr<forecaster>;

namespace {

template <std::size_t Hidden> constexpr auto compiled_with() -> std::array<compiled_model, 5> {
  return {{{"lstm-attention", Hidden, make_forecaster_of<attention_model<Hidden, 1>, 1>},
           {"lstm-attention-4", Hidden, make_forecaster_of<attention_model<Hidden, 4>, 4>},
           {"lstm", Hidden, make_forecaster_of<lstm_model<Hidden>>},
           {"gru", Hidden, make_forecaster_of<gru_model<Hidden>>},
           {"tcn", Hidden, make_forecaster_of<tcn_model<Hidden>>}}};
}

template <std::size_t... Hidden>
[[nodiscard]] auto models_of(std::index_sequence<Hidden...>) -> std::vector<compiled_model> {
  auto models = std::vector<compiled_model>{};
  for (auto const& some : {compiled_with<Hidden>()...})
    models.insert(models.end(), some.begin(), some.end());
  models.push_back({"ridge", 0, make_ridge});
  return models;
}

}  // namespace

auto compiled_models() -> std::span<compiled_model const> {
  static auto const all = models_of(std::index_sequence<FORECAST_WIDTHS>{});
  return all;
}

auto make_forecaster(model_choice const& which) -> std::unique_ptr<forecaster> {
  auto kinds = std::vector<std::string>{};
  auto widths = std::string{};
  for (auto const& m : compiled_models()) {
    if (m.kind == which.kind && m.hidden == which.hidden) return m.make();
    if (std::ranges::find(kinds, m.kind) == kinds.end()) kinds.emplace_back(m.kind);
    if (m.kind == which.kind) widths += (widths.empty() ? "" : ", ") + std::to_string(m.hidden);
  }
  tessera::check_one_of("model", which.kind, kinds);
  tessera::refuse("hidden", "one of " + widths, which.hidden);
}

}  // namespace forecast
