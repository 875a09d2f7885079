# SPDX-License-Identifier: MIT
# libFuzzer targets, instrumented analyzer; FUZZ_SECONDS=N sets how long each runs as a test at most.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(PROFTRACE_FUZZ ON CACHE BOOL "")
if(DEFINED ENV{FUZZ_SECONDS})
  set(PROFTRACE_FUZZ_SECONDS $ENV{FUZZ_SECONDS} CACHE STRING "" FORCE)
endif()
