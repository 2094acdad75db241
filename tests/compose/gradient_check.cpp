// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

/// A layer whose backward is wrong by a little, in one place.
template <int What> struct slightly_wrong : any_shape {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<3>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto about = facts{.backward_reads = reads::input, .row_wise = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto) { assign(y, p.weight * x); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto) {
    if (dx.has_memory()) {
      dx.put(p.weight * dy);
      if (What == 1) dx.data()[4] *= 1.01;
    }
    gradient.weight += sum(dy * x, axis<0>);
    if (What == 2) gradient.weight.data()[1] += 1e-3;
  }
  static constexpr void initialize(auto&, auto&) {}
};
template <int What> [[nodiscard]] auto check() {
  using X = tensor<double, shape<2, 3>>;
  auto p = parameters_of<slightly_wrong<What>, owned<double>>{};
  auto x = X{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  return gradient_check<slightly_wrong<What>, X>(p, x);
}

}  // namespace

TEST_CASE("gradient_check: right derivatives pass, wrong ones are named") {
  auto const right = check<0>();
  CHECK(right.passed);
  CHECK(right.worst < 1e-8);
  CHECK(right.checked == 9);
  auto const input = check<1>();
  CHECK_FALSE(input.passed);
  CHECK(input.parameter == "x");
  CHECK(input.index == 4);
  auto const weight = check<2>();
  CHECK_FALSE(weight.passed);
  CHECK(weight.parameter == "weight");
  CHECK(weight.index == 1);
  CHECK(weight.backward - weight.difference == Approx(1e-3).epsilon(1e-4));
}
TEST_CASE("gradient_check: a derivative that is NaN is the worst, and the one that is named") {
  auto report = gradient_report{};
  report.compare(path_name("a"), 0, 1, 1.5, 1e-5, 1e-3);
  report.compare(path_name("b"), 3, std::nan(""), 1, 1e-5, 1e-3);
  report.compare(path_name("c"), 4, 2, 2, 1e-5, 1e-3);
  report.compare(path_name("d"), 5, 2, 9, 1e-5, 1e-3);
  CHECK_FALSE(report.passed);
  CHECK(report.parameter == "b");
  CHECK(report.index == 3);
  CHECK(std::isnan(report.worst));
  CHECK(report.checked == 4);
}
