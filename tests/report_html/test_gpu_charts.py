#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Charts of GPU memory: a line per GPU that ends where nobody told of memory, and the rates of allocating beside it."""
import re
import unittest
import xml.dom.minidom

from page_case import PageCase

GIB = 1 << 30
MEMORY = "GPU memory that the program allocated"


def process(pid, stage, start, end):
    yield (f'process {pid} ppid=1 uid=1000 trace_id={pid:#x} start={start}.0 end={end}.0 state=exited exit_status=0 heap=sampled '
           f'heap_sample_bytes=524288 cpu_ns=1000000000 max_rss_bytes=268435456 boot="b" host="h1" stage="{stage}" comm="{stage}" '
           f'exe="/usr/bin/{stage}" cwd="/srv" argc=1 argv=["{stage}"]')
    yield f"thread {pid}/{pid} slot=0 life=1 start={start}.0"
    yield f"thread {pid}/2147483648 slot=1 life=1 start={start}.0"
    yield f'{start}.1 {pid}/2147483648 gpu_tracing reason="CUPTI 13.0.1" state=1'


def memory(pid, at, device, gib, is_release=0):
    return (f'{at:.9f} {pid}/2147483648 gpu_memory place="{device}/3" is_release={is_release} addr={0x7f0000000000 + device:#x} '
            f"bytes={int(gib * GIB)}")


def trace(gpus=2):
    """Two stages with a gap of 20 s between them; the first fills each GPU more than the one before and allocates 40 times."""
    yield "proftrace-text 1 start_realtime_ns=1705320000000000000"
    yield from process(100, "train", 0, 40)
    for device in range(gpus):
        yield f'0.2 100/2147483648 gpu_device name="NVIDIA H200" device={device} memory_bytes={64 * GIB} properties="{{}}"'
        yield memory(100, 5 + device / 100, device, 8 + 8 * device)
    for i in range(20):
        yield memory(100, 20 + i / 10, 0, 1)
        yield memory(100, 20.05 + i / 10, 0, 1, is_release=1)
    yield from process(200, "infer", 60, 80)
    yield memory(200, 65, 0, 4)
    yield memory(200, 70, 0, 4, is_release=1)


class GpuCharts(PageCase):
    def figures(self, lines, *options):
        """Title of each chart -> (what it says of its curves, the curves)"""
        folder = self.assemble(self.id().rsplit(".", 1)[1], lines)
        text, _ = self.page(folder, *options)
        found = {}
        for figure in xml.dom.minidom.parseString(text.encode()).getElementsByTagName("figure"):
            title = figure.getElementsByTagName("b")[0].firstChild.data
            found[title] = ([span.lastChild.data for span in figure.getElementsByTagName("span")],
                            [p.getAttribute("d") for p in figure.getElementsByTagName("path") if p.getAttribute("vector-effect")])
        return found

    def test_levels_and_rates(self):
        figures = self.figures(trace())
        self.assertEqual(list(figures), [MEMORY, "Allocations of GPU memory", "GPU memory allocated and released"])
        says, curves = figures[MEMORY]
        self.assertEqual([re.sub(r" at [\d.]+ s", "", text) for text in says],
                         ["GPU 0: peak 9.00 GiB in train", "GPU 1: peak 16.0 GiB in train"])
        self.assertEqual(sorted(curve.count("M") for curve in curves), [1, 2], "a line ends where a stage does")
        says, _ = figures["Allocations of GPU memory"]
        self.assertRegex(says[0], r"allocations: peak (9|1[0-2])(\.\d+)? /s")
        says, _ = figures["GPU memory allocated and released"]
        self.assertRegex(says[1], r"released: peak (9|1[0-2])\.\d+ GiB/s")

    def test_one_stage(self):
        says, curves = self.figures(trace(), "--stage", "infer")[MEMORY]
        self.assertRegex(says[0], r"GPU 0: peak 4\.00 GiB at (4\.8|5)\d*\.?\d* s in infer")
        self.assertEqual((len(says), curves[0].count("M")), (1, 1))

    def test_many_gpus(self):
        """Of more than four the fullest are drawn, and the title says so."""
        figures = self.figures(trace(6))
        says, _ = figures[MEMORY + " (the fullest 4 of 6 GPUs)"]
        self.assertEqual([text.split(":")[0] for text in says], ["GPU 2", "GPU 3", "GPU 4", "GPU 5"])

    def test_none_without_memory(self):
        self.assertEqual(self.figures(process_only()), {})


def process_only():
    yield "proftrace-text 1 start_realtime_ns=1705320000000000000"
    yield from process(100, "train", 0, 40)


if __name__ == "__main__":
    unittest.main()
