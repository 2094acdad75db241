// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/device.hpp>

#include <functional>
#include <map>
#include <utility>
#include <vector>

/// Launches of kernels, and what they need beside their arguments.
namespace tessera::device {

// -- bodies of kernels ----------------------------------------------------------------------------
//
// A body is a struct of plain values with
//   threads             of a block
//   shared, registers   what a block shares, and what a thread keeps from phase to phase
//   phases()            how many there are, with a barrier between two
//   run(phase, block, thread, shared, registers)
// On the GPU phases follow each other in every thread; the fake device runs a phase for all threads
// of a block and then the next.

struct empty {};

namespace detail::inline TESSERA_DEVICE_TARGET {

template <class Body> void run_on_host(Body const& body, std::size_t blocks) {
  auto registers = std::vector<typename Body::registers>(Body::threads);
  for (auto b = std::size_t{0}; b < blocks; ++b) {
    auto shared = std::make_unique<typename Body::shared>();
    for (auto& own : registers) own = {};
    for (auto p = std::size_t{0}; p < body.phases(); ++p)
      for (auto t = std::size_t{0}; t < Body::threads; ++t)
        body.run(p, b, t, *shared, registers[t]);
  }
}

#if defined(__CUDACC__)
template <class Body> void check_launch() { check(cudaGetLastError(), __PRETTY_FUNCTION__); }
template <class Body> __device__ void run_block(Body const& body) {
  __shared__ typename Body::shared shared;
  typename Body::registers own{};
  auto const phases = body.phases();
  for (std::size_t p = 0; p < phases; ++p) {
    if (p > 0) __syncthreads();
    body.run(p, blockIdx.x, threadIdx.x, shared, own);
  }
}
/// Bytes, as the host counts them, so that tests can hold them against what the device reads.
template <class Body, std::size_t Bytes>
__global__ void __launch_bounds__(Body::threads) run_value(Body body) {
  run_block(body);
}
template <class Body>
__global__ void __launch_bounds__(Body::threads) run_recorded(Body const* body) {
  run_block(*body);
}
#else
template <class Body>
void run_recorded(std::byte const* bodies, std::size_t at, std::size_t blocks) {
  run_on_host(*reinterpret_cast<Body const*>(bodies + at), blocks);
}
#endif

}  // namespace detail::inline TESSERA_DEVICE_TARGET

// -- launches -------------------------------------------------------------------------------------

inline namespace TESSERA_DEVICE_TARGET {

/// Where launches go: in order, one after the other. A graph records them together with the bodies,
/// which a replay computes anew on the host, so that learning rates and random counters move on.
class queue {
 public:
  // For each thread that launches: the temporaries of one expression at a time; the bodies of a
  // recorded step; the numbers that it hands to the host. What needs more is refused by its size.
  static constexpr auto scratch_bytes = std::size_t{64} << 20;
  static constexpr auto body_bytes = std::size_t{8} << 20;
  static constexpr auto most_numbers = std::size_t{256};

  queue() : numbers_{static_cast<double*>(allocate_on_host(most_numbers * sizeof(double)))} {
#if defined(__CUDACC__)
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
#endif
  }
  queue(queue const&) = delete;
  auto operator=(queue const&) -> queue& = delete;
  ~queue() {
#if defined(__CUDACC__)
    forget(cudaStreamDestroy(stream_));
#endif
  }

  template <class Body> void launch(Body const& body, std::size_t blocks) {
    static_assert(std::is_trivially_copyable_v<Body>);
    if (blocks == 0) return;
    if (not recording_) {
#if defined(__CUDACC__)
      detail::run_value<Body, sizeof(Body)>
          <<<static_cast<unsigned>(blocks), static_cast<unsigned>(Body::threads), 0, stream_>>>(
              body);
      detail::check_launch<Body>();
#else
      if (delays_)
        delayed_.push_back([body, blocks] { detail::run_on_host(body, blocks); });
      else
        detail::run_on_host(body, blocks);
#endif
      return;
    }
    auto const at = recording_->add(&body, sizeof body);
    auto const one = launched{reinterpret_cast<kernel>(&detail::run_recorded<Body>), at, blocks};
    if (recording_->replays) return recording_->expect(one);
    recording_->launches.push_back(one);
#if defined(__CUDACC__)
    detail::run_recorded<<<static_cast<unsigned>(blocks), static_cast<unsigned>(Body::threads), 0,
                           stream_>>>(reinterpret_cast<Body const*>(recording_->on_device + at));
    detail::check_launch<Body>();
#endif
  }

  /// Waits until all that was launched is done.
  void synchronize() {
#if defined(__CUDACC__)
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
#else
    for (auto const& run : delayed_) run();
    delayed_.clear();
#endif
  }
#if !defined(__CUDACC__)
  /// The fake device runs what is launched at once; or, as late as a GPU may, when it is waited
  /// for, so that a host that does not wait is found.
  void delay(bool delays) {
    synchronize();
    delays_ = delays;
  }
#endif

  /// Memory for a temporary of the host's current scope, given back in reverse order. The launches
  /// of a queue run in order, so that what comes later may have the same memory.
  [[nodiscard]] auto take(std::size_t bytes) -> void* {
    if (bytes == 0) return nullptr;
    if (not scratch_) scratch_.reset(static_cast<std::byte*>(allocate(scratch_bytes)));
    if (taken_ + aligned(bytes) > scratch_bytes)
      throw device_error("a temporary of " + std::to_string(bytes) + " bytes does not fit in " +
                         std::to_string(scratch_bytes) + " bytes of scratch, of which " +
                         std::to_string(taken_) + " are taken");
    auto* const memory = scratch_.get() + taken_;
    taken_ += aligned(bytes);
    return memory;
  }
  void give_back(std::size_t bytes) { taken_ -= aligned(bytes); }

  /// A place for a number that the host asks for, until as many others were asked for.
  [[nodiscard]] auto next_number(std::size_t bytes) -> void* {
    if (recording_ != nullptr && recording_->number_bytes == 0) recording_->number_bytes = bytes;
    return numbers_.get() + asked_++ % most_numbers;
  }
  /// True while a number cannot be read because its kernel is only recorded.
  [[nodiscard]] auto is_recording() const -> bool { return recording_ != nullptr; }

  /// True where host code runs only to fill in the bodies of a graph.
  [[nodiscard]] auto is_replaying() const -> bool {
    return recording_ != nullptr && recording_->replays;
  }
#if defined(__CUDACC__)
  /// For libraries, whose launches a graph captures with the others.
  [[nodiscard]] auto stream() const -> cudaStream_t { return stream_; }
#endif

  /// A copy, on the device, of numbers of the host that never change.
  template <class T> [[nodiscard]] auto constant(T const* values, std::size_t n) -> T const* {
    auto& copy = constants_[{values, n * sizeof(T)}];
    if (not copy) {
      copy.reset(allocate(n * sizeof(T)));
      std::memcpy(copy.get(), values, n * sizeof(T));
    }
    return static_cast<T const*>(copy.get());
  }

 private:
  template <class> friend class graph;

#if defined(__CUDACC__)
  using kernel = void (*)();  ///< of whatever body
#else
  using kernel = void (*)(std::byte const*, std::size_t, std::size_t);
#endif
  struct launched {
    kernel run;
    std::size_t at;  ///< its body's place among the bodies
    std::size_t blocks;
    [[nodiscard]] auto operator==(launched const&) const -> bool = default;
  };
  struct recording {
    std::vector<std::byte> bodies;
    std::vector<launched> launches;
    std::size_t next = 0;  ///< the launch that a replay comes to
    std::size_t end = 0;   ///< of the bodies so far
    bool replays = false;
    std::size_t number_bytes = 0;  ///< of the first number that was asked for
#if defined(__CUDACC__)
    std::byte* on_device = nullptr;
#endif

    auto add(void const* body, std::size_t bytes) -> std::size_t {
      auto const at = end;
      end += aligned(bytes);
      if (end > body_bytes)
        throw device_error("graph: more than " + std::to_string(body_bytes) + " bytes of kernels");
      if (replays && end > bodies.size())
        throw device_error("graph: a replay launches more than was recorded");
      if (not replays) bodies.resize(end);
      std::memcpy(bodies.data() + at, body, bytes);
      return at;
    }
    void expect(launched const& one) {
      if (next >= launches.size() || launches[next] != one)
        throw device_error("graph: a replay launches what was not recorded");
      ++next;
    }
  };

  recording* recording_ = nullptr;
  unique<std::byte> scratch_;
  std::size_t taken_ = 0;
  unique_on_host<double> numbers_;
  std::size_t asked_ = 0;
  std::map<std::pair<void const*, std::size_t>, unique<void>> constants_;
#if defined(__CUDACC__)
  cudaStream_t stream_ = nullptr;
#else
  bool delays_ = false;
  std::vector<std::function<void()>> delayed_;
#endif
};

/// The queue of this thread.
[[nodiscard]] inline auto current() -> queue& {
  static thread_local auto own = queue{};
  return own;
}
inline void synchronize() { current().synchronize(); }

/// Scratch of this thread's queue, for as long as this is in scope.
template <class T> class scratch {
 public:
  explicit scratch(std::size_t count)
      : bytes_{count * sizeof(T)}, memory_{static_cast<T*>(current().take(bytes_))} {}
  scratch(scratch const&) = delete;
  auto operator=(scratch const&) -> scratch& = delete;
  ~scratch() { current().give_back(bytes_); }

  [[nodiscard]] auto data() const -> T* { return memory_; }

 private:
  std::size_t bytes_;
  T* memory_;
};

}  // namespace TESSERA_DEVICE_TARGET

// -- launches of one kind of body -----------------------------------------------------------------

namespace detail::inline TESSERA_DEVICE_TARGET {

template <class F> struct for_each_body {
  static constexpr std::size_t threads = 256;
  using shared = empty;
  using registers = empty;
  std::size_t n;
  F f;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 1; }
  TESSERA_DEVICE void run(std::size_t, std::size_t block, std::size_t thread, shared&,
                          registers&) const {
    auto const i = block * threads + thread;
    if (i < n) f(i);
  }
};

#if defined(__CUDACC__)
struct nothing_to_do {
  TESSERA_DEVICE void operator()(std::size_t) const {}
};
/// The program has code for this device, and the host may reach managed memory while it runs.
[[nodiscard]] inline auto runs_kernels() -> bool {
  using body = for_each_body<nothing_to_do>;
  void (*const kernel)(body) = run_value<body, sizeof(body)>;
  auto own = 0;
  auto shares = 0;
  auto found = cudaFuncAttributes{};
  auto const refused = [](cudaError_t error) {
    forget(error);
    return error != cudaSuccess;
  };
  if (refused(cudaGetDevice(&own)) ||
      refused(cudaDeviceGetAttribute(&shares, cudaDevAttrConcurrentManagedAccess, own)) ||
      refused(cudaFuncGetAttributes(&found, reinterpret_cast<void const*>(kernel))))
    return false;
  return shares != 0;
}
#endif

}  // namespace detail::inline TESSERA_DEVICE_TARGET

inline namespace TESSERA_DEVICE_TARGET {

/// f(0), ..., f(n - 1), in any order: a thread each.
template <class F> void for_each(std::size_t n, F const& f) {
  constexpr auto threads = detail::for_each_body<F>::threads;
  current().launch(detail::for_each_body<F>{n, f}, (n + threads - 1) / threads);
}

/// True where launches can run: there is a device, the program has code for it, and it and the host
/// may reach memory that both see at one time.
[[nodiscard]] inline auto is_present() -> bool {
#if defined(__CUDACC__)
  return detail::runs_kernels();
#else
  return true;
#endif
}

}  // namespace TESSERA_DEVICE_TARGET

}  // namespace tessera::device

namespace tessera {

template <> struct kernel_for<detail::memory_fn, cuda> {
  [[nodiscard]] static auto allocate(std::size_t bytes) -> void* { return device::allocate(bytes); }
  static void release(void* memory) noexcept { device::release(memory); }
  static void wait() { device::synchronize(); }
  [[nodiscard]] static auto allocate_on_host(std::size_t bytes) -> void* {
    return device::allocate_on_host(bytes);
  }
  static void release_on_host(void* memory) noexcept { device::host_deleter{}(memory); }
};

}  // namespace tessera
