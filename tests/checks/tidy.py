# SPDX-License-Identifier: MIT
import os
import shutil
import unittest

from support import REPOSITORY, CheckTest


class Tidy(CheckTest):
    check = "tidy"

    def setUp(self):
        super().setUp()
        shutil.copy(REPOSITORY / ".clang-tidy", self.root)
        self.arguments = [self.root, os.environ.get("CLANG_TIDY", "clang-tidy-19"), "-std=c++20"]

    def test_a_clean_header_passes(self):
        self.write("include/tessera/core/a.hpp",
                   "#pragma once\n[[nodiscard]] constexpr auto twice(int x) -> int "
                   "{ return 2 * x; }\n")
        self.write("tests/core/a.cpp", "int f() { int x; return x; }\n")
        self.assert_passes(self.arguments)

    def test_a_header_with_a_fault_is_reported_with_its_place(self):
        self.write("include/tessera/core/a.hpp",
                   "#pragma once\n\ninline auto area(int x) -> long { return x * x * 8; }\n")
        self.assert_reports("core/a.hpp:3:", "[bugprone-", arguments=self.arguments)

    def test_a_header_that_does_not_compile_is_reported(self):
        self.write("include/tessera/core/a.hpp", "#pragma once\n#include <tessera/core/b.hpp>\n")
        self.assert_reports("b.hpp", arguments=self.arguments)

    def test_a_tree_without_headers_is_reported(self):
        self.assert_reports("has no headers", arguments=self.arguments)


unittest.main()
