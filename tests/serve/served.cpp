// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/serve/served.hpp>

using namespace tessera;

namespace {

constexpr auto most = std::size_t{16};
using forecaster = sequential<lstm<3, 8, lstm_options{.layers = 2}>, last_step, linear<8, 2>>;
using windows = tensor<float, shape<5, at_most(16), 3>>;
using filter =
    sequential<lstm<3, 8, lstm_options{.layers = 2}>, repeat<gru<8, 8>, 2>, linear<8, 1>>;
using samples = tensor<float, shape<at_most(16), 3>>;

/// Weights of a model in a file.
template <class Model> struct written {
  test::folder folder;
  parameters_of<Model, owned<float>> parameters;
  written() {
    test::fill_parameters(parameters, 1, 0.5);
    save_parameters(path(), parameters);
  }
  [[nodiscard]] auto path() const -> std::filesystem::path { return folder / "model.safetensors"; }
};
auto numbers(std::size_t n, unsigned seed) -> std::vector<float> {
  auto result = std::vector<float>(n);
  test::fill(result.data(), n, seed);
  return result;
}
auto input(std::vector<std::int64_t> shape, unsigned seed) -> std::vector<served_tensor> {
  auto n = std::size_t{1};
  for (auto const length : shape) n *= static_cast<std::size_t>(length);
  return {{"input", std::move(shape), numbers(n, seed)}};
}
auto answer(inference_step const& step) -> std::vector<float> const& {
  return std::get<std::vector<float>>(step.outputs[0].values);
}

}  // namespace

TEST_CASE("served: what it takes and gives is told with the batch in front") {
  auto const weights = written<forecaster>{};
  auto const model = served<forecaster, windows>(weights.path(), {"x", "y"});
  CHECK(model.inputs()[0].name == "x");
  CHECK(model.inputs()[0].shape == std::vector<std::int64_t>{-1, 5, 3});
  CHECK(model.outputs()[0].shape == std::vector<std::int64_t>{-1, 2});
  CHECK(model.outputs()[0].type == datatype::fp32);
  CHECK(model.most_rows() == most);
  CHECK(model.state_bytes() == 0);
}
TEST_CASE("served: an answer has the bits of a call of its own, whatever it is batched with") {
  auto const weights = written<forecaster>{};
  auto const model = served<forecaster, windows>(weights.path());
  auto const runner = model.make_runner();
  auto const one = std::make_unique<inference<forecaster, tensor<float, shape<5, 1, 3>>>>();
  for (auto const& rows : {std::vector<std::size_t>{1}, {2, 3}, {1, 1, 1}, {5, 1, 10}}) {
    auto given = std::vector<std::vector<served_tensor>>{};
    auto steps = std::vector<inference_step>{};
    for (auto const n : rows)
      given.push_back(
          input({static_cast<std::int64_t>(n), 5, 3}, static_cast<unsigned>(n + given.size())));
    for (auto i = std::size_t{0}; i < rows.size(); ++i) steps.push_back({given[i], rows[i]});
    runner->run(steps);
    for (auto i = std::size_t{0}; i < rows.size(); ++i) {
      CHECK(steps[i].outputs[0].shape ==
            std::vector<std::int64_t>{static_cast<std::int64_t>(rows[i]), 2});
      for (auto r = std::size_t{0}; r < rows[i]; ++r) {
        auto x = tensor<float, shape<5, 1, 3>>{};
        auto const& values = std::get<std::vector<float>>(given[i][0].values);
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(15 * r), 15, x.data());
        auto const y = (*one)(weights.parameters, x);
        CHECK(std::memcmp(y.data(), answer(steps[i]).data() + 2 * r, 2 * sizeof(float)) == 0);
      }
    }
  }
}
TEST_CASE("served: 256 sequences in batches have the bits of single streams") {
  auto const weights = written<filter>{};
  auto const model = served_stream<filter, samples>(weights.path());
  auto const runner = model.make_runner();
  REQUIRE(model.state_bytes() == (4 * 8 + 2 * 8) * sizeof(float));
  auto constexpr sequences = std::size_t{256};
  auto states = std::vector<std::vector<std::byte>>(sequences);
  for (auto& state : states) {
    state.resize(model.state_bytes(), std::byte{0xFF});
    model.begin(state);
  }
  using stream_type = streaming<filter, tensor<float, shape<1, 3>>>;
  auto streams = std::vector<std::unique_ptr<stream_type>>{};
  for (auto i = std::size_t{0}; i < sequences; ++i) {
    streams.push_back(std::make_unique<stream_type>());
    streams.back()->state = {};
  }
  auto wrong = 0;
  for (auto t = std::size_t{0}; t < 6; ++t)
    for (auto first = std::size_t{0}; first < sequences; first += t % 2 == 0 ? most : 8) {
      auto const count = t % 2 == 0 ? most : std::size_t{8};
      auto given = std::vector<std::vector<served_tensor>>{};
      auto steps = std::vector<inference_step>{};
      for (auto i = std::size_t{0}; i < count; ++i)
        given.push_back(input({1, 3}, static_cast<unsigned>(1000 * t + first + i)));
      for (auto i = std::size_t{0}; i < count; ++i)
        steps.push_back({given[i], 1, states[first + count - 1 - i]});
      runner->run(steps);
      for (auto i = std::size_t{0}; i < count; ++i) {
        auto x = tensor<float, shape<1, 3>>{};
        std::copy_n(std::get<std::vector<float>>(given[i][0].values).begin(), 3, x.data());
        auto const y = streams[first + count - 1 - i]->step(weights.parameters, x);
        wrong +=
            static_cast<int>(std::memcmp(y.data(), answer(steps[i]).data(), sizeof(float)) != 0);
      }
    }
  CHECK(wrong == 0);
}
TEST_CASE("served: weights of another model are refused by name") {
  auto const weights = written<linear<3, 2>>{};
  CHECK_THROWS_AS((served<forecaster, windows>(weights.path())), safetensors_error);
  CHECK_THROWS_AS((served<forecaster, windows>(weights.folder / "none")), file_error);
}
