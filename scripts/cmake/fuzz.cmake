# SPDX-License-Identifier: MIT
# libFuzzer targets, instrumented analyzer.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(PROFTRACE_SANITIZE "address,undefined,fuzzer-no-link" CACHE STRING "")
set(PROFTRACE_FUZZ ON CACHE BOOL "")
