# SPDX-License-Identifier: MIT
import os
import unittest

from support import CheckTest


class Headers(CheckTest):
    check = "headers"

    def setUp(self):
        super().setUp()
        self.arguments = [self.root, os.environ.get("CXX", "clang++-19"), "-std=c++20", "-Wall", "-Werror"]
        # Includes enough, and is included often enough, to be precompiled.
        self.write("include/tessera/core/base.hpp", "#pragma once\n#include <filesystem>\n#include <string>\n"
                   "inline auto name() -> std::string { return {}; }\n")

    def write_users(self, count):
        for i in range(count):
            self.write(f"include/tessera/ops/good_{i}.hpp",
                       "#pragma once\n#include <tessera/core/base.hpp>\n#include <vector>\n"
                       f"inline auto good_{i}() {{ return std::vector<std::string>{{name()}}; }}\n")

    def test_headers_that_have_what_they_need_pass(self):
        self.write_users(6)
        code, output = self.run_check(*self.arguments)
        self.assertEqual((code, output), (0, "7 headers compile alone, 1 of them precompiled\n"))

    def test_what_others_include_is_missed(self):
        self.write_users(6)
        self.write("include/tessera/ops/bad.hpp", "#pragma once\n#include <tessera/core/base.hpp>\n"
                   "inline auto bad() { return std::vector<std::string>{}; }\n")
        self.write("include/tessera/ops/worse.hpp",
                   "#pragma once\ninline auto worse() { return name(); }\n")
        output = self.assert_reports("ops/bad.hpp: does not compile alone", "no member named 'vector'",
                                     "ops/worse.hpp: does not compile alone", arguments=self.arguments)
        self.assertNotIn("good", output)

    def test_what_is_included_under_a_condition_is_not_taken_for_included(self):
        self.write_users(6)
        self.write("include/tessera/ops/bad.hpp", "#pragma once\n#if defined(OTHER)\n"
                   "#include <tessera/core/base.hpp>\n#endif\ninline auto bad() { return name(); }\n")
        self.assert_reports("ops/bad.hpp: does not compile alone", "undeclared identifier 'name'",
                            arguments=self.arguments)

    def test_one_that_is_precompiled_is_reported_and_what_stands_on_it(self):
        self.write_users(6)
        self.write("include/tessera/core/base.hpp", "#pragma once\n#include <filesystem>\n"
                   "#include <string>\ninline auto name() -> std::string { return missing; }\n")
        self.assert_reports("core/base.hpp: does not compile alone", "ops/good_5.hpp: does not compile alone",
                            arguments=self.arguments)

    def test_a_warning_is_reported(self):
        self.write("include/tessera/core/unused.hpp",
                   "#pragma once\ninline auto f() -> int { int x = 1; return 2; }\n")
        self.assert_reports("core/unused.hpp: does not compile alone", "unused variable",
                            arguments=self.arguments)

    def test_a_tree_without_headers_is_reported(self):
        (self.root / "include/tessera/core/base.hpp").unlink()
        self.assert_reports("has no headers", arguments=self.arguments)


unittest.main()
