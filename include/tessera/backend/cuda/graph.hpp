// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>

namespace tessera::device::inline TESSERA_DEVICE_TARGET {

/// What a function launches, as one graph: `auto step = device::graph([&] { train->step(...); })`,
/// then `step()` runs it; the first call records.
///
/// A replay runs the function's host code again, which only fills in the bodies, and launches all
/// kernels at once. The function must launch the same kernels each time, and read no number.
///
/// State   the first number that the function asks for (a loss) is what step() returns
/// Errors  device_error where a replay launches other kernels than were recorded, or of another
///         size: tests/backend/graph.cpp
template <class Step> class graph {
 public:
  explicit graph(Step step) : step_(std::move(step)) {}
  graph(graph const&) = delete;
  auto operator=(graph const&) -> graph& = delete;
  ~graph() {
#if defined(__CUDACC__)
    if (run_ != nullptr) forget(cudaGraphExecDestroy(run_));
#endif
  }

  /// Runs all of it and waits. Returns the first number that was asked for.
  auto operator()() -> double {
    auto& q = current();
    q.synchronize();  // the host counts in memory that launches before may use
    if (recording_.replays)
      run_host(q);
    else
      record(q);
#if defined(__CUDACC__)
    check(cudaMemcpyAsync(bodies_.get(), recording_.bodies.data(), recording_.bodies.size(),
                          cudaMemcpyHostToDevice, q.stream_),
          "cudaMemcpyAsync");
    check(cudaGraphLaunch(run_, q.stream_), "cudaGraphLaunch");
#else
    for (auto const& one : recording_.launches)
      one.run(recording_.bodies.data(), one.at, one.blocks);
#endif
    q.synchronize();
    if (first_ == nullptr) return 0;
    if (recording_.number_bytes == sizeof(double)) return *first_;
    float number = 0;
    std::memcpy(&number, first_, sizeof number);
    return static_cast<double>(number);
  }
  [[nodiscard]] auto kernels() const -> std::size_t { return recording_.launches.size(); }

 private:
  void record(queue& q) {
    recording_ = {};
#if defined(__CUDACC__)
    // Not memory that the host sees: what is copied there would be on the wrong side again.
    auto* memory = static_cast<void*>(nullptr);
    check(cudaMalloc(&memory, queue::body_bytes), "cudaMalloc");
    bodies_.reset(static_cast<std::byte*>(memory));
    recording_.on_device = bodies_.get();
    check(cudaStreamBeginCapture(q.stream_, cudaStreamCaptureModeRelaxed),
          "cudaStreamBeginCapture");
    cudaGraph_t captured = nullptr;
    try {
      run_host(q);
    } catch (...) {  // a stream that captures takes no other launch
      auto const ended = cudaStreamEndCapture(q.stream_, &captured);
      forget(ended);
      if (ended == cudaSuccess) forget(cudaGraphDestroy(captured));
      throw;
    }
    check(cudaStreamEndCapture(q.stream_, &captured), "cudaStreamEndCapture");
    auto const made = cudaGraphInstantiate(&run_, captured, 0);
    forget(cudaGraphDestroy(captured));
    check(made, "cudaGraphInstantiate");
#else
    run_host(q);
#endif
    recording_.replays = true;
  }
  void run_host(queue& q) {
    struct scope {
      queue& q;
      ~scope() { q.recording_ = nullptr; }
    } const end{q};
    q.recording_ = &recording_;
    q.asked_ = queue::most_numbers / 2;
    recording_.end = recording_.next = 0;
    step_();
    if (recording_.replays && recording_.next != recording_.launches.size())
      throw device_error("graph: a replay launches less than was recorded");
    first_ =
        q.asked_ > queue::most_numbers / 2 ? q.numbers_.get() + queue::most_numbers / 2 : nullptr;
  }

  Step step_;
  queue::recording recording_;
  double* first_ = nullptr;
#if defined(__CUDACC__)
  unique<std::byte> bodies_;
  cudaGraphExec_t run_ = nullptr;
#endif
};

}  // namespace tessera::device::inline TESSERA_DEVICE_TARGET
