# SPDX-License-Identifier: MIT
# The injected half stays as it is (a sanitizer in the host would be a tracer of its own); analyzer and tests are checked.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
# Checks in every expression: with -O2 the compiler takes 1.6 times as long, for tests of one minute.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG" CACHE STRING "")
set(PROFTRACE_SANITIZE "address,undefined" CACHE STRING "")
