// SPDX-License-Identifier: MIT
#pragma once

#include "features.hpp"
#include "forecaster.hpp"

namespace forecast {

/// What forecasters are behind a server: features (rows, look_back, 15) as they are, forecasts
/// (rows, 1) in their units.
class served_windows : public tessera::served_model {
 public:
  explicit served_windows(std::uint64_t look_back)
      : inputs_{{"features",
                 tessera::datatype::fp64,
                 {-1, static_cast<std::int64_t>(look_back), feature_count}}} {}

  [[nodiscard]] auto inputs() const -> std::vector<tessera::tensor_spec> const& override {
    return inputs_;
  }
  [[nodiscard]] auto outputs() const -> std::vector<tessera::tensor_spec> const& override {
    return outputs_;
  }

 protected:
  /// The numbers of a request, row after row.
  [[nodiscard]] static auto features_of(tessera::inference_step const& step) -> double const* {
    return std::get<std::vector<double>>(step.inputs[0].values).data();
  }
  static void answer(tessera::inference_step& step, std::vector<double> forecasts) {
    step.outputs = {{"forecast", {static_cast<std::int64_t>(step.rows), 1}, std::move(forecasts)}};
  }

 private:
  std::vector<tessera::tensor_spec> inputs_;
  std::vector<tessera::tensor_spec> outputs_ = {{"forecast", tessera::datatype::fp64, {-1, 1}}};
};

}  // namespace forecast
