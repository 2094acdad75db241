// SPDX-License-Identifier: MIT
#pragma once

/// The macros of the library: all of them, ten at most; and what it asks of floating-point
/// arithmetic.
///
/// Results are what is written: every operation is rounded once, in the order in which it stands.
/// A build that may reorder sums or assume that nothing is infinite would make exp(1) = 4, and does
/// not compile. Clang is told here to keep products, sums and their order as they are, for the rest
/// of the file that includes the library; its -fno-honor-infinities, -fno-honor-nans and
/// -funsafe-math-optimizations alone cannot be seen, and change results. g++ has no such pragma:
/// without -ffp-contract=off, which the CMake target gives, its results are as good, but their last
/// bits depend on the optimizer.
///
/// Errors  -ffast-math and its parts, -fsingle-precision-constant, a standard before C++20:
///         tests/core/CMakeLists.txt

#if __cplusplus < 202002L
// A header that is not there stops the compiler: an #error would be the first of thousands.
#include <tessera needs C++20: compile with -std=c++20>
#endif
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "tessera: -ffast-math, -Ofast and their parts change results without a word; compile without"
#endif
static_assert(static_cast<double>(static_cast<float>(0.1)) - 0.1 > 0,
              "tessera: -fsingle-precision-constant takes half of the digits of double; compile "
              "without");
#if defined(__clang__)
#pragma float_control(precise, on)
#pragma clang fp contract(off) reassociate(off)
#endif

/// For small functions inside kernels, where a call that is not inlined costs a factor.
#define TESSERA_INLINE __attribute__((always_inline))

/// What a function returns points into such an argument, or into the object itself. clang warns
/// where that is a local variable or a temporary (-Wreturn-stack-address, -Wdangling); g++ 12 has
/// no such warning.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::lifetimebound)
#define TESSERA_LIFETIMEBOUND [[clang::lifetimebound]]
#endif
#endif
#if not defined(TESSERA_LIFETIMEBOUND)
#define TESSERA_LIFETIMEBOUND
#endif

/// Functors and element access that device code calls.
#if defined(__CUDACC__)
#define TESSERA_DEVICE __host__ __device__
#else
#define TESSERA_DEVICE
#endif

/// What a file's device is, a GPU or the fake one, as an inline namespace: the backend `cuda` and
/// all that launches lie in it. So a program may have files of both, and the linker does not take
/// one's function for another's.
#if defined(__CUDACC__)
#define TESSERA_DEVICE_TARGET gpu_device
#else
#define TESSERA_DEVICE_TARGET fake_device
#endif

/// 1 where there is a heap, exceptions and files; floors 0 to 8 never ask for them.
#if __STDC_HOSTED__ && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
#define TESSERA_HOSTED 1
#else
#define TESSERA_HOSTED 0
#endif

/// 1 where the target has a fused multiply-add. It is a property of the target, and every kernel
/// asks this one macro, so that reference and vector kernels round alike.
#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA) || \
    defined(__aarch64__) || defined(__CUDA_ARCH__) || defined(__riscv_flen)
#define TESSERA_FMA 1
#else
#define TESSERA_FMA 0
#endif

/// The instruction set that a file is compiled for, as an inline namespace: whatever computes lies
/// in it or mentions a backend, which lies in it. So a program may have files of several -march,
/// and the linker does not take one's function for another's. Host and device passes of nvcc agree.
/// Products of bytes (VNNI) and of pairs of bf16 are no part of a level, and have a name beside it.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && \
    defined(__AVX512DQ__) && defined(__AVX512VNNI__) && defined(__AVX512BF16__)
#define TESSERA_TARGET x86_64_v4_bf16
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && \
    defined(__AVX512DQ__) && defined(__AVX512VNNI__)
#define TESSERA_TARGET x86_64_v4_vnni
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && \
    defined(__AVX512DQ__)
#define TESSERA_TARGET x86_64_v4
#elif defined(__AVX512F__)
#define TESSERA_TARGET x86_64_avx512f
#elif defined(__AVX2__) && defined(__FMA__) && defined(__AVXVNNI__)
#define TESSERA_TARGET x86_64_v3_vnni
#elif defined(__AVX2__) && defined(__FMA__)
#define TESSERA_TARGET x86_64_v3
#elif defined(__AVX2__)
#define TESSERA_TARGET x86_64_avx2
#elif defined(__AVX__) && defined(__FMA__)
#define TESSERA_TARGET x86_64_avx_fma
#elif defined(__AVX__)
#define TESSERA_TARGET x86_64_avx
#elif defined(__SSE4_2__)
#define TESSERA_TARGET x86_64_v2
#elif defined(__x86_64__)
#define TESSERA_TARGET x86_64_v1
#elif defined(__aarch64__)
#define TESSERA_TARGET aarch64
#elif defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
#define TESSERA_TARGET with_fma
#else
#define TESSERA_TARGET without_fma
#endif

/// 1 where vector kernels exist: the target has vector registers that xsimd knows. Device
/// translation units leave them out.
#if TESSERA_HOSTED && not defined(__CUDACC__) && (defined(__x86_64__) || defined(__aarch64__))
#define TESSERA_SIMD 1
#else
#define TESSERA_SIMD 0
#endif

/// 1 where a processor may have a matrix unit (AMX), whatever instruction set a file is compiled
/// for, and a way to ask the system for it is known.
#if not defined(__x86_64__) || not defined(__LP64__) || not defined(__linux__)
#define TESSERA_MATRIX_UNIT 0
#else
#define TESSERA_MATRIX_UNIT TESSERA_SIMD
#endif

/// One line in a struct of parameters names them, in the order in which they are visited:
/// TESSERA_PARAMETERS(weight, bias)
#define TESSERA_PARAMETERS(...)                                                                \
  [[nodiscard]] constexpr auto members() { return ::tessera::detail::tie(__VA_ARGS__); }       \
  [[nodiscard]] constexpr auto members() const { return ::tessera::detail::tie(__VA_ARGS__); } \
  [[nodiscard]] static constexpr auto member_name(std::size_t index) -> ::tessera::path_name { \
    return ::tessera::detail::listed_name(#__VA_ARGS__, index);                                \
  }
