# SPDX-License-Identifier: MIT
"""pipeline-profile's name for `proftrace pipeline`: see pipeline_profile.cli."""
