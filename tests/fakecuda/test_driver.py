#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The double of libcuda: injection at cuInit and records of driver calls."""
import os

from harness import DOUBLES, DoubleTest, main


class DriverTest(DoubleTest):
    def test_driver_api(self):
        path = os.path.join(DOUBLES, "driver") + ":" + os.path.join(DOUBLES, "lib")
        outcome = self.assert_ran(self.run_program([os.path.join(DOUBLES, "driver_app")], LD_LIBRARY_PATH=path))
        self.assertEqual(outcome.out, "moved\n")
        kernels = outcome.recorded("kernel")
        self.assertEqual([k["name"] for k in kernels], ["triton_poi_fused_add_0"] * 3)
        calls = {r["correlationId"]: r["cbid"] for r in outcome.recorded("driver")}
        self.assertEqual({calls[k["correlationId"]] for k in kernels}, {307})
        self.assertEqual(outcome.recorded("runtime"), [])
        self.assertEqual([r["overheadKind"] for r in outcome.recorded("overhead")], [1, 4 << 16, 5 << 16])

    def test_without_driver(self):
        """In the folder of the runtime there is no driver."""
        outcome = self.run_program([os.path.join(DOUBLES, "driver_app")])
        if outcome.code == 2:
            self.assertEqual(outcome.out, "no driver\n")
        else:
            self.skipTest("this machine has a driver of its own")


if __name__ == "__main__":
    main()
