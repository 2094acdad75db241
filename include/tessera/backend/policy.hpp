// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>
#include <tessera/core/error.hpp>

#include <cstddef>

/// Backends are policies: a tensor's type names one, and layers never do.
namespace tessera {

inline namespace TESSERA_TARGET {

/// The definition of every operation: plain loops, usable in constant expressions.
struct reference {};

/// Vector kernels for the instruction set that a file is compiled for, with the bits of
/// `reference`. An operation whose loops the compiler makes vectors of says so:
/// `template <> struct kernel_for<op, simd> : kernel_for<op, reference> {};`.
struct simd {};

/// `simd` for who wants short steps rather than the bits of `reference`: a step of a
/// recurrent layer with packed weights adds in another order and takes shorter activations, within
/// a bound (ops/simd/recurrent_relaxed.hpp); an affine map of one row to one output adds in
/// another order wherever it stands, and one of bf16 as stored does where the processor has a
/// matrix unit (ops/simd/affine_map_relaxed.hpp). All else is the fallback's.
struct relaxed {
#if TESSERA_SIMD
  using fallback = simd;
#else
  using fallback = reference;
#endif
};

}  // namespace TESSERA_TARGET

inline namespace TESSERA_DEVICE_TARGET {

/// A CUDA device; complete where tessera/cuda.hpp is included, which brings its kernels.
struct cuda;

}  // namespace TESSERA_DEVICE_TARGET

/// True for a backend whose definition was included.
template <class Backend>
concept defined_backend = requires { sizeof(Backend); };

/// What tensors use that name no backend: a property of the target, never of -march.
#if TESSERA_SIMD
using default_backend = simd;
#else
using default_backend = reference;
#endif

/// Alignment of storage in bytes: a constant of the target, so that a tensor has one layout in
/// every translation unit of a program.
#if TESSERA_HOSTED
inline constexpr std::size_t storage_alignment = 64;
#else
inline constexpr std::size_t storage_alignment = alignof(std::max_align_t);
#endif

[[nodiscard]] constexpr auto aligned(std::size_t bytes) -> std::size_t {
  return (bytes + storage_alignment - 1) / storage_alignment * storage_alignment;
}

/// The largest temporary, in bytes, that the library puts on the stack by itself.
#if TESSERA_HOSTED
inline constexpr std::size_t stack_limit = 64 * 1024;
#else
inline constexpr std::size_t stack_limit = 1024;
#endif

/// True where the memory of tensors is a device's: the host computes addresses, and reads nothing.
template <class Backend>
inline constexpr bool on_device = requires { requires Backend::on_device; };

template <class Backend>
concept backend_with_fallback = requires { typename Backend::fallback; };

namespace complaint {

template <class Where, class Backend> inline constexpr bool kernel_exists = false;

}  // namespace complaint

/// The code that runs operation `Op` on `Backend`: the only hook of a backend.
///
/// A backend specializes kernel_for<Op, Backend> for the operations it has kernels for, or
/// kernel_for<Op, Backend> for every Op; what it does not specialize runs on the `fallback` that it
/// names. Where it names none, there is no kernel, and nothing else runs in its place.
/// ops/operations.hpp lists the operations.
///
/// Errors  an operation without a kernel does not compile: tests/fail/kernel_missing.cpp
template <class Op, class Backend> struct kernel_for {
  static_assert(complaint::kernel_exists<complaint::in<Op>, complaint::got<Backend>>,
                "kernel: this backend has none for this operation, and names no fallback");
};

template <class Op, backend_with_fallback Backend>
struct kernel_for<Op, Backend> : kernel_for<Op, typename Backend::fallback> {};

namespace detail {

/// Where memory is a device's, kernel_for<memory_fn, Backend> has allocate(bytes), of zeros that
/// host and device see, and release(memory); allocate_on_host and release_on_host, of zeros that
/// stay on the host's side; and wait(), until all that was launched is done.
struct memory_fn {};

}  // namespace detail

}  // namespace tessera
