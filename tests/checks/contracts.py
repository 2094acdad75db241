# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class Contracts(CheckTest):
    check = "contracts"

    def test_an_asserted_layer_passes(self):
        self.write("include/tessera/layers/a.hpp")
        self.write("tests/layers/a.cpp",
                   "static_assert(row_wise<a> &&\n    accepts<a, shape<4>>);\n")
        self.write("include/tessera/models/b.hpp")
        self.write("tests/models/b.cpp", "static_assert(layer_for<b, tensor<float, shape<4>>>);\n")
        self.write("include/tessera/ops/c.hpp")
        self.write("include/tessera/layers/loss.hpp")
        self.assert_passes()

    def test_a_layer_without_an_assertion_is_reported(self):
        self.write("include/tessera/layers/a.hpp")
        self.write("tests/layers/a.cpp", "// accepts<a, shape<4>>\nstatic_assert(row_wise<a>);\n")
        self.assert_reports_only("tests/layers/a.cpp: does not assert that a layer accepts")

    def test_a_refusal_is_no_assertion(self):
        self.write("include/tessera/layers/a.hpp")
        self.write("tests/layers/a.cpp", "static_assert(not accepts<a, shape<4>>);\n")
        self.assert_reports_only("tests/layers/a.cpp: does not assert")

    def test_a_layer_without_a_test_is_reported(self):
        self.write("include/tessera/models/a.hpp")
        self.assert_reports_only("tests/models/a.cpp: does not assert")


unittest.main()
