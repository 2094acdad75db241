// SPDX-License-Identifier: MIT
#pragma once

namespace test {

/// How many times the program has asked for memory: malloc and its kin, operator new, mmap. The
/// counting versions are in support/allocations.cpp, which every test is linked with.
[[nodiscard]] auto allocations() -> long;

}  // namespace test
