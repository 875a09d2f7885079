# SPDX-License-Identifier: MIT
"""Nothing to complain about: computes."""
import planted

planted.main(lambda: planted.compute(2), lambda: planted.compute(2))
