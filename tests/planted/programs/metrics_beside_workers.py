# SPDX-License-Identifier: MIT
"""A training that counts hits in Python, while a worker has the next batches ready."""
import hits

hits.main(1)
