// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What the program asks of the GPU. This header has no device code and no model: g++ compiles the
/// program, nvcc compiles steps.cu, and the linker joins them.
namespace steps {

/// A network in training on the GPU, its step one graph.
class trainer {
 public:
  virtual ~trainer() = default;
  /// Numbers of a batch: the input, the wanted output, and the condition where there is one.
  struct batch {
    std::vector<float> x;
    std::vector<float> target;
    std::vector<float> condition;
  };
  [[nodiscard]] virtual auto shape() const -> batch = 0;  ///< of zeros, with the right sizes
  virtual auto step(batch const& data, double rate) -> double = 0;  ///< the loss
  virtual void save(std::string const& path) const = 0;             ///< safetensors
  [[nodiscard]] virtual auto kernels() const -> std::size_t = 0;
};

[[nodiscard]] auto has_device() -> bool;
/// Errors  std::invalid_argument for a name that is none of filter, digits and characters
[[nodiscard]] auto make_trainer(std::string const& network, std::uint32_t seed)
    -> std::unique_ptr<trainer>;

}  // namespace steps
