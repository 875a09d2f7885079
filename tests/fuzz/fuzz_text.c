/* SPDX-License-Identifier: MIT
 *
 * fuzz_text.c - assemble on any text: an error with a line number, or a file that the reader takes.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/session.h"
#include "model/text/read.h"
#include "util/auto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    PT_AUTO(pt_fclosep) FILE *in = fmemopen((void *)(size_t)data, size, "r");
    PT_AUTO(pt_closep) int fd = memfd_create("output", MFD_CLOEXEC);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct pt_error err = {0};
    if (!in || fd < 0 || pt_session_read_text(in, "input", path, &err) < 0)
        return 0;
    struct pt_session *session = pt_session_open(path, &err);
    if (!session)
        __builtin_trap(); /* what assemble accepts, the reader must read */
    pt_session_close(session);
    return 0;
}
