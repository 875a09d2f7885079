# SPDX-License-Identifier: MIT
# One list for both compilers; PROFTRACE_WERROR turns them into errors (scripts/test does).
option(PROFTRACE_WERROR "Warnings are errors" OFF)
add_compile_options(
  -Wall -Wextra -Wshadow -Wpointer-arith -Wwrite-strings
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  -Wswitch-enum -Wundef -Wvla -Wformat=2 -Wdate-time)
if(PROFTRACE_WERROR)
  add_compile_options(-Werror)
endif()
