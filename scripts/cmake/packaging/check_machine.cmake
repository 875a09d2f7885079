# SPDX-License-Identifier: MIT
# What the sources take for granted, so that a machine without it is told so, not by errors of the compiler. The library runs with glibc 2.28
# and later; to build it takes the headers of a newer one, as scripts/build-wheel brings them.
include(CheckStructHasMember)

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "proftrace is for Linux on x86-64; this builds for ${CMAKE_SYSTEM_PROCESSOR} with pointers of ${CMAKE_SIZEOF_VOID_P} bytes.")
endif()

set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_struct_has_member("struct dl_find_object" dlfo_link_map dlfcn.h PROFTRACE_HAS_NEW_GLIBC LANGUAGE C)
unset(CMAKE_REQUIRED_DEFINITIONS)
if(NOT PROFTRACE_HAS_NEW_GLIBC)
  message(FATAL_ERROR "glibc 2.35 or later is needed to build proftrace (struct dl_find_object in its dlfcn.h). "
                      "A wheel that scripts/build-wheel has made elsewhere runs from glibc 2.28 on.")
endif()
