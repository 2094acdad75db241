// SPDX-License-Identifier: MIT
#pragma once

/// Catch2, version 2 or 3: a test includes this and nothing of Catch2 itself.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
