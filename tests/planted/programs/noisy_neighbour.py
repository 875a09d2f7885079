# SPDX-License-Identifier: MIT
"""Computes beside other programs that fill the machine; the fixed one has it for itself. (The runner starts them.)"""
import planted

planted.main(lambda: planted.compute(1), lambda: planted.compute(1))
