# SPDX-License-Identifier: MIT
# The injected half stays as it is (a sanitizer in the host would be a tracer of its own); analyzer and tests are checked.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(PROFTRACE_SANITIZE "address,undefined" CACHE STRING "")
