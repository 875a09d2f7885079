# SPDX-License-Identifier: MIT
# What users get.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
