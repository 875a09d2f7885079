# SPDX-License-Identifier: MIT
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
# For what clang and clang-tidy say, and that does not depend on optimization: half the time.
set(CMAKE_C_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "")
set(PROFTRACE_WERROR ON CACHE BOOL "")
