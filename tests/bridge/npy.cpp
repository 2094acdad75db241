// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/bridge/npy.hpp>

using namespace tessera;

TEST_CASE("npy: what is saved is loaded") {
  auto const folder = test::folder{};
  auto const x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  save_npy(folder / "x.npy", x);
  auto y = tensor<float, shape<2, 3>>{};
  load_npy(folder / "x.npy", y);
  CHECK(test::same_bits(x, y));
  auto const a = load_npy<float>(folder / "x.npy");
  CHECK(a.dimension() == 2);
  CHECK(a(1, 0) == 4);
}
TEST_CASE("npy: the bytes are NumPy's") {
  // numpy.save of numpy.array([1, 2], dtype="<f8"), NumPy 2.
  auto const folder = test::folder{};
  save_npy(folder / "x.npy", tensor<double, shape<2>>{{1, 2}});
  auto const text = test::text_of(folder / "x.npy");
  auto const header = std::string{"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"};
  CHECK(text.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(text.find(header) == 10);
  CHECK((text.size() - 16) % 16 == 0);
}
TEST_CASE("npy: errors name the file") {
  auto const folder = test::folder{};
  save_npy(folder / "x.npy", tensor<double, shape<4>>{{1, 2, 3, 4}});
  auto y = tensor<double, shape<3>>{{7, 7, 7}};
  CHECK_THROWS_WITH(load_npy(folder / "x.npy", y),
                    Catch::Contains("x.npy: expected an array of shape (3,), got (4,)"));
  CHECK(y(0) == 7);
  auto z = tensor<float, shape<4>>{};
  CHECK_THROWS_WITH(load_npy(folder / "x.npy", z), Catch::Contains("x.npy: is no .npy file of"));
  auto const whole = test::text_of(folder / "x.npy");
  for (auto n = std::size_t{0}; n < whole.size(); ++n) {
    write_file(folder / "cut.npy", whole.substr(0, n));
    CHECK_THROWS_AS(load_npy<double>(folder / "cut.npy"), file_error);
  }
  CHECK_THROWS_AS(load_npy<double>(folder / "none.npy"), file_error);
}
