# SPDX-License-Identifier: MIT
"""A program under test: its runs, and what was found wrong."""
import subprocess


class Program:
    def __init__(self, path):
        self.path, self.failures = path, 0

    def run(self, *arguments, stdin=None):
        words = [one if isinstance(one, bytes) else str(one) for one in arguments]
        done = subprocess.run([self.path, *words], input=stdin, capture_output=True)
        done.stdout, done.stderr = (one.decode(errors="replace") for one in (done.stdout, done.stderr))
        return done

    def check(self, holds, what):
        if not holds:
            self.failures += 1
            print("FAILED:", what)

    def refuses(self, *cases):
        """Every case, arguments and what the message names, ends with status 2."""
        for arguments, expected in cases:
            done = self.run(*arguments)
            self.check(done.returncode == 2, f"{arguments} ends with {done.returncode}, not 2")
            self.check(expected in done.stdout + done.stderr,
                       f"{arguments} does not name {expected}: {done.stderr}")
