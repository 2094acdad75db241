// SPDX-License-Identifier: MIT
#include "../filter_of.hpp"

namespace frequency {

using pointer = std::unique_ptr<filter>;
template auto make_filter_of<windowed_mode, with_attention<128>>(settings const&) -> pointer;
template auto make_filter_of<stateful_mode, film<128>>(settings const&) -> pointer;
template auto make_filter_of<windowed_mode, film<128>>(settings const&) -> pointer;

}  // namespace frequency
