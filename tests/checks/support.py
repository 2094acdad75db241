# SPDX-License-Identifier: MIT
"""Trees that are made for one test: a check must report what is wrong with them, and only that."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CHECKS = REPOSITORY / "cmake" / "checks"


class CheckTest(unittest.TestCase):
    """`check` names the script in cmake/checks, or `script` one elsewhere."""

    check = ""
    script = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run_check(self, *arguments):
        script = self.script or CHECKS / f"{self.check}.py"
        command = [sys.executable, str(script), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_reports(self, *expected, arguments=None):
        """The check fails and prints one line for each of `expected`, which that line contains."""
        code, output = self.run_check(*(arguments or [self.root]))
        self.assertEqual(code, 1, output)
        lines = output.splitlines()
        for text in expected:
            self.assertTrue(any(text in line for line in lines), f"no `{text}` in:\n{output}")
        return output

    def assert_reports_only(self, *expected, arguments=None):
        output = self.assert_reports(*expected, arguments=arguments)
        self.assertEqual(len(output.splitlines()), len(expected), output)

    def assert_passes(self, arguments=None):
        code, output = self.run_check(*(arguments or [self.root]))
        self.assertEqual(code, 0, output)
