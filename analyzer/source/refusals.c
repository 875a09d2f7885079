/* SPDX-License-Identifier: MIT
 *
 * refusals.c - Owns: reading session.bin. Threads: any. Never: trusts its size or its numbers.
 */
#include "refusals.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "util/auto.h"
#include "util/mem.h"

static void put_all(const struct pt_session_page *page, struct pt_str *out)
{
    static const char *const why[] = {
#define REFUSAL(name, text) text,
#include "proftrace/refusals.def"
#undef REFUSAL
    };
    for (int i = 0; i < PT_REFUSAL__COUNT; i++)
        if (page->refused[i])
            pt_str_printf(out, "%llu processes were not recorded: %s\n", (unsigned long long)page->refused[i], why[i]);
}

void pt_refusals_of(const char *run, struct pt_str *out)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_SESSION_FILE, run);
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    struct pt_session_page page;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    if (!status.st_size)
        pt_str_add(out,
                   PT_SESSION_FILE " is empty: it was truncated, or a full disk or a limit of the size of files left "
                                   "no room for it\n");
    else if (pread(fd, &page, sizeof page, 0) == (ssize_t)sizeof page &&
             memcmp(page.magic, PT_SESSION_MAGIC, sizeof page.magic) == 0)
        put_all(&page, out);
}
