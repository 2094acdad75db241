// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/policy.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

/// The device and its memory. Compiled by nvcc it is a GPU; by any other compiler a fake one, that
/// runs the bodies of kernels on the host, so that their index arithmetic, and what a graph records
/// and replays, are tested where there is no GPU.
namespace tessera::device {

/// What the device refused: the call, and the reason that the driver gives.
struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline namespace TESSERA_DEVICE_TARGET {

#if defined(__CUDACC__)
inline constexpr bool is_fake = false;
/// Forgets what a call refused: else the next launch, which asks for the last error, would tell it.
inline void forget(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
}
inline void check(cudaError_t error, char const* call) {
  forget(error);
  if (error != cudaSuccess)
    throw device_error(std::string(call) + ": " + cudaGetErrorString(error));
}
#else
inline constexpr bool is_fake = true;
#endif

/// Memory of zeros that host and device see. It asks nothing of a stream, so that it may be called
/// while a graph is captured.
[[nodiscard]] inline auto allocate(std::size_t bytes) -> void* {
#if defined(__CUDACC__)
  void* memory = nullptr;
  check(cudaMallocManaged(&memory, bytes), "cudaMallocManaged");
#else
  auto* const memory = std::aligned_alloc(storage_alignment, aligned(bytes));
  if (memory == nullptr) throw std::bad_alloc{};
#endif
  std::memset(memory, 0, bytes);
  return memory;
}
inline void release(void* memory) noexcept {
#if defined(__CUDACC__)
  forget(cudaFree(memory));
#else
  std::free(memory);
#endif
}
struct deleter {
  void operator()(void* memory) const noexcept { release(memory); }
};
template <class T> using unique = std::unique_ptr<T, deleter>;

/// Memory of zeros of the host that the device sees: what the host reads after every step, or
/// writes before it, comes from there without a page that moves.
[[nodiscard]] inline auto allocate_on_host(std::size_t bytes) -> void* {
#if defined(__CUDACC__)
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  std::memset(memory, 0, bytes);
  return memory;
#else
  return allocate(bytes);
#endif
}
struct host_deleter {
  void operator()(void* memory) const noexcept {
#if defined(__CUDACC__)
    forget(cudaFreeHost(memory));
#else
    release(memory);
#endif
  }
};
template <class T> using unique_on_host = std::unique_ptr<T, host_deleter>;

/// An object of zeros in memory that host and device see: parameters, training<...>,
/// inference<...>.
///
/// Errors  device_error where the device has no room for it
template <class T>
  requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
[[nodiscard]] auto make() -> unique<T> {
  return unique<T>{static_cast<T*>(allocate(sizeof(T)))};
}

/// The same for what the host writes before every step and kernels read: they read it through the
/// bus, where an object of make() has its pages moved to and fro.
template <class T>
  requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
[[nodiscard]] auto make_on_host() -> unique_on_host<T> {
  return unique_on_host<T>{static_cast<T*>(allocate_on_host(sizeof(T)))};
}

}  // namespace TESSERA_DEVICE_TARGET

}  // namespace tessera::device
