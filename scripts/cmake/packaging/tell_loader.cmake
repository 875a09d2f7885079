# SPDX-License-Identifier: MIT
# At installation, after all else: `LD_PRELOAD=libproftrace.so CMD` finds the bare name where ld.so looks into the folder, which it does
# not for /usr/local/lib64 on Fedora and its kin. In a staged or private prefix there is nothing to do.
# proftrace_library_folder: where the library is, below the prefix or absolute.
set(folder "${proftrace_library_folder}")
if(NOT IS_ABSOLUTE "${folder}")
  set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
endif()
if("$ENV{DESTDIR}" STREQUAL "" AND "${folder}" MATCHES "^/usr/")
  execute_process(COMMAND ldconfig RESULT_VARIABLE ignored OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND ldconfig -p RESULT_VARIABLE ignored OUTPUT_VARIABLE known ERROR_QUIET)
  if(NOT known MATCHES "libproftrace\\.so")
    message(STATUS "The loader does not look into ${folder}: type LD_PRELOAD=${folder}/libproftrace.so, or as root: "
                   "echo ${folder} >/etc/ld.so.conf.d/proftrace.conf && ldconfig")
  endif()
endif()
