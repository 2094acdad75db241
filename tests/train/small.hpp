// SPDX-License-Identifier: MIT
#pragma once

#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/data/tensor_batches.hpp>
#include <tessera/train/trainer.hpp>

#include <xtensor/xtensor.hpp>

/// A training that takes milliseconds: five batches of points of a plane, and a curve over them.
namespace small {

using namespace tessera;

using model = sequential<linear<2, 6>, tanh_layer, linear<6, 1>>;
using X = tensor<float, shape<at_most(24), 2>>;
template <class Optimizer> using training_of = training<model, X, Optimizer, 2>;

struct points {
  xt::xtensor<float, 2> x;
  xt::xtensor<float, 2> y;

  explicit points(std::size_t n = 40) : x({n, 2UL}), y({n, 1UL}) {
    auto g = torch_generator(4);
    for (auto i = std::size_t{0}; i < n; ++i) {
      for (auto k = std::size_t{0}; k < 2; ++k) x(i, k) = 2 * g.rand<float>() - 1;
      y(i, 0) = x(i, 0) * x(i, 1) + 0.5F * x(i, 0);
    }
  }
  [[nodiscard]] auto source(bool shuffles = true, std::size_t batch = 8) const {
    return tensor_batches(x, y, {.batch = batch, .shuffles = shuffles, .seed = 1});
  }
};

/// A source that notes what is asked of it, as "|0" for an epoch and " 3" for a batch.
template <class Source> struct noted {
  static constexpr bool carries = false;
  Source source;
  std::shared_ptr<std::string> notes = std::make_shared<std::string>();

  [[nodiscard]] auto size() const -> std::size_t { return source.size(); }
  void begin(std::uint64_t epoch) {
    *notes += '|' + std::to_string(epoch);
    source.begin(epoch);
  }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    if (chunk == 0) *notes += ' ' + std::to_string(batch);
    source.load(batch, chunk, chunks, to);
  }
};
template <class Source> noted(Source) -> noted<Source>;

template <class Optimizer = adam>
[[nodiscard]] auto make(trainer_options options, Optimizer optimizer = {.rate = 0.02}) {
  using type = trainer<training_of<Optimizer>, mse>;
  auto t = std::make_unique<type>(std::move(options), optimizer, constant_rate{}, mse{});
  test::fill_parameters(t->parameters(), 1);
  return t;
}
/// The names of a folder's files, and their contents.
[[nodiscard]] inline auto files_of(std::filesystem::path const& folder) {
  auto result = std::map<std::string, std::string>{};
  for (auto const& entry : std::filesystem::recursive_directory_iterator{folder})
    if (entry.is_regular_file())
      result[relative(entry.path(), folder).string()] = test::text_of(entry.path());
  return result;
}

}  // namespace small
