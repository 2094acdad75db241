# SPDX-License-Identifier: MIT
import os
import unittest

from support import CheckTest

ASSERTION = """#ifdef TESSERA_MUST_FAIL
static_assert(sizeof(char) == 2, "a char has two bytes");
#endif
"""


class CompileFail(CheckTest):
    check = "compile_fail"

    def arguments(self, mode, text):
        source = self.write("a.cpp", text)
        return [mode, source, os.environ.get("CXX", "g++-12"), "-std=c++20", "-fsyntax-only"]

    def test_the_expected_message_passes(self):
        text = "// EXPECT: char has .* bytes\n// EXPECT: error\n// LINES: 8\n" + ASSERTION
        self.assert_passes(self.arguments("control", text))
        self.assert_passes(self.arguments("must_fail", text))

    def test_a_file_that_does_not_compile_as_it_stands_is_reported(self):
        self.assert_reports("does not compile as it stands", arguments=self.arguments(
            "control", "// EXPECT: x\nint TESSERA_MUST_FAIL = y;\n"))

    def test_a_file_that_compiles_all_the_same_is_reported(self):
        self.assert_reports("compiles with TESSERA_MUST_FAIL", arguments=self.arguments(
            "must_fail", "// EXPECT: x\n#ifdef TESSERA_MUST_FAIL\n#endif\n"))

    def test_another_message_is_reported(self):
        self.assert_reports("does not match: three bytes", arguments=self.arguments(
            "must_fail", "// EXPECT: two bytes\n// EXPECT: three bytes\n" + ASSERTION))

    def test_a_long_message_is_reported(self):
        self.assert_reports("1 are allowed", arguments=self.arguments(
            "must_fail", "// EXPECT: two bytes\n// LINES: 1\n" + ASSERTION))

    def test_clang_may_be_allowed_more(self):
        text = "// EXPECT: two bytes\n// LINES: {}\n" + ASSERTION
        clang = "clang" in os.environ.get("CXX", "g++-12")
        few, many = ("9 1", "1 9") if clang else ("1 9", "9 1")
        self.assert_reports("1 are allowed", arguments=self.arguments(
            "must_fail", text.format(few)))
        self.assert_passes(self.arguments("must_fail", text.format(many)))

    def test_the_way_to_a_header_is_no_part_of_the_message(self):
        self.write("b.hpp", '#include "c.hpp"\n')
        self.write("c.hpp", "static_assert(false);\n")
        text = ("// EXPECT: static\n// LINES: 4\n"
                '#ifdef TESSERA_MUST_FAIL\n#include "b.hpp"\n#endif\n')
        code, output = self.run_check(*self.arguments("must_fail", text))
        self.assertEqual(code, 0, output)
        self.assertIn("In file included from", output)

    def test_a_limit_that_is_not_understood_is_reported(self):
        self.assert_reports("has LINES, and no", arguments=self.arguments(
            "must_fail", "// EXPECT: two bytes LINES: 8\n" + ASSERTION))

    def test_a_file_without_expectation_is_reported(self):
        self.assert_reports("has no `// EXPECT", arguments=self.arguments("control", ASSERTION))

    def test_a_file_that_never_fails_is_reported(self):
        self.assert_reports("never asks for TESSERA_MUST_FAIL",
                            arguments=self.arguments("control", "// EXPECT: x\n"))

    def test_a_compiler_that_fails_is_reported(self):
        source = self.write("a.cpp", "// EXPECT: x\n" + ASSERTION)
        compiler = self.write("compiler", "#!/bin/sh\necho x >&2\nkill -SEGV $$\n")
        compiler.chmod(0o755)
        self.assert_reports("the compiler itself failed",
                            arguments=["must_fail", source, compiler])


unittest.main()
