# SPDX-License-Identifier: MIT
"""Files in the safetensors format, whole and broken, with the verdict of its own library.

Array "<verdict> <name>" holds the bytes of a file: accept or reject as the library does, strict where
the library accepts what the text of the format forbids, so that Tessera must not.
"""
import json
import struct

import safetensors
import safetensors.torch
import torch

from golden import Golden


def file(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


EIGHT = bytes(range(8))
PLAIN = json.dumps({"a": entry()}).encode()
CASES = {
    "plain": file({"a": entry()}, EIGHT),
    "trailing_spaces": file(PLAIN + b"   ", EIGHT),
    "newline_and_tab_padding": file(PLAIN + b"\n\t", EIGHT),
    "no_tensors": file({}),
    "empty_metadata": file({"__metadata__": {}, "a": entry()}, EIGHT),
    "metadata": file({"__metadata__": {"format": "pt"}, "a": entry()}, EIGHT),
    "null_metadata": file({"__metadata__": None, "a": entry()}, EIGHT),
    "names_unordered": file({"b": entry(offsets=(8, 16)), "a": entry()}, EIGHT * 2),
    "scalar": file({"a": entry(shape=(), offsets=(0, 4))}, EIGHT[:4]),
    "zero_size": file({"a": entry(), "b": entry(shape=(0, 2), offsets=(8, 8))}, EIGHT),
    "unknown_field": file({"a": entry(note="x")}, EIGHT),
    "escaped_name": file(b'{"\\u0061":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', EIGHT),
    "boolean_two": file({"a": entry("BOOL", (2,), (0, 2))}, b"\1\2"),
    "unaligned": file({"a": entry("U8", (1,), (0, 1)), "b": entry(offsets=(1, 9))}, b"\0" + EIGHT),
    "four_bits": file({"a": entry("F4", (2,), (0, 1))}, b"\1"),
    "leading_space": file(b" " + PLAIN, EIGHT),
    "same_key_twice": file(PLAIN[:-1] + b"," + PLAIN[1:], EIGHT),
    "metadata_number": file({"__metadata__": {"n": 1}, "a": entry()}, EIGHT),
    "metadata_list": file({"__metadata__": [], "a": entry()}, EIGHT),
    "key_twice_leaves_hole": file(PLAIN[:-1] + b',"a":' + json.dumps(entry(offsets=(8, 16))).encode()
                                  + b"}", EIGHT * 2),
    "overlap": file({"a": entry(), "b": entry(offsets=(4, 12))}, EIGHT + EIGHT[:4]),
    "overlap_whole": file({"a": entry(), "b": entry()}, EIGHT),
    "hole": file({"a": entry(), "b": entry(offsets=(12, 20))}, bytes(20)),
    "hole_at_the_start": file({"a": entry(offsets=(4, 12))}, bytes(12)),
    "trailing_byte": file({"a": entry()}, EIGHT + b"\0"),
    "data_cut": file({"a": entry()}, EIGHT[:7]),
    "no_data": file({"a": entry()}),
    "size_too_small": file({"a": entry(shape=(3,))}, EIGHT),
    "size_too_large": file({"a": entry(shape=(1,))}, EIGHT),
    "negative_extent": file({"a": entry(shape=(-2,))}, EIGHT),
    "float_extent": file({"a": entry(shape=(2.0,))}, EIGHT),
    "text_extent": file({"a": entry(shape=("2",))}, EIGHT),
    "overflow": file({"a": entry(shape=(2**62, 8), offsets=(0, 0))}),
    "overflow_of_bits": file({"a": entry(shape=(2**61,), offsets=(0, 0))}),
    "extent_of_65_bits": file({"a": entry(shape=(2**64,))}, EIGHT),
    "no_shape": file({"a": {"dtype": "F32", "data_offsets": [0, 8]}}, EIGHT),
    "no_dtype": file({"a": {"shape": [2], "data_offsets": [0, 8]}}, EIGHT),
    "no_offsets": file({"a": {"dtype": "F32", "shape": [2]}}, EIGHT),
    "shape_is_number": file({"a": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}}, EIGHT),
    "dtype_is_number": file({"a": {"dtype": 32, "shape": [2], "data_offsets": [0, 8]}}, EIGHT),
    "unknown_dtype": file({"a": entry("F33")}, EIGHT),
    "lower_case_dtype": file({"a": entry("f32")}, EIGHT),
    "three_offsets": file({"a": entry(offsets=(0, 4, 8))}, EIGHT),
    "one_offset": file({"a": entry(offsets=(8,))}, EIGHT),
    "begin_after_end": file({"a": entry(offsets=(8, 0))}, EIGHT),
    "negative_offset": file({"a": entry(offsets=(-8, 0))}, EIGHT),
    "entry_is_number": file({"a": 1}, EIGHT),
    "entry_is_null": file({"a": None}),
    "header_too_long": file(PLAIN, EIGHT, length=100_000_001),
    "header_past_the_end": file(PLAIN, EIGHT, length=len(PLAIN) + 9),
    "length_of_64_ones": file(PLAIN, EIGHT, length=2**64 - 1),
    "seven_bytes": bytes(7),
    "empty": b"",
    "length_zero": bytes(8),
    "bad_utf8": file(PLAIN.replace(b'"a"', b'"\xff"'), EIGHT),
    "overlong_utf8": file(PLAIN.replace(b'"a"', b'"\xc0\x80"'), EIGHT),
    "lone_surrogate": file(PLAIN.replace(b'"a"', b'"\\ud800"'), EIGHT),
    "list_at_the_top": file(b"[" + PLAIN + b"]", EIGHT),
    "two_values": file(PLAIN + b"{}", EIGHT),
    "nul_padding": file(PLAIN + b"\0\0", EIGHT),
    "comment": file(PLAIN + b"//", EIGHT),
    "unclosed": file(PLAIN[:-1], EIGHT),
    "trailing_comma": file(PLAIN[:-1] + b",}", EIGHT),
    "byte_order_mark": file(b"\xef\xbb\xbf" + PLAIN, EIGHT),
    "odd_four_bits": file({"a": entry("F4", (3,), (0, 2))}, b"\1\2"),
    "zero_size_inside": file({"a": entry(), "b": entry(shape=(0,), offsets=(4, 4))}, EIGHT),
}
STRICTER = {"leading_space", "same_key_twice"}


def verdict(content):
    try:
        safetensors.deserialize(content)
        return "accept"
    except Exception:  # every refusal counts, whatever its class
        return "reject"


golden = Golden(__file__, 0, safetensors=safetensors.__version__)
for case, content in CASES.items():
    judged = verdict(content)
    golden.add(f"{'strict' if judged == 'accept' and case in STRICTER else judged}.{case}",
               list(content))
written = safetensors.torch.save(
    {"b": torch.ones(2, 2), "a": torch.ones(3, dtype=torch.float64), "d": torch.zeros(0, 2),
     "c": torch.tensor([1, 2, 3], dtype=torch.uint8), "e": torch.ones(1, dtype=torch.bfloat16),
     "f": torch.ones(1, dtype=torch.float16), "g": torch.tensor([-1, 2])}, {"format": "pt"})
golden.add("written", list(written))
golden.write()
