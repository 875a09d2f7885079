# SPDX-License-Identifier: MIT
"""What the tests of the small torch share."""
import json
import os
import sys
import unittest

from harness import BUILD, HERE, DoubleTest

sys.path.insert(0, os.path.dirname(HERE))
from stolen import no_schedstat  # noqa: E402


@unittest.skipIf(no_schedstat(), no_schedstat())
class MiniTorchCase(DoubleTest):
    def train(self, *arguments, **environment):
        outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), *arguments], client=False,
                                   PROFTRACE_BUILD=os.path.abspath(BUILD), **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome, json.loads(outcome.out)
