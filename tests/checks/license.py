# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest

LINE = "// SPDX-License-Identifier: MIT\n"


class License(CheckTest):
    check = "license"

    def test_files_that_begin_with_the_line_pass(self):
        self.write("include/tessera/a.hpp", LINE + "#pragma once\n")
        self.write("tests/a.cpp", LINE)
        self.write("tests/reference/values.txt", "1 2 3\n")
        self.assert_passes()

    def test_files_that_begin_otherwise_are_reported(self):
        self.write("include/tessera/a.hpp", "#pragma once\n" + LINE)
        self.write("examples/01_a.cpp")
        self.write("benchmarks/a.cu", "// SPDX-License-Identifier: BSD\n")
        self.assert_reports_only("include/tessera/a.hpp:1:", "examples/01_a.cpp:1:",
                                 "benchmarks/a.cu:1:")


unittest.main()
