/* SPDX-License-Identifier: MIT
 *
 * fuzz_file.c - the whole reader on any bytes: open, build the session, deliver and print every event, look up every
 * name.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/session.h"
#include "model/text/write.h"
#include "util/auto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PT_AUTO(pt_closep) int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 0;
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct pt_error err = {0};
    PT_AUTO(pt_session_closep) struct pt_session *session = pt_session_open(path, &err);
    if (!session)
        return 0;
    PT_AUTO(pt_fclosep) FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere)
        pt_session_write_text(session, nowhere, &err);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 id = 0; id < 16; id++) {
            pt_process_absolute_path(session->processes[i], id, id + 1);
            pt_process_module(session->processes[i], 0x401000 + id, id);
        }
    return 0;
}
