/* SPDX-License-Identifier: MIT
 *
 * session_page.c - counts in session.bin, which any process of the user may truncate at any time.
 *
 * Entered from any thread. The page is mapped, but no load and no store touches it: that would be a SIGBUS when it is
 * gone. The kernel adds (FUTEX_WAKE_OP) and reads (process_vm_readv) on our behalf, and says EFAULT; then there is no
 * budget and nothing is counted. A mapping and no descriptor, because it works after setuid and chroot, too. Only a
 * process in a sandbox, which may not even ask the kernel, stores, once.
 */
#include "session_page.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "proftrace/limits.h"
#include "options.h"
#include "sys.h"
#include "text.h"

#define MOST_AT_ONCE 2047u /* twelve bits with a sign */

struct pt_session_facts pt_session_facts;
static char *page; /* never read or written here; NULL = there is none */

/* ---- the mapping ---- */

static long open_file(const char *directory, int flags)
{
    char path[640];
    struct pt_text text = {path, 0, sizeof path};
    pt_text_add(&text, directory);
    pt_text_add(&text, "/" PT_SESSION_FILE);
    return pt_syscall4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

#define BOOT_ID_BYTES 36

/* Leaves what is there where it cannot be asked for; whether it is another one. */
static int read_boot_id(char *ret)
{
    char id[BOOT_ID_BYTES];
    int is_other = 0;
    const long fd = pt_syscall4(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    if (pt_syscall3(SYS_read, fd, id, sizeof id) == sizeof id) {
        is_other = __builtin_memcmp(ret, id, sizeof id) != 0;
        __builtin_memcpy(ret, id, sizeof id);
    }
    pt_syscall1(SYS_close, fd);
    return is_other;
}

/* 0 = unknown, or a kernel that has none. */
static pt_u64 time_namespace(void)
{
    struct stat info;
    return pt_syscall4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/time", &info, 0) == 0 ? info.st_ino : 0;
}

#define SAME_BOOT_NS 100000u /* far more than passes between two readings of clocks, far less than between boots */

/* Was the page made by this boot of this machine? Wall time minus CLOCK_MONOTONIC is the moment of the boot, and only
 * who sets the clock changes it: it says so for a hundredth of what opening /proc costs. */
static int is_of_this_boot(const struct pt_session_page *there)
{
    const pt_u64 boot_ns = pt_sys_clock_ns(CLOCK_REALTIME) - pt_sys_clock_ns(CLOCK_MONOTONIC),
                 noted_ns = there->start_realtime_ns - there->start_monotonic_ns;
    return boot_ns - noted_ns + SAME_BOOT_NS <= 2u * SAME_BOOT_NS;
}

void pt_session_page_make(const char *directory, pt_u64 budget_bytes)
{
    struct rlimit limit = {0};
    struct pt_session_page made = {
        .magic = {'P', 'R', 'O', 'F', 'T', 'S', 'E', 'S'},
        .format_version = PT_FORMAT_VERSION,
        .budget_bytes = budget_bytes,
        .start_realtime_ns = pt_sys_clock_ns(CLOCK_REALTIME),
        .start_monotonic_ns = pt_sys_clock_ns(CLOCK_MONOTONIC),
    };
    made.time_namespace = time_namespace();
    read_boot_id(made.boot_id);
    const long fd = open_file(directory, O_CREAT | O_EXCL);
    if (fd < 0)
        return;
    /* Beyond the limit of file sizes a write is a SIGXFSZ. An empty page tells readers that there was no room. */
    if (pt_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) == 0 && limit.rlim_cur >= sizeof made)
        pt_syscall4(SYS_pwrite64, fd, &made, sizeof made, 0);
    pt_syscall1(SYS_close, fd);
}

void pt_session_page_open(const char *directory)
{
    struct pt_session_page there;
    struct stat info;
    const long fd = open_file(directory, 0);
    if (fd < 0)
        return;
    if (pt_syscall2(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode) &&
        pt_syscall4(SYS_pread64, fd, &there, sizeof there, 0) == sizeof there)
        page = pt_sys_map(sizeof there, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    pt_syscall1(SYS_close, fd);
    if (!page)
        return;
    pt_session_facts.budget_bytes = there.budget_bytes;
    __builtin_memcpy(pt_session_facts.boot_id, there.boot_id, sizeof there.boot_id - 1);
    pt_session_facts.boot_realtime_ns = there.start_realtime_ns - there.start_monotonic_ns;
    pt_session_facts.time_namespace = there.time_namespace;
    /* Other machines (ranks of a job), or a later boot, may have joined: files of one boot_id have one clock. */
    if (!there.boot_id[0] || !is_of_this_boot(&there))
        pt_session_facts.is_of_another_boot = read_boot_id(pt_session_facts.boot_id);
}

/* Asked of /proc only where the clock says that something is not as it was. */
int pt_session_clock_was_set(pt_u64 realtime_ns, pt_u64 monotonic_ns)
{
    const pt_u64 moved_ns = realtime_ns - monotonic_ns - pt_session_facts.boot_realtime_ns;
    return pt_session_facts.time_namespace && !pt_session_facts.is_of_another_boot &&
           moved_ns + PT_CLOCK_SET_LEAST_NS > 2u * PT_CLOCK_SET_LEAST_NS &&
           time_namespace() == pt_session_facts.time_namespace;
}

/* ---- counting ---- */

static int add(pt_u64 offset, pt_i32 amount)
{
    pt_u32 nobody = 0;
    return page && pt_syscall6(SYS_futex, (long)&nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                               (long)(page + offset),
                               (long)(pt_u32)FUTEX_OP(FUTEX_OP_ADD, (pt_u32)amount & 0xfff, FUTEX_OP_CMP_EQ, 0)) >= 0
               ? 0
               : -1;
}

/* By the kernel, where the page may be gone. Containers refuse that: then it is asked whether the page is there, which
 * leaves a moment in between. */
static int read_word(pt_u64 offset, pt_u32 *ret)
{
    const struct iovec to = {ret, sizeof *ret}, from = {page + offset, sizeof *ret};
    if (!page)
        return -1;
    const long got = pt_syscall6(SYS_process_vm_readv, pt_syscall0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0);
    if (got == sizeof *ret)
        return 0;
    if (got == -EFAULT || pt_syscall3(SYS_madvise, page, PT_PAGE_BYTES, MADV_POPULATE_READ) != 0)
        return -1;
    *ret = __atomic_load_n((const pt_u32 *)(const void *)(page + offset), __ATOMIC_RELAXED);
    return 0;
}

void pt_session_count_process(void)
{
    add(offsetof(struct pt_session_page, processes), 1);
}

void pt_session_refuse(enum pt_refusal why)
{
    add(offsetof(struct pt_session_page, refused) + (pt_u64)why * sizeof(pt_u64), 1);
}

void pt_session_refuse_in_sandbox(void)
{
    if (page)
        __atomic_fetch_add(&((struct pt_session_page *)(void *)page)->refused[PT_REFUSAL_sandbox], 1, __ATOMIC_RELAXED);
}

/* By calls that ld.so has made in this process, too. */
void pt_session_refuse_at_start(const char *directory)
{
    struct stat info;
    const long fd = directory[0] == '/' ? open_file(directory, 0) : -1;
    if (fd < 0)
        return;
    if (pt_syscall4(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == getauxval(AT_EUID) && info.st_size >= (long)sizeof(struct pt_session_page))
        page = pt_sys_map(sizeof(struct pt_session_page), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    pt_syscall1(SYS_close, fd);
    pt_session_refuse_in_sandbox();
}

static pt_u64 pages_of(pt_u64 bytes)
{
    return (bytes + PT_PAGE_BYTES - 1) / PT_PAGE_BYTES;
}

static int add_pages(pt_u64 offset, pt_u64 pages, int is_taken)
{
    int result = 0;
    for (pt_u64 left = pages; left && result == 0;) {
        const pt_i32 now = left < MOST_AT_ONCE ? (pt_i32)left : (pt_i32)MOST_AT_ONCE;
        result = add(offset, is_taken ? now : -now);
        left -= (pt_u64)now;
    }
    return result;
}

/* Two that come at once may both find that it is too much, where one would have fitted. */
static int take_pages(pt_u64 offset, pt_u64 bytes, pt_u64 limit_bytes, pt_u64 *ret_used_bytes)
{
    pt_u32 used = 0;
    const int is_known = add_pages(offset, pages_of(bytes), 1) == 0 && read_word(offset, &used) == 0;
    *ret_used_bytes = is_known ? (pt_u64)used * PT_PAGE_BYTES : 0;
    if (*ret_used_bytes <= limit_bytes)
        return 0;
    add_pages(offset, pages_of(bytes), 0);
    return -1;
}

int pt_session_take(pt_u64 bytes)
{
    pt_u64 used;
    const pt_u64 limit = pt_session_facts.budget_bytes;
    return limit ? take_pages(offsetof(struct pt_session_page, reserved_pages), bytes, limit, &used) : 0;
}

void pt_session_give_back(pt_u64 bytes)
{
    if (pt_session_facts.budget_bytes)
        add_pages(offsetof(struct pt_session_page, reserved_pages), pages_of(bytes), 0);
}

int pt_session_take_minutes(pt_u64 bytes, pt_u64 limit_bytes, pt_u64 *ret_used_bytes)
{
    return take_pages(offsetof(struct pt_session_page, minutes_pages), bytes, limit_bytes, ret_used_bytes);
}

void pt_session_give_back_minutes(pt_u64 bytes)
{
    add_pages(offsetof(struct pt_session_page, minutes_pages), pages_of(bytes), 0);
}

/* Rings may not use up what other files and definitions need. */
pt_u64 pt_session_ring_limit(void)
{
    const pt_u64 budget = pt_session_facts.budget_bytes, wanted = pt_options.session_ring_mib << 20;
    return wanted ? wanted : budget ? PT_RINGS_OF_BUDGET(budget) : ~0ull;
}

int pt_session_take_ring(pt_u64 bytes, pt_u64 own_bytes)
{
    const pt_u64 limit = pt_session_ring_limit();
    pt_u64 used;
    if (take_pages(offsetof(struct pt_session_page, ring_pages), bytes, limit, &used) < 0)
        return -1;
    if ((limit - used) / own_bytes || (limit - used) * PT_RING_OWN_PER_LEFT >= own_bytes)
        return 0;
    pt_session_give_back_ring(bytes);
    return -1;
}

void pt_session_give_back_ring(pt_u64 bytes)
{
    add_pages(offsetof(struct pt_session_page, ring_pages), pages_of(bytes), 0);
}
