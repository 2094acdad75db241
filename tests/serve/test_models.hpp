// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/model.hpp>

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace test {

/// Waits until it is let go, to fill queues.
struct gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  int inside = 0;

  void pass() {
    auto lock = std::unique_lock{mutex};
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    --inside;
  }
  void set(bool now) {
    auto const lock = std::lock_guard{mutex};
    open = now;
    changed.notify_all();
  }
  void await_one() {
    auto lock = std::unique_lock{mutex};
    changed.wait(lock, [&] { return inside > 0; });
  }
  /// False where so many are not inside within a minute.
  [[nodiscard]] auto await(int n) -> bool {
    auto lock = std::unique_lock{mutex};
    return changed.wait_for(lock, std::chrono::minutes{1}, [&] { return inside == n; });
  }
};

/// y = factor·x, rows of two numbers; at 13 it fails, it has no answer for 14, and refuses 15.
class times final : public tessera::served_model {
 public:
  explicit times(float factor, std::shared_ptr<gate> at = std::make_shared<gate>())
      : factor_(factor), gate_(std::move(at)) {}
  [[nodiscard]] auto inputs() const -> std::vector<tessera::tensor_spec> const& override {
    return in_;
  }
  [[nodiscard]] auto outputs() const -> std::vector<tessera::tensor_spec> const& override {
    return out_;
  }
  [[nodiscard]] auto most_rows() const -> std::size_t override { return 8; }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override {
    return std::make_unique<runner>(factor_, gate_);
  }
  [[nodiscard]] auto objection(std::span<tessera::served_tensor const> given) const
      -> std::string override {
    auto const& values = std::get<std::vector<float>>(given[0].values);
    for (auto const& value : values)
      if (value == 15)
        return "input \"x\": element " + std::to_string(&value - values.data()) +
               ": expected no fifteen, got 15";
    return {};
  }

 private:
  struct runner final : tessera::model_runner {
    float factor;
    std::shared_ptr<gate> at;
    runner(float f, std::shared_ptr<gate> g) : factor(f), at(std::move(g)) {}
    void run(std::span<tessera::inference_step> steps) override {
      at->pass();
      for (auto& step : steps) {
        auto values = std::get<std::vector<float>>(step.inputs[0].values);
        for (auto& value : values) {
          if (value == 13) throw std::runtime_error("no thirteens");
          value = value == 14 ? 1e30F * 1e30F : value * factor;
        }
        step.outputs = {{"y", step.inputs[0].shape, std::move(values)}};
      }
    }
  };
  float factor_;
  std::shared_ptr<gate> gate_;
  std::vector<tessera::tensor_spec> in_{{"x", tessera::datatype::fp32, {-1, 2}}};
  std::vector<tessera::tensor_spec> out_{{"y", tessera::datatype::fp32, {-1, 2}}};
};

/// The sum of a sequence so far.
class sum_so_far final : public tessera::served_model {
 public:
  explicit sum_so_far(std::shared_ptr<gate> at = std::make_shared<gate>()) : gate_(std::move(at)) {}
  [[nodiscard]] auto inputs() const -> std::vector<tessera::tensor_spec> const& override {
    return in_;
  }
  [[nodiscard]] auto outputs() const -> std::vector<tessera::tensor_spec> const& override {
    return out_;
  }
  [[nodiscard]] auto most_rows() const -> std::size_t override { return 8; }
  [[nodiscard]] auto state_bytes() const -> std::size_t override { return sizeof(std::int64_t); }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override {
    return std::make_unique<runner>(gate_);
  }

 private:
  struct runner final : tessera::model_runner {
    std::shared_ptr<gate> at;
    explicit runner(std::shared_ptr<gate> g) : at(std::move(g)) {}
    void run(std::span<tessera::inference_step> steps) override {
      at->pass();
      for (auto& step : steps) {
        auto sum = std::int64_t{0};
        std::memcpy(&sum, step.state.data(), sizeof sum);
        auto const value = std::get<std::vector<std::int64_t>>(step.inputs[0].values)[0];
        if (value == 13) throw std::runtime_error("no thirteens");
        sum += value;
        std::memcpy(step.state.data(), &sum, sizeof sum);
        step.outputs = {{"sum", {1, 1}, std::vector<std::int64_t>{sum}}};
      }
    }
  };
  std::shared_ptr<gate> gate_;
  std::vector<tessera::tensor_spec> in_{{"x", tessera::datatype::int64, {-1, 1}}};
  std::vector<tessera::tensor_spec> out_{{"sum", tessera::datatype::int64, {-1, 1}}};
};

/// Gives texts back, and numbers of 64 bits.
class same final : public tessera::served_model {
 public:
  [[nodiscard]] auto inputs() const -> std::vector<tessera::tensor_spec> const& override {
    return specs_;
  }
  [[nodiscard]] auto outputs() const -> std::vector<tessera::tensor_spec> const& override {
    return specs_;
  }
  [[nodiscard]] auto most_rows() const -> std::size_t override { return 4; }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override {
    return std::make_unique<runner>();
  }

 private:
  struct runner final : tessera::model_runner {
    void run(std::span<tessera::inference_step> steps) override {
      for (auto& step : steps) step.outputs.assign(step.inputs.begin(), step.inputs.end());
    }
  };
  std::vector<tessera::tensor_spec> specs_{{"text", tessera::datatype::bytes, {-1}},
                                           {"number", tessera::datatype::fp64, {-1, 2, 2}}};
};

}  // namespace test
