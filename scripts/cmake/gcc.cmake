# SPDX-License-Identifier: MIT
# What scripts/test runs the suites on: as users build it, warnings are errors, and tests may kill it inside its slow paths.
set(CMAKE_C_COMPILER gcc CACHE STRING "")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(PROFTRACE_WERROR ON CACHE BOOL "")
set(PROFTRACE_KILL_POINTS ON CACHE BOOL "")
