# SPDX-License-Identifier: MIT
# ThreadSanitizer on the analyzer and its tests; the injected half stays as it is, as under ASan. Traces of any size are worked
# on by all threads, so that every golden story goes through them.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG" CACHE STRING "") # as in asan.cmake
set(PROFTRACE_SANITIZE "thread" CACHE STRING "")
set(PROFTRACE_THREADS_ALWAYS ON CACHE BOOL "")
