# SPDX-License-Identifier: MIT
"""A training that makes its batches itself and counts hits in Python."""
import hits

hits.main(0)
