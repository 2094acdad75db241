# SPDX-License-Identifier: MIT
import unittest

from support import CheckTest


class Macros(CheckTest):
    check = "macros"

    def test_ten_macros_in_their_place_pass(self):
        lines = [f"#define TESSERA_{letter} 1\n" for letter in "ABCDEFGHIJ"]
        self.write("include/tessera/core/config.hpp", "".join(lines) + "#define TESSERA_A 0\n")
        self.write("include/tessera/core/a.hpp", "// #define TESSERA_K\n#if TESSERA_A\n#endif\n")
        self.assert_passes()

    def test_an_eleventh_macro_is_reported(self):
        lines = [f"#define TESSERA_{letter} 1\n" for letter in "ABCDEFGHIJK"]
        self.write("include/tessera/core/config.hpp", "".join(lines))
        self.assert_reports_only("config.hpp: 11 macros, 10 are allowed")

    def test_macros_elsewhere_and_of_other_names_are_reported(self):
        self.write("include/tessera/core/config.hpp", "#define FAST 1\n")
        self.write("include/tessera/ops/a.hpp", "\n # define TESSERA_LOCAL(x) x\n")
        self.assert_reports_only("config.hpp:1: FAST does not start with TESSERA_",
                                 "ops/a.hpp:2: defines TESSERA_LOCAL")


unittest.main()
