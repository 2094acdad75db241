// SPDX-License-Identifier: MIT
#include "../forecaster_of.hpp"

namespace forecast {

using pointer = std::unique_ptr<forecaster>;
template auto make_forecaster_of<attention_model<32, 1>, 1>() -> pointer;
template auto make_forecaster_of<attention_model<32, 4>, 4>() -> pointer;

}  // namespace forecast
