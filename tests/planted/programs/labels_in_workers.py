# SPDX-License-Identifier: MIT
"""The workers of a training read its table of labels again for each sample."""
import labels

labels.main(2)
