// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/npy.hpp>
#include <tessera/data/shuffle.hpp>

#include <stdexcept>
#include <vector>

#include "network.hpp"

namespace digits {

/// Images with pixels of [-1, 1] and their classes.
struct labelled_images {
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;

  [[nodiscard]] auto count() const -> std::size_t { return labels.size(); }
};
struct split_data {
  labelled_images train;
  labelled_images held_out;
};

/// The file of tests/reference/digits.py, every fifth of a shuffled order held out.
[[nodiscard]] inline auto load_digits(std::filesystem::path const& path) -> split_data {
  auto const table = tessera::load_npy<std::uint8_t>(path);
  constexpr auto pixels = size * size;
  if (table.dimension() != 2 || table.shape(1) != pixels + 1)
    throw std::runtime_error(path.string() + ": expected rows of 64 pixels and a class");
  auto const rows = table.shape(0);
  auto const order = tessera::shuffled(0, 0, rows);
  auto result = split_data{};
  for (auto i = std::size_t{0}; i < rows; ++i) {
    auto& to = i % 5 == 0 ? result.held_out : result.train;
    for (auto k = std::size_t{0}; k < pixels; ++k)
      to.pixels.push_back(static_cast<float>(table(order[i], k)) / 8 - 1);
    to.labels.push_back(table(order[i], pixels));
  }
  return result;
}

/// Batch `at` of the images in an order: how many there are, at most a whole one.
inline auto load_batch(labelled_images const& data, std::vector<std::uint32_t> const& order,
                       std::size_t at, images& x, std::vector<std::int32_t>& labels)
    -> std::size_t {
  auto const n = std::min(batch, data.count() - at * batch);
  labels.resize(n);
  for (auto i = std::size_t{0}; i < n; ++i) {
    auto const from = order[at * batch + i];
    std::copy_n(data.pixels.data() + from * size * size, size * size, x.values + i * size * size);
    labels[i] = data.labels[from];
  }
  return n;
}
[[nodiscard]] inline auto batches_of(labelled_images const& data) -> std::size_t {
  return (data.count() + batch - 1) / batch;
}

}  // namespace digits
