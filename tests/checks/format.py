# SPDX-License-Identifier: MIT
import os
import shutil
import unittest

from support import REPOSITORY, CheckTest


class Format(CheckTest):
    check = "format"

    def setUp(self):
        super().setUp()
        shutil.copy(REPOSITORY / ".clang-format", self.root)
        self.arguments = [self.root, os.environ.get("CLANG_FORMAT", "clang-format-19")]

    def test_the_house_layout_passes(self):
        self.write("include/a.hpp", "inline void a(int const& x) { (void)x; }\n")
        self.assert_passes(self.arguments)

    def test_another_layout_is_reported_with_its_place(self):
        self.write("include/a.hpp", "inline void a(int const& x) { (void)x; }\n")
        self.write("tests/b.cpp", "\nvoid b(const int& x);\n")
        output = self.assert_reports("tests/b.cpp:2:", arguments=self.arguments)
        self.assertNotIn("a.hpp", output)

    def test_an_empty_tree_is_reported(self):
        self.assert_reports("has no C++ files", arguments=self.arguments)


unittest.main()
