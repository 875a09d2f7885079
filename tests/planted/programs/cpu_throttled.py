# SPDX-License-Identifier: MIT
"""Computes in a control group that may use a tenth of a CPU; the fixed one has no limit. (The runner makes the group.)"""
import planted

planted.main(lambda: planted.compute(0.4), lambda: planted.compute(0.4))
