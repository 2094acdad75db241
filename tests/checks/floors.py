# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class Floors(CheckTest):
    check = "floors"

    def test_includes_that_point_down_pass(self):
        self.write("include/tessera/tessera.hpp", "#include <tessera/layers/linear.hpp>\n")
        self.write("include/tessera/layers/linear.hpp",
                   "#include <tessera/core/a.hpp>\n#include <tessera/layers/detail/b.hpp>\n"
                   "#include <vector>\n// #include <tessera/train/trainer.hpp>\n")
        self.write("include/tessera/io/npy.hpp", "#include <tessera/data/series.hpp>\n")
        self.write("include/tessera/data/series.hpp", "#include <tessera/io/npy.hpp>\n")
        self.assert_passes()

    def test_an_include_that_points_up_is_reported_with_its_line(self):
        self.write("include/tessera/ops/simd/a.hpp", "\n  # include <tessera/layers/linear.hpp>\n")
        self.write("include/tessera/tensor/a.hpp", "#include <tessera/random/philox.hpp>\n")
        self.assert_reports_only(
            "include/tessera/ops/simd/a.hpp:2: ops is below layers",
            "include/tessera/tensor/a.hpp:1: tensor is below random")

    def test_umbrellas_private_folders_and_quotes_are_reported(self):
        self.write("include/tessera/ops/a.hpp",
                   "#include <tessera/tessera.hpp>\n#include <tessera/core/detail/b.hpp>\n"
                   '#include "c.hpp"\n#include <tessera/cellar/d.hpp>\n')
        self.write("include/tessera/attic/e.hpp")
        self.assert_reports_only(
            "a.hpp:1: includes the umbrella tessera.hpp", "a.hpp:2: detail/ of core is private",
            'a.hpp:3: includes "c.hpp"', "a.hpp:4: cellar is no floor", "attic is no floor")


unittest.main()
