# SPDX-License-Identifier: MIT
"""What benchmarks/run_time/compare.py concludes from what it is told; it measures nothing here.

Without numpy the rest is run, and the end is 77: skipped in part.
"""
import importlib.util
import pathlib
import sys
import unittest
from unittest import mock

from support import REPOSITORY, CheckTest

RUN_TIME = REPOSITORY / "benchmarks" / "run_time"
sys.path.insert(0, str(RUN_TIME))
HAS_NUMPY = importlib.util.find_spec("numpy") is not None
for module in ("numpy", "safetensors", "safetensors.numpy"):  # which no other test asks for anything
    try:
        importlib.import_module(module)
    except ImportError:
        sys.modules[module] = mock.MagicMock()
import cache_misses
import compare
import machine
import numpy as np
import programs


@unittest.skipUnless(HAS_NUMPY, "without numpy")
class Difference(unittest.TestCase):
    def off(self, expected, got, scalar=np.float32, **more):
        told = {"results": np.array(expected, scalar)}
        answers = iter(np.array(got, scalar))
        return compare.difference("row", "who", lambda: next(answers), told, **more)

    def test_equal_answers_are_not_apart(self):
        self.assertEqual(self.off([1, 2, 4], [1, 2, 4]), 0)

    def test_the_largest_difference_is_by_the_largest_number(self):
        self.assertAlmostEqual(self.off([1, -4], [1, -4.0002], operations=1e9), 5e-5, places=6)

    def test_nan_is_found_in_every_place(self):
        for place in range(3):
            got = [1.0, 2.0, 4.0]
            got[place] = np.nan
            with self.assertRaisesRegex(SystemExit, "who computes something else"):
                self.off([1, 2, 4], got, operations=1e9)

    def test_nan_among_the_numbers_of_one_answer_is_found(self):
        told = {"result": np.ones(3)}
        with self.assertRaisesRegex(SystemExit, "something else"):
            compare.difference("row", "who", lambda: np.array([1, 1, np.nan]), told)

    def test_what_is_expected_is_no_nan(self):
        with self.assertRaisesRegex(SystemExit, "something else"):
            self.off([1, np.nan], [1, np.nan], operations=1e9)

    def test_doubles_are_held_closer_than_floats(self):
        depth = 512
        for scalar, within, beyond in ((np.float32, 1e-5, 1e-4), (np.float64, 1e-14, 1e-12)):
            of_row = {"scalar": scalar, "operations": 2 * depth}
            self.off([1], [1 + within], **of_row)
            with self.assertRaises(SystemExit):
                self.off([1], [1 + beyond], **of_row)

    def test_deeper_sums_may_differ_more(self):
        self.off([1], [1 + 1e-5], operations=2 * 1024)
        with self.assertRaises(SystemExit):
            self.off([1], [1 + 1e-5], operations=2 * 8)

    def test_sums_of_unknown_depth_are_taken_for_deep(self):
        self.off([1], [1 + 5e-4])
        self.off([1], [1 + 1e-12], scalar=np.float64)
        with self.assertRaises(SystemExit):
            self.off([1], [1 + 1e-11], scalar=np.float64)


class Bounds(unittest.TestCase):
    def test_a_block_of_the_rows_own_bytes_is_read(self):
        row = mock.Mock(operations=0, bytes=69252, bound="", peers={}, scalar="f32")
        program = mock.Mock(**{"peers.return_value": {}})
        self.assertEqual(compare.Measured("row", row, program, None).bounds, ["read/69252"])

    def test_rounds_are_compared_by_median_or_by_the_fastest(self):
        row = mock.Mock(operations=8, bytes=0, bound="", peers={}, scalar="f32")
        program = mock.Mock(**{"peers.return_value": {"eigen": "eigen/row"}})
        for fastest, x_bound, ratio, spread in ((False, 4 / 2, 6 / 4, 3 / 4),
                                                (True, 2 / 1, 3 / 2, 1)):
            measured = compare.Measured("row", row, program, mock.Mock(fastest=fastest))
            measured.times = {"tessera": [8, 2, 4], "eigen": [6, 3, 9]}
            measured.limits = [{"peak": 2}, {"peak": 1}, {"peak": 3}]
            told = measured.figures()
            self.assertEqual((told["x_bound"], told["ratio"], told["spread"]),
                             (x_bound, {"eigen": ratio}, spread))

    def test_the_program_is_asked_for_that_block(self):
        of = programs.Programs.__new__(programs.Programs)
        of.of = {"row": pathlib.Path("program")}
        with mock.patch("programs.subprocess.run") as run:
            run.return_value.stdout = '{"benchmarks": []}'
            of.run(["row", "read/69252", "peak/f32"], 0.1)
        asked, = run.call_args.args
        self.assertEqual([word for word in asked if "read=" in str(word)], ["--read=69252"])


class Threads(CheckTest):
    def test_the_last_ones_are_of_different_cores(self):
        pairs = lambda thread: {thread // 2 * 2, thread // 2 * 2 + 1}
        self.assertEqual(machine.apart(range(4), pairs), [0, 2, 1, 3])
        halves = lambda thread: {thread % 2, thread % 2 + 2}
        self.assertEqual(machine.apart(range(4), halves), [0, 1, 2, 3])
        self.assertEqual(machine.apart({1, 2, 3}, pairs), [2, 1, 3])
        self.assertEqual(machine.apart({1, 2}, pairs), [1, 2])  # not 3, which is not allowed
        self.assertEqual(machine.apart(range(3), lambda thread: {thread}), [0, 1, 2])

    def test_lists_of_siblings_are_read(self):
        for text, expected in (("0-1\n", {0, 1}), ("5\n", {5}), ("3,7\n", {3, 7}),
                               ("0-1,8-9", {0, 1, 8, 9})):
            self.write("cpu3/topology/thread_siblings_list", text)
            self.assertEqual(machine.siblings(3, self.root), expected)
        self.assertEqual(machine.siblings(4, self.root), {4})

    def test_what_is_measured_on_is_told(self):
        pairs = lambda thread: {thread // 2 * 2, thread // 2 * 2 + 1}
        self.assertEqual(machine.threads([1, 3], pairs), "1, 3 of 2 cores, SMT on, 2 threads a core")
        self.assertEqual(machine.threads([0, 1], pairs), "0, 1 of 1 core, SMT on, 2 threads a core")
        self.assertEqual(machine.threads([6], lambda thread: {thread}), "6 of 1 core, SMT off")


class CacheMisses(CheckTest):
    def steps(self, arch):
        if arch:
            self.write("build.ninja")
            self.write("CMakeCache.txt", f"TESSERA_ARCH:STRING={arch}\n")
        with mock.patch("cache_misses.subprocess.run") as run:
            run.return_value.returncode = 0
            cache_misses.built(self.root)
        return [call.args[0][1] for call in run.call_args_list]

    def test_a_folder_is_configured_where_it_is_not_for_avx2(self):
        self.assertEqual(self.steps(None), ["--preset", "--build"])
        self.assertEqual(self.steps("x86-64-v4"), ["--preset", "--build"])
        self.assertEqual(self.steps("x86-64-v3"), ["--build"])


done = unittest.main(exit=False).result
if not done.wasSuccessful():
    sys.exit(1)
if done.skipped:
    print(f"skipped: {len(done.skipped)} of {done.testsRun} tests need numpy")
    sys.exit(77)
