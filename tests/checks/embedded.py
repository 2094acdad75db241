# SPDX-License-Identifier: MIT
import os
import unittest

from support import CheckTest


class Embedded(CheckTest):
    check = "embedded"

    def setUp(self):
        super().setUp()
        self.arguments = [os.environ.get("CXX", "g++-12"), "-std=c++20",
                          f"-I{self.root / 'include'}"]
        self.write("include/tessera/embedded.hpp", "#include <tessera/core/a.hpp>\n")

    def test_small_standard_headers_pass(self):
        self.write("include/tessera/core/a.hpp",
                   "#include <array>\n#include <cstdint>\n#include <type_traits>\n"
                   "#if __STDC_HOSTED__\n#include <string>\n#endif\n"
                   "#include <tessera/core/string.hpp>\n")
        self.write("include/tessera/core/string.hpp")
        self.assert_passes(self.arguments)

    def test_hosted_headers_are_reported_at_any_depth(self):
        for header in ["iostream", "string", "vector", "locale", "memory"]:
            with self.subTest(header):
                self.write("include/tessera/core/a.hpp", "#include <tessera/core/b.hpp>\n")
                self.write("include/tessera/core/b.hpp", f"#include <{header}>\n")
                self.assert_reports(f"/{header}", arguments=self.arguments)

    def test_xtensor_is_reported(self):
        self.write("include/xtensor/xtensor.hpp")
        self.write("include/tessera/core/a.hpp", "#include <xtensor/xtensor.hpp>\n")
        self.assert_reports("xtensor/xtensor.hpp", arguments=self.arguments)


unittest.main()
