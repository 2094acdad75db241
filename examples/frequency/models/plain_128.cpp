// SPDX-License-Identifier: MIT
#include "../filter_of.hpp"

namespace frequency {

using pointer = std::unique_ptr<filter>;
template auto make_filter_of<stateful_mode, plain<128, 1>>(settings const&) -> pointer;
template auto make_filter_of<stateful_mode, plain<128, 2>>(settings const&) -> pointer;
template auto make_filter_of<windowed_mode, plain<128, 1>>(settings const&) -> pointer;
template auto make_filter_of<windowed_mode, plain<128, 2>>(settings const&) -> pointer;

}  // namespace frequency
