# SPDX-License-Identifier: MIT
"""Every story, in the order in which they are played."""
import desktop
import languages
import servers
import starts
import tools

PROGRAMS = [*tools.PROGRAMS, *languages.PROGRAMS, *servers.PROGRAMS, *desktop.PROGRAMS, *starts.PROGRAMS]
