# SPDX-License-Identifier: MIT
# The preset coverage: which lines of both halves run, by clang's counters. See shared_counters.c for where they lie.
option(PROFTRACE_COVERAGE "Test build: count which lines run (clang only)" OFF)

# The analyzer is a shared library then: all programs that contain it have one set of counters.
set(PROFTRACE_ANALYSIS_TYPE STATIC)
if(PROFTRACE_COVERAGE)
  set(PROFTRACE_ANALYSIS_TYPE SHARED)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/coverage)
endif()

# count_lines(TARGET): call it when the library has all its sources; the one that comes with this must be the last.
function(count_lines target)
  if(NOT PROFTRACE_COVERAGE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
  target_compile_definitions(${target} PRIVATE PT_COVERAGE_DIR="${CMAKE_BINARY_DIR}/coverage")
  target_link_options(${target} PRIVATE -fprofile-instr-generate)
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/scripts/cmake/coverage/shared_counters.c)
endfunction()
