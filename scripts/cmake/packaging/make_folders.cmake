# SPDX-License-Identifier: MIT
# At installation, before all else: makes the folders that are missing, open to everybody. CMake would make them as the umask says, and with
# that of a careful administrator (077) nobody else came to the files. Folders that are there stay as they are.
# proftrace_folders: where files go, below the prefix or absolute.
foreach(folder ${proftrace_folders})
  if(NOT IS_ABSOLUTE "${folder}")
    set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
  endif()
  set(folder "$ENV{DESTDIR}${folder}")
  set(missing "")
  while(folder AND NOT EXISTS "${folder}")
    list(PREPEND missing "${folder}")
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
  foreach(new ${missing})
    file(MAKE_DIRECTORY "${new}")
    file(CHMOD "${new}" DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
endforeach()
