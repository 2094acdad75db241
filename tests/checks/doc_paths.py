# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class DocPaths(CheckTest):
    check = "doc_paths"

    def test_paths_that_exist_pass(self):
        self.write("tests/fail/linear_wrong_input.cpp")
        self.write("tests/fail/linear_wrong_output.cpp")
        self.write("tests/reference/linear.py")
        self.write("include/tessera/layers/linear.hpp",
                   "/// A map.\n///\n"
                   "/// Errors  tests/fail/linear_{wrong_input,wrong_output}.cpp;\n"
                   "///         tests/fail/linear_*.cpp, and so on.\n"
                   "/// Source  reference values: tests/reference/linear.py.\nstruct linear;\n"
                   "// Errors of no doc block: tests/fail/none.cpp\n")
        self.assert_passes()

    def test_paths_that_do_not_exist_are_reported_with_their_line(self):
        self.write("tests/fail/linear_wrong_input.cpp")
        self.write("include/tessera/layers/linear.hpp",
                   "/// A map.\n///\n/// Errors  tests/fail/linear_{wrong_input,absent}.cpp\n"
                   "///         and, on the next line, tests/fail/rank_*.cpp\n"
                   "/// Source  tests/reference/linear.py\nstruct linear;\n")
        self.assert_reports_only(
            "linear.hpp:3: tests/fail/linear_absent.cpp", "linear.hpp:4: tests/fail/rank_*.cpp",
            "linear.hpp:5: tests/reference/linear.py")


unittest.main()
