#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Raw buffers of a file reach the client as CUPTI would have delivered them."""
import collections
import os
import struct

from harness import DoubleTest, main

H100 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu", "baselines", "2026-11-27-H100-cupti.bin")


class ReplayTest(DoubleTest):
    def write(self, *blocks):
        path = os.path.join(self.folder, "raw.bin")
        with open(path, "wb") as file:
            file.write(b"".join(blocks))
        return path

    @staticmethod
    def kernel(pointer, correlation, start, end):
        record = bytearray(216)
        struct.pack_into("<I", record, 0, 10)
        struct.pack_into("<QQ", record, 16, start, end)
        struct.pack_into("<III", record, 40, 0, 1, 7)
        struct.pack_into("<I", record, 92, correlation)
        struct.pack_into("<Q", record, 104, pointer)
        return bytes(record)

    @staticmethod
    def buffer(*records):
        data = b"".join(records)
        return b"PFCB" + struct.pack("<Q", len(data)) + data

    @staticmethod
    def name(pointer, text):
        return b"NAME" + struct.pack("<QI", pointer, len(text)) + text

    LENGTHS = b"RLEN" + struct.pack("<II", 10, 216) + b"RLEN" + struct.pack("<II", 5, 40)

    def test_replay(self):
        call = struct.pack("<IIQQIIII", 5, 211, 90, 95, 1, 2, 77, 0)
        path = self.write(self.LENGTHS, self.buffer(call, self.kernel(0x7f00deadbeef, 77, 100, 250)),
                          self.buffer(self.kernel(0x1234, 78, 300, 400)), self.name(0x7f00deadbeef, b"ampere_sgemm"))
        outcome = self.assert_ran(self.workload("unfinished", CLIENT_KINDS="8", FAKECUDA_REPLAY=path))
        self.assertEqual([(k["name"], k["correlationId"], k["start"], k["end"]) for k in outcome.recorded("kernel")],
                         [("ampere_sgemm", 77, 100, 250), (None, 78, 300, 400)])
        self.assertEqual([(r["cbid"], r["correlationId"]) for r in outcome.recorded("runtime")], [(211, 77)])

    def test_captured(self):
        """What the toy profiler captures, here or on a GPU, replays as it was."""
        first = self.assert_ran(self.workload("basic", 5, major=12, version=20, CLIENT_RAW=os.path.join(self.folder, "raw")))
        raw, = (os.path.join(self.folder, name) for name in os.listdir(self.folder) if name.endswith(".bin"))
        second = self.assert_ran(self.workload("unfinished", CLIENT_KINDS="8", FAKECUDA_REPLAY=raw, version=20))
        for record in ("kernel", "copy", "set", "runtime", "wait", "memory", "device", "stream"):
            seen = [r for r in second.recorded(record)]
            expected = first.recorded(record) + (second.recorded("device")[:1] if record == "device" else [])
            self.assertEqual(len(seen), len(expected), record)
            if record != "device":
                self.assertEqual(seen, expected)

    def test_of_a_gpu(self):
        """Buffers that CUPTI 13.0.1 filled for an H100 read as our layouts say: 8 threads, 400 short kernels, 40 long ones, 160 copies and sets."""
        outcome = self.assert_ran(self.workload("unfinished", CLIENT_KINDS="8", FAKECUDA_REPLAY=H100))
        kernels, calls = outcome.recorded("kernel"), {r["correlationId"]: r for r in outcome.recorded("runtime")}
        self.assertEqual(collections.Counter(k["name"] for k in kernels), {"_Z12small_kernelPf": 400, "_Z11spin_kernelx": 40})
        self.assertEqual((len(outcome.recorded("copy")), len(outcome.recorded("set"))), (120, 40))
        self.assertEqual(collections.Counter(c["bytes"] for c in outcome.recorded("copy")), {1 << 20: 40, 1 << 19: 40, 1 << 18: 40})
        self.assertEqual({calls[k["correlationId"]]["cbid"] for k in kernels}, {211})
        self.assertTrue(all(calls[k["correlationId"]]["start"] < k["start"] < k["end"] for k in kernels))
        self.assertEqual(len({k["streamId"] for k in kernels}), 8)
        device = outcome.recorded("device")[-1]
        self.assertEqual((device["name"], device["numMultiprocessors"]), ("NVIDIA H100 80GB HBM3", 132))

    def test_broken_files(self):
        whole = self.LENGTHS + self.buffer(self.kernel(1, 1, 1, 2))
        for content, why in ((whole[:-5], "ends within a block"), (b"ABCD" + whole, "no PFCB, RLEN or NAME")):
            outcome = self.workload("unfinished", FAKECUDA_REPLAY=self.write(content))
            self.assertIn(why, outcome.err)
            self.assertLess(outcome.code, 0)


if __name__ == "__main__":
    main()
