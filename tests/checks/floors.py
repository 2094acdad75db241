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
        self.write("include/tessera/core/a.hpp")
        self.write("include/tessera/layers/detail/b.hpp")
        self.write("include/tessera/io/npy.hpp", "#include <tessera/data/series.hpp>\n")
        self.write("include/tessera/data/series.hpp", "#include <tessera/bridge/npy.hpp>\n")
        self.write("include/tessera/cuda.hpp", "#include <tessera/ops/cuda/a.hpp>\n")
        self.write("include/tessera/ops/cuda/a.hpp")
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

    def test_a_circle_is_reported_where_it_closes(self):
        self.write("include/tessera/ops/a.hpp", "\n#include <tessera/ops/reference/a.hpp>\n")
        self.write("include/tessera/ops/reference/a.hpp", "#include <tessera/ops/b.hpp>\n")
        self.write("include/tessera/ops/b.hpp", "\n\n#include <tessera/ops/a.hpp>\n")
        self.assert_reports_only(
            "include/tessera/ops/b.hpp:3: closes a circle: "
            "ops/a.hpp -> ops/reference/a.hpp -> ops/b.hpp -> ops/a.hpp")

    def test_a_header_that_its_umbrella_does_not_reach_is_reported(self):
        self.write("include/tessera/tessera.hpp", "#include <tessera/layers/linear.hpp>\n")
        self.write("include/tessera/cuda.hpp")
        self.write("include/tessera/layers/linear.hpp")
        self.write("include/tessera/layers/gru.hpp")
        self.write("include/tessera/ops/cuda/gru.hpp")
        self.write("include/tessera/io/npy.hpp")
        self.assert_reports_only(
            "include/tessera/layers/gru.hpp: tessera.hpp does not reach it",
            "include/tessera/ops/cuda/gru.hpp: cuda.hpp does not reach it")


unittest.main()
