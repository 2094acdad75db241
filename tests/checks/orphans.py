# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class Orphans(CheckTest):
    check = "orphans"

    def test_a_tree_of_pairs_passes(self):
        for header in ["tessera.hpp", "ops/dot.hpp", "ops/simd/dot.hpp", "ops/reference/dot.hpp",
                       "core/detail/inner.hpp", "tensor/concepts.hpp", "ops/fwd.hpp",
                       "core/roots.hpp", "core/roots/square.hpp", "backend/simd/lanes.hpp"]:
            self.write(f"include/tessera/{header}")
        for test in ["ops/dot.cpp", "core/roots.cpp", "backend/lanes.cpp",
                     "ops/dot_sweep.cpp", "support/main.cpp",
                     "fail/anything.cpp", "reference/dot.txt", "reference/dot.long.txt"]:
            self.write(f"tests/{test}")
        self.write("tests/reference/dot.py")
        self.write("tests/ops/CMakeLists.txt", "tessera_test(ops dot.cpp dot_sweep.cpp)\n")
        self.write("tests/core/CMakeLists.txt", "tessera_test(core\n  roots.cpp\n)\n")
        self.write("tests/backend/CMakeLists.txt", 
                   "tessera_test(lanes lanes.cpp ARCHS x86-64-v2)\n")
        self.assert_passes()

    def test_headers_without_tests_are_reported(self):
        self.write("include/tessera/layers/linear.hpp")
        self.write("include/tessera/ops/simd/dot.hpp")
        self.write("include/tessera/core/part/square.hpp")
        self.write("tests/core/part.cpp")
        self.write("tests/core/CMakeLists.txt", "tessera_test(core part.cpp)\n")
        self.assert_reports(
            "include/tessera/layers/linear.hpp: has no test tests/layers/linear.cpp",
            "include/tessera/ops/simd/dot.hpp: has no test tests/ops/dot.cpp",
            "include/tessera/core/part/square.hpp: has no test tests/core/part/square.cpp")

    def test_tests_without_headers_are_reported(self):
        self.write("tests/layers/linear.cpp")
        self.write("tests/layers/CMakeLists.txt", "tessera_test(layers linear.cpp)\n")
        self.assert_reports_only("tests/layers/linear.cpp: has no header "
                                 "include/tessera/layers/linear.hpp")

    def test_tests_that_are_not_built_are_reported(self):
        self.write("include/tessera/layers/linear.hpp")
        self.write("tests/layers/linear.cpp")
        self.assert_reports_only("tests/layers/linear.cpp: is not named in "
                                 "tests/layers/CMakeLists.txt")
        self.write("tests/layers/CMakeLists.txt", "tessera_test(layers bilinear.cpp)\n")
        self.assert_reports_only("tests/layers/linear.cpp: is not named in "
                                 "tests/layers/CMakeLists.txt")

    def test_values_without_their_program_are_reported(self):
        self.write("tests/reference/lstm.txt")
        self.assert_reports_only("tests/reference/lstm.txt: has no tests/reference/lstm.py")


unittest.main()
