# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class Loops(CheckTest):
    check = "loops"

    def assert_reported(self, loop):
        self.write("include/tessera/layers/a.hpp", f"\n{loop}\n")
        self.assert_reports_only("layers/a.hpp:2: goes over the numbers of a tensor")

    def assert_fine(self, loop, path="include/tessera/layers/a.hpp"):
        self.write(path, f"{loop}\n")
        self.assert_passes()

    def test_loops_over_steps_parts_and_constants_pass(self):
        self.assert_fine("for (auto t = std::size_t{0}; t < time; ++t) assign(y, y + x[t]);")
        self.assert_fine("for (auto i = std::size_t{0}; i < N; ++i) f(name(i), p.each[i]...);")
        self.assert_fine("for (auto k = 0; k < half; ++k) f[k] = exp(k);")
        self.assert_fine("for (auto const e : shape_of<X>::extents) take(e);")
        self.assert_fine("for (auto& pass : passes) clear(pass.state);")
        self.assert_fine("for (auto k = 0; k < n; ++k) run(k);\nx.data()[k] = 1;")
        self.assert_fine("// for (auto v : x) v = 0;")

    def test_kernels_and_lower_floors_may_loop(self):
        loop = "for (auto i = 0; i < x.size(); ++i) x.data()[i] = 0;"
        self.assert_fine(loop, "include/tessera/optim/simd/a.hpp")
        self.assert_fine(loop, "include/tessera/ops/a.hpp")

    def test_a_tensor_as_a_range_is_reported(self):
        self.assert_reported("for (auto const v : x) sum += v;")

    def test_a_loop_up_to_the_size_is_reported(self):
        self.assert_reported("for (auto i = std::size_t{0}; i < x.size(); ++i) f(i);")
        self.assert_reported("for (auto i = 0; i < shape_of<X>::capacity; ++i) f(i);")

    def test_memory_by_index_is_reported(self):
        self.assert_reported("for (auto i = 0; i < n; ++i) y.data()[i * 2] = 1;")
        self.assert_reported("for (auto i = 0; i < n; ++i) { f(); s += p->values[i]; }")

    def test_a_pointer_that_is_walked_is_reported(self):
        self.assert_reported("void f(float const* p) { for (auto i = 0; i < n; ++i) s += p[2 * i]; }")
        self.assert_reported("for (auto i = n; i > 0; --i) *p++ = 0;")

    def test_an_element_that_is_written_is_reported(self):
        self.assert_reported("for (auto i = 0; i < n; ++i) if (i > 2) y(r, i) += 1;")

    def test_an_exception_that_nothing_needs_is_reported(self):
        self.write("include/tessera/compose/constant.hpp", "\n")
        self.assert_reports_only("compose/constant.hpp: no loop has `w.values[i] = `")


unittest.main()
