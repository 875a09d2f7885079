# SPDX-License-Identifier: MIT
# At installation, after all else: `LD_PRELOAD=libproftrace.so CMD` finds the bare name where ld.so looks into the folder, which it does
# not for /usr/local/lib64 on Fedora and its kin. In a staged or private prefix there is nothing to do.
# proftrace_library_folder: where the library is, below the prefix or absolute.
set(folder "${proftrace_library_folder}")
if(NOT IS_ABSOLUTE "${folder}")
  set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
endif()
if("$ENV{DESTDIR}" STREQUAL "" AND "${folder}" MATCHES "^/usr/")
  # `su` without `-` leaves /sbin out of PATH. Where it cannot be asked, nothing is said.
  find_program(loader_cache ldconfig PATHS /sbin /usr/sbin)
  execute_process(COMMAND "${loader_cache}" RESULT_VARIABLE ignored OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${loader_cache}" -p RESULT_VARIABLE asked OUTPUT_VARIABLE known ERROR_QUIET)
  if(asked EQUAL 0 AND NOT known MATCHES "libproftrace\\.so")
    message(STATUS "The loader does not look into ${folder}: type LD_PRELOAD=${folder}/libproftrace.so, or as root: "
                   "echo ${folder} >/etc/ld.so.conf.d/proftrace.conf && ldconfig")
  endif()
endif()
