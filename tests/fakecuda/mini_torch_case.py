# SPDX-License-Identifier: MIT
"""What the tests of the small torch share."""
import json
import os

from harness import BUILD, HERE, DoubleTest


class MiniTorchCase(DoubleTest):
    def train(self, *arguments, **environment):
        outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), *arguments], client=False,
                                   PROFTRACE_BUILD=os.path.abspath(BUILD), **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome, json.loads(outcome.out)
