# SPDX-License-Identifier: MIT
# In CPack, before it packs: without dpkg-shlibdeps it would make a package that names no library that it needs, and say nothing.
if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(tool dpkg-shlibdeps file)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
      message(FATAL_ERROR "${tool} is not on PATH: what the package depends on cannot be found; install dpkg-dev and file")
    endif()
  endforeach()
endif()
