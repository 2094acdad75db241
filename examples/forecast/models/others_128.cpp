// SPDX-License-Identifier: MIT
#include "../forecaster_of.hpp"

namespace forecast {

using pointer = std::unique_ptr<forecaster>;
template auto make_forecaster_of<lstm_model<128>>() -> pointer;
template auto make_forecaster_of<gru_model<128>>() -> pointer;
template auto make_forecaster_of<tcn_model<128>>() -> pointer;

}  // namespace forecast
