# SPDX-License-Identifier: MIT
import unittest

from support import REPOSITORY, CheckTest


class Budget(CheckTest):
    script = REPOSITORY / "benchmarks" / "compile_time" / "budget.py"

    def record(self, templates):
        lines = "".join(f"template struct s<{n}>;\n" for n in range(1, templates + 1))
        self.write("a.cpp", "template <int N> struct s { int x[N]; };\n" + lines)

    def test_the_recorded_count_passes(self):
        self.record(100)
        self.assert_passes([self.root, "--record"])
        self.assertIn("\na 100\n", (self.root / "baseline.txt").read_text(encoding="utf-8"))
        self.assert_passes()

    def test_two_per_cent_more_are_pointed_out(self):
        self.record(102)
        self.write("baseline.txt", "# comment\na 100\n")
        code, output = self.run_check(self.root)
        self.assertEqual(code, 0, output)
        self.assertIn("+2.0% of 100: above the baseline", output)

    def test_four_per_cent_more_fail(self):
        self.record(104)
        self.write("baseline.txt", "a 100\n")
        self.assert_reports_only("more than 3% above the baseline")

    def test_a_program_that_was_not_recorded_fails(self):
        self.record(1)
        self.assert_reports_only("a: 1 instantiations, not in baseline.txt")

    def test_a_record_without_its_program_fails(self):
        self.record(1)
        self.write("baseline.txt", "a 1\nb 1\n")
        self.assert_reports("b: in baseline.txt, but there is no b.cpp")

    def test_a_program_that_does_not_compile_fails(self):
        self.write("a.cpp", "int x = y;\n")
        self.assert_reports("exit status 1")


unittest.main()
