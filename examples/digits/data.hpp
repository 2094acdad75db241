// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/npy.hpp>
#include <tessera/data/tensor_batches.hpp>

#include <stdexcept>
#include <string>

#include "network.hpp"

namespace digits {

/// Images (count, size, size, 1) with pixels of [-1, 1], and their classes.
struct labelled_images {
  xt::xtensor<float, 4> pixels;
  xt::xtensor<std::int32_t, 1> labels;

  [[nodiscard]] auto count() const -> std::size_t { return labels.size(); }
};
struct split_data {
  labelled_images train;
  labelled_images held_out;
};

namespace detail {

/// Errors  std::runtime_error, which names the file and the row, counted from 0
inline void check_digits(std::filesystem::path const& path, auto const& table) {
  constexpr auto pixels = size * size;
  auto const fail = [&](std::string const& what) {
    throw std::runtime_error(path.string() + ": " + what);
  };
  auto const check = [&](std::size_t row, std::size_t column, std::size_t most, char const* what) {
    auto const found = std::size_t{table(row, column)};
    if (found > most)
      fail("row " + std::to_string(row) + ": expected " + what + " from 0 to " +
           std::to_string(most) + ", found " + std::to_string(found));
  };
  if (table.dimension() != 2 || table.shape(1) != pixels + 1)
    fail("expected rows of 64 pixels and a class");
  if (table.shape(0) < batch)
    fail("expected at least " + std::to_string(batch) + " rows, found " +
         std::to_string(table.shape(0)));
  for (auto row = std::size_t{0}; row < table.shape(0); ++row) {
    for (auto k = std::size_t{0}; k < pixels; ++k) check(row, k, 16, "a pixel");
    check(row, pixels, classes - 1, "a class");
  }
}

}  // namespace detail

/// The file of tests/reference/digits.py, every fifth of a shuffled order held out.
///
/// Errors  std::runtime_error, which names the row, where a number is no pixel or no class
[[nodiscard]] inline auto load_digits(std::filesystem::path const& path) -> split_data {
  auto const table = tessera::load_npy<std::uint8_t>(path);
  constexpr auto pixels = size * size;
  detail::check_digits(path, table);
  auto const rows = table.shape(0);
  auto const order = tessera::shuffled(0, 0, rows);
  auto const held_out = (rows + 4) / 5;
  auto const sized = [](std::size_t n) {
    return labelled_images{xt::xtensor<float, 4>(std::array<std::size_t, 4>{n, size, size, 1}),
                           xt::xtensor<std::int32_t, 1>(std::array<std::size_t, 1>{n})};
  };
  auto result = split_data{sized(rows - held_out), sized(held_out)};
  for (auto i = std::size_t{0}; i < rows; ++i) {
    auto& to = i % 5 == 0 ? result.held_out : result.train;
    auto const at = i % 5 == 0 ? i / 5 : i - i / 5 - 1;
    for (auto k = std::size_t{0}; k < pixels; ++k)
      to.pixels.data()[at * pixels + k] = static_cast<float>(table(order[i], k)) / 8 - 1;
    to.labels(at) = table(order[i], pixels);
  }
  return result;
}

/// Images with noise of random steps, which is what is to be predicted; the step and the class are
/// the condition, one in ten without its class. The generator goes on from epoch to epoch.
class noisy_images {
 public:
  static constexpr bool carries = false;
  template <class X>
  using extra = tessera::filled<
      tessera::tensor<float, tessera::shape_of<conditions>, tessera::backend_of<X>>>;

  noisy_images(labelled_images const& data, std::uint64_t seed, tessera::torch_generator generator)
      : data_(data), seed_(seed), start_(generator), generator_(generator) {}
  [[nodiscard]] auto size() const -> std::size_t { return (data_.count() + batch - 1) / batch; }
  void begin(std::uint64_t epoch) {
    if (epoch != next_) {
      generator_ = start_;
      for (auto e = std::uint64_t{0}; e < epoch; ++e) draw();
    }
    order_ = tessera::shuffled(seed_, epoch, data_.count());
    draw();
    next_ = epoch + 1;
  }
  template <class Slot>
  void load(std::size_t at, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const n = std::min(batch, data_.count() - at * batch);
    auto const [first, count] = tessera::share_of(n, batch, chunk, chunks);
    auto const x = to.x.resize(std::array{count, digits::size, digits::size, std::size_t{1}}, "x");
    auto const noise = to.target.resize(x.actual.full(), "target");
    auto const c = to.extra.resize(std::array{count, std::size_t{2}}, "condition");
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto const position = at * batch + first + i;
      auto const from = order_[position];
      auto const& [step, dropped] = drawn_[position];
      std::copy_n(noise_.data() + position * pixels, pixels, noise[i].data());
      std::copy_n(data_.pixels.data() + from * pixels, pixels, x[i].data());
      c(i, 0) = static_cast<float>(step);
      c(i, 1) =
          static_cast<float>(dropped ? static_cast<std::int32_t>(classes) : data_.labels(from));
      auto const image = picture(x[i].data());
      diffusion.add_noise(step, image, picture(noise[i].data()), image);
    }
  }
  [[nodiscard]] static auto context(auto const& slot, auto base) {
    return tessera::given(slot.extra.read(), base);
  }

 private:
  static constexpr auto pixels = digits::size * digits::size;
  using picture = tessera::view<float, tessera::shape<pixels>>;  // the host's, wherever it lies
  struct draws {
    std::size_t step = 0;
    bool dropped = false;
  };
  /// What an epoch takes from the generator, batch by batch.
  void draw() {
    noise_.resize(data_.count() * pixels);
    drawn_.resize(data_.count());
    for (auto b = std::size_t{0}; b < size(); ++b) {
      auto const n = std::min(batch, data_.count() - b * batch);
      generator_.normal(noise_.data() + b * batch * pixels, n * pixels);
      for (auto i = std::size_t{0}; i < n; ++i) {
        auto const step = generator_.randint(diffusion.steps);
        drawn_[b * batch + i] = {step, generator_.randint(10) == 0};
      }
    }
  }

  labelled_images const& data_;
  std::uint64_t seed_;
  tessera::torch_generator start_;
  tessera::torch_generator generator_;
  std::uint64_t next_ = 0;  // the epoch that the generator stands before
  std::vector<std::uint32_t> order_;
  std::vector<float> noise_;
  std::vector<draws> drawn_;
};

}  // namespace digits
