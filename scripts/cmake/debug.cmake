# SPDX-License-Identifier: MIT
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
