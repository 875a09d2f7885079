# SPDX-License-Identifier: MIT
# Which lines the tests reach, in both halves: scripts/dev coverage.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(PROFTRACE_COVERAGE ON CACHE BOOL "")
set(PROFTRACE_KILL_POINTS ON CACHE BOOL "")
