// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What a server knows of a model: the names and shapes of what goes in and out, and that it
/// answers batches. A model of the library becomes one by serve/served.hpp.
namespace tessera {

/// The types of numbers that are served, in the order of `tensor_values`.
enum class datatype : std::uint8_t { fp32, fp64, int64, bytes };

/// Numbers or texts of one type; `datatype` is its index.
using tensor_values = std::variant<std::vector<float>, std::vector<double>,
                                   std::vector<std::int64_t>, std::vector<std::string>>;

[[nodiscard]] constexpr auto name_of(datatype type) -> std::string_view {
  constexpr auto names = std::array<std::string_view, 4>{"FP32", "FP64", "INT64", "BYTES"};
  return names[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr auto datatype_named(std::string_view name) -> std::optional<datatype> {
  for (auto const type : {datatype::fp32, datatype::fp64, datatype::int64, datatype::bytes})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

/// What a model takes or gives: -1 stands for the rows of a batch, which come first.
struct tensor_spec {
  std::string name;
  datatype type = datatype::fp32;
  std::vector<std::int64_t> shape;
};

struct served_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  tensor_values values;

  [[nodiscard]] auto type() const -> datatype { return static_cast<datatype>(values.index()); }
};

/// One request of a batch: its inputs in the order of the model's, as many rows of each, and the
/// state of its sequence where the model has one. `outputs` and the state are written.
struct inference_step {
  std::span<served_tensor const> inputs;
  std::size_t rows = 1;
  std::span<std::byte> state = {};
  std::vector<served_tensor> outputs = {};
};

/// The memory that a model works in, of one thread.
class model_runner {
 public:
  model_runner() = default;
  model_runner(model_runner const&) = delete;
  auto operator=(model_runner const&) -> model_runner& = delete;
  virtual ~model_runner() = default;
  /// All steps at once: at most `most_rows` rows together. What one is given does not depend on
  /// the others. Where it throws, no state has changed.
  virtual void run(std::span<inference_step> steps) = 0;
};

/// A model with its parameters, shared by threads.
class served_model {
 public:
  served_model() = default;
  served_model(served_model const&) = delete;
  auto operator=(served_model const&) -> served_model& = delete;
  virtual ~served_model() = default;

  [[nodiscard]] virtual auto inputs() const -> std::vector<tensor_spec> const& = 0;
  [[nodiscard]] virtual auto outputs() const -> std::vector<tensor_spec> const& = 0;
  [[nodiscard]] virtual auto most_rows() const -> std::size_t = 0;
  /// The bytes that a sequence keeps from one request to the next; 0: every request stands alone.
  [[nodiscard]] virtual auto state_bytes() const -> std::size_t { return 0; }
  /// The state before the first request.
  virtual void begin(std::span<std::byte> state) const {
    if (not state.empty()) std::memset(state.data(), 0, state.size());
  }
  /// Why numbers that have the right types and shapes cannot be computed with: which input and
  /// element, what was expected and what came. Empty where they can.
  [[nodiscard]] virtual auto objection(std::span<served_tensor const>) const -> std::string {
    return {};
  }
  [[nodiscard]] virtual auto make_runner() const -> std::unique_ptr<model_runner> = 0;
};

}  // namespace tessera
