# SPDX-License-Identifier: MIT
# In CPack, before it packs: it makes the root of a package and the prefix as the umask says, and a package would take that along.
file(CHMOD_RECURSE "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
