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
            pt_str_printf(out, "%llu %s not recorded: %s\n", (unsigned long long)page->refused[i],
                          page->refused[i] == 1 ? "process was" : "processes were", why[i]);
}

/* How many bytes it has, of which `ret_page` is set when it is whole; -1 = there is none. It may be a link: DVC,
 * git-annex and Nix make runs of them. */
static long read_page(const char *run, struct pt_session_page *ret_page)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_SESSION_FILE, run);
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    *ret_page = (struct pt_session_page){0};
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    if (pread(fd, ret_page, sizeof *ret_page, 0) != (ssize_t)sizeof *ret_page ||
        memcmp(ret_page->magic, PT_SESSION_MAGIC, sizeof ret_page->magic) != 0)
        *ret_page = (struct pt_session_page){0};
    return (long)status.st_size;
}

void pt_refusals_of(const char *run, struct pt_str *out)
{
    struct pt_session_page page;
    if (read_page(run, &page) == 0)
        pt_str_add(out,
                   PT_SESSION_FILE " is empty: it was truncated, or a full disk or a limit of the size of files left "
                                   "no room for it\n");
    put_all(&page, out);
}

pt_u64 pt_files_made(const char *run)
{
    struct pt_session_page page;
    read_page(run, &page);
    return page.processes;
}

bool pt_session_page_is_whole(const char *run)
{
    struct pt_session_page page;
    read_page(run, &page);
    return page.magic[0];
}

bool pt_session_had_launcher(const char *run)
{
    struct pt_session_page page;
    read_page(run, &page);
    return page.made_by_launcher;
}

bool pt_boot_id_of(const char *run, char ret[40])
{
    struct pt_session_page page;
    read_page(run, &page);
    memcpy(ret, page.boot_id, sizeof page.boot_id);
    return page.boot_id[0];
}
