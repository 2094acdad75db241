// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/summary.hpp>

#include <sstream>

using namespace tessera;

using model = sequential<lstm<5, 64, lstm_options{.layers = 2}>,
                         residual<sequential<linear<64, 64>, relu_layer>>, linear<64, 1>>;
using X = tensor<float, shape<50, at_most(16), 5>>;

TEST_CASE("summary: a line for each layer, and what the whole model takes") {
  auto const rows = summarize<model, X>();
  auto sum = std::size_t{0};
  for (auto const& row : rows) sum += row.parameters;
  CHECK(sum == parameter_count<model>);
  CHECK(rows.front().path == "0");
  CHECK(rows.front().layer == "recurrent_layer<lstm_cell, 5, 64>");
  CHECK(rows[1].layer == "recurrent_layer<lstm_cell, 64, 64>");
  CHECK(rows.front().output == "(50, <=16, 64)");
  CHECK(rows.front().parameters == 18176);
  CHECK(rows.front().multiply_adds == 50 * 16 * 4 * 64 * (5 + 64));
  CHECK(rows[1].multiply_adds == 50 * 16 * 4 * 64 * (64 + 64));
  CHECK(rows.front().kept > 0);
  CHECK(rows.back().layer == "linear<64, 1>");
  CHECK(rows.back().output == "(50, <=16, 1)");
  auto text = std::ostringstream{};
  print_summary<model, X>(text);
  auto const table = text.str();
  CHECK(std::count(table.begin(), table.end(), '\n') == static_cast<long>(rows.size()) + 2);
  CHECK(table.find(std::to_string(parameter_count<model>)) != std::string::npos);
}
