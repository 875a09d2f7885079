/* SPDX-License-Identifier: MIT
 *
 * launcher.h - who writes a run.json, and whether that process still lives. A pid says so only on its own machine,
 * since its own boot, and in its own namespace: a run that goes on in a container has pids that are others' outside.
 */
#ifndef PT_RUN_FILE_LAUNCHER_H
#define PT_RUN_FILE_LAUNCHER_H

#include "run_file.h"

/* Note this process in `ret_launcher`, whose texts live as long as it does. */
void pt_run_launcher_note(struct pt_run_launcher *ret_launcher);

/* The run of this process is over, though it lives while its reports are written: also where its record could not be
 * written any more. */
void pt_run_launcher_over(void);

enum pt_run_launcher_state {
    PT_RUN_LAUNCHER_UNKNOWN, /* the file is of a version that did not note it */
    PT_RUN_LAUNCHER_GONE,
    PT_RUN_LAUNCHER_LIVES,
    PT_RUN_LAUNCHER_WRITES_ELSEWHERE, /* it cannot be seen from here, and wrote run.json a short time ago */
    PT_RUN_LAUNCHER_SILENT_ELSEWHERE,
};

enum pt_run_launcher_state pt_run_launcher_state(const struct pt_run_info *run);

#endif
