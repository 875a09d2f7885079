/* SPDX-License-Identifier: MIT
 *
 * perf_rings.c - Owns: events, rings and what the kernel allows. Threads: main only. Never: blocks; trusts the length
 * of a record.
 */
#include "perf_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/mem.h"

/* What perf_event_mlock_kb grants every user for each CPU. */
#define RING_MAX_BYTES (512u << 10)
#define RING_MIN_BYTES (256u << 10) /* twice what wakes us */
/* Every switch is a sample until this ring is full, then none until it was read: 15 stacks at least. A fixed period
 * would be too long for threads that seldom wait, and a frequency is kept by the kernel only for threads that wait
 * often. */
#define SWITCHES_RING_BYTES (256u << 10)
#define SCRATCH_BYTES 65536u
#define NOTHING (~(pt_u64)0)

/* Header, ip, pid and tid, time. All other samples have registers, or say that they have none. */
#define FAULT_BYTES 32u

/* bp, bx, sp, ip ...: everything but flags and segments. */
#define REGS_MASK 0xff01ffull

struct pt_perf_ring {
    int fd;
    enum pt_perf_kind kind;
    struct perf_event_mmap_page *page;
    pt_u8 *data;
    pt_u64 bytes;               /* of data: a power of two */
    pt_u64 head, tail, glanced; /* `glanced`: up to where samples were shown before they are read */
    pt_u64 next_ns;             /* time of the record at tail; NOTHING = there is none */
};

static long page_bytes(void)
{
    return sysconf(_SC_PAGESIZE);
}

/* ---- opening ---- */

/* No build-ids: the kernel (6.18 still) then marks the records of other tools' events, too, and perf 6.1 dies of it. */
static struct perf_event_attr attributes(pt_u64 period_ns, pt_u32 stack_bytes)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period_ns,
        .sample_type =
            PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .disabled = 1,
        .inherit = 1,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .enable_on_exec = 1,
        .task = 1,
        .wakeup_events = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .sample_regs_user = REGS_MASK,
        .sample_stack_user = stack_bytes,
    };
}

/* The same for another kind of sample; it wakes no process, and the ring of the clock has the other records already. */
static struct perf_event_attr switches_like(const struct perf_event_attr *clock)
{
    struct perf_event_attr attr = *clock;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.sample_period = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = 1u << 30;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 0;
    return attr;
}

/* Faults inside of system calls belong to the system call. */
static struct perf_event_attr faults_like(const struct perf_event_attr *clock)
{
    struct perf_event_attr attr = switches_like(clock);
    attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.sample_regs_user = 0;
    attr.sample_stack_user = 0;
    attr.exclude_kernel = 1;
    return attr;
}

static int open_event(const struct perf_event_attr *attr, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Ordinary users may not sample the kernel. */
static int open_first(struct perf_event_attr *attr, int cpu)
{
    int fd = open_event(attr, cpu);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        attr->exclude_kernel = 1;
        fd = open_event(attr, cpu);
    }
    return fd;
}

static int map_ring(struct pt_perf_ring *ring, pt_u64 most_bytes, pt_u64 least_bytes)
{
    for (pt_u64 bytes = most_bytes; bytes >= least_bytes; bytes /= 2) {
        void *base = mmap(NULL, bytes + (size_t)page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (base == MAP_FAILED)
            continue;
        ring->page = base;
        ring->data = (pt_u8 *)base + page_bytes();
        ring->bytes = bytes;
        return 0;
    }
    return -1;
}

static int add_ring(struct pt_perf_rings *rings, const struct perf_event_attr *attr, int fd)
{
    struct pt_perf_ring *ring = &rings->items[rings->n++];
    *ring = (struct pt_perf_ring){.fd = fd, .next_ns = NOTHING};
    if (map_ring(ring, RING_MAX_BYTES, RING_MIN_BYTES) < 0)
        return -1;
    rings->has[PT_PERF_CLOCK] = true;
    rings->user_only = attr->exclude_kernel;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = rings->n - 1};
    return epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Switches happen in the kernel: without the right to sample it there are none. */
static void add_switches(struct pt_perf_rings *rings, const struct perf_event_attr *clock, int cpu)
{
    const struct perf_event_attr attr = switches_like(clock);
    struct pt_perf_ring ring = {.kind = PT_PERF_SWITCHES, .next_ns = NOTHING};
    ring.fd = clock->exclude_kernel ? -1 : open_event(&attr, cpu);
    if (ring.fd < 0)
        return;
    if (map_ring(&ring, SWITCHES_RING_BYTES, SWITCHES_RING_BYTES) < 0) {
        close(ring.fd);
        return;
    }
    rings->items[rings->n++] = ring;
    rings->has[PT_PERF_SWITCHES] = true;
}

static void add_faults(struct pt_perf_rings *rings, const struct perf_event_attr *clock, int cpu, int clock_fd)
{
    const struct perf_event_attr attr = faults_like(clock);
    const int fd = open_event(&attr, cpu);
    if (fd < 0)
        return;
    rings->fault_fds[rings->n_faults++] = fd;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, clock_fd) == 0)
        return;
    rings->n_faults--;
    close(fd);
}

static int open_all(struct pt_perf_rings *rings, pt_u64 period_ns, pt_u32 stack_bytes, const char **ret_what)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    struct perf_event_attr attr = attributes(period_ns, stack_bytes);
    rings->items = pt_calloc((cpus > 0 ? (size_t)cpus : 1) * PT_PERF__COUNT, sizeof *rings->items);
    rings->fault_fds = pt_calloc(cpus > 0 ? (size_t)cpus : 1, sizeof *rings->fault_fds);
    rings->scratch = pt_malloc(SCRATCH_BYTES);
    rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int cpu = 0; cpu < cpus && rings->epoll_fd >= 0; cpu++) {
        const int fd = rings->n ? open_event(&attr, cpu) : open_first(&attr, cpu);
        if (fd < 0 && errno == ENODEV) /* this CPU is switched off */
            continue;
        *ret_what = fd < 0 ? "perf_event_open" : "kernel.perf_event_mlock_kb is used up by other runs";
        if (fd < 0 || add_ring(rings, &attr, fd) < 0)
            return -1;
        rings->cpus++;
        add_faults(rings, &attr, cpu, fd);
    }
    /* Of what memory the samples leave. */
    for (int cpu = 0; cpu < cpus && rings->n; cpu++)
        add_switches(rings, &attr, cpu);
    rings->has[PT_PERF_FAULTS] = rings->n_faults && rings->n_faults == rings->cpus;
    return rings->n ? 0 : -1;
}

int pt_perf_rings_open(struct pt_perf_rings *rings, pt_u64 period_ns, pt_u32 stack_bytes, struct pt_error *err)
{
    *rings = (struct pt_perf_rings){.epoll_fd = -1};
    const char *what = "perf_event_open";
    if (open_all(rings, period_ns, stack_bytes, &what) == 0)
        return 0;
    const int problem = errno;
    pt_perf_rings_close(rings);
    errno = problem;
    return pt_fail(err, "%s: %s", what, strerror(problem));
}

void pt_perf_rings_close(struct pt_perf_rings *rings)
{
    for (pt_u32 i = 0; i < rings->n; i++) {
        struct pt_perf_ring *ring = &rings->items[i];
        if (ring->page)
            munmap(ring->page, ring->bytes + (size_t)page_bytes());
        close(ring->fd);
    }
    for (pt_u32 i = 0; i < rings->n_faults; i++)
        close(rings->fault_fds[i]);
    if (rings->epoll_fd >= 0)
        close(rings->epoll_fd);
    free(rings->items);
    free(rings->fault_fds);
    free(rings->scratch);
    *rings = (struct pt_perf_rings){.epoll_fd = -1};
}

/* ---- reading ---- */

static void copy_out(const struct pt_perf_ring *ring, pt_u64 at, void *to, pt_u64 n)
{
    const pt_u64 offset = at & (ring->bytes - 1), first = ring->bytes - offset < n ? ring->bytes - offset : n;
    memcpy(to, ring->data + offset, first);
    memcpy((pt_u8 *)to + first, ring->data, n - first);
}

static pt_u64 word_at(const struct pt_perf_ring *ring, pt_u64 at)
{
    pt_u64 word;
    copy_out(ring, at, &word, sizeof word);
    return word;
}

static struct perf_event_header header_at(const struct pt_perf_ring *ring, pt_u64 at)
{
    struct perf_event_header header;
    copy_out(ring, at, &header, sizeof header);
    return header;
}

/* In a sample the time is the third field, in all other records the last one. */
static void peek(struct pt_perf_ring *ring)
{
    ring->next_ns = NOTHING;
    if (ring->head - ring->tail < sizeof(struct perf_event_header))
        return;
    const struct perf_event_header header = header_at(ring, ring->tail);
    const pt_u32 least = header.type == PERF_RECORD_SAMPLE ? 32 : 24;
    if (header.size < least ||
        header.size > ring->head - ring->tail) { /* cannot happen, unless the kernel's format changes */
        ring->tail = ring->head;
        return;
    }
    ring->next_ns = word_at(ring, ring->tail + (header.type == PERF_RECORD_SAMPLE ? 24u : header.size - 8u));
}

void pt_perf_rings_start(struct pt_perf_rings *rings)
{
    for (pt_u32 i = 0; i < rings->n; i++) {
        struct pt_perf_ring *ring = &rings->items[i];
        ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        ring->tail = ring->page->data_tail;
        peek(ring);
    }
}

void pt_perf_rings_stop(struct pt_perf_rings *rings)
{
    for (pt_u32 i = 0; i < rings->n; i++)
        __atomic_store_n(&rings->items[i].page->data_tail, rings->items[i].tail, __ATOMIC_RELEASE);
}

/* Its body is pid, tid and the time. */
static bool waits_from_here(const struct perf_event_header *header)
{
    return header->type == PERF_RECORD_SWITCH && header->size >= 24 && header->misc & PERF_RECORD_MISC_SWITCH_OUT &&
           !(header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
}

bool pt_perf_rings_glance(struct pt_perf_rings *rings, struct pt_perf_glance *ret_glance)
{
    for (pt_u32 i = 0; i < rings->n; i++) {
        struct pt_perf_ring *ring = &rings->items[i];
        const pt_u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail;
        if (ring->kind != PT_PERF_CLOCK)
            continue;
        if ((pt_i64)(ring->glanced - tail) < 0)
            ring->glanced = tail;
        while (head - ring->glanced >= sizeof(struct perf_event_header)) {
            const pt_u64 at = ring->glanced;
            const struct perf_event_header header = header_at(ring, at);
            ring->glanced = header.size < sizeof header || header.size > head - at ? head : at + header.size;
            const bool leaves = waits_from_here(&header);
            if (!leaves && (header.type != PERF_RECORD_SAMPLE || header.size <= FAULT_BYTES))
                continue;
            pt_u32 who[2];
            copy_out(ring, at + (leaves ? 8 : 16), who, sizeof who);
            *ret_glance = (struct pt_perf_glance){leaves, who[0], who[1], word_at(ring, at + (leaves ? 16 : 24))};
            return true;
        }
    }
    return false;
}

bool pt_perf_rings_are_filling(const struct pt_perf_rings *rings)
{
    bool is_filling = false;
    for (pt_u32 i = 0; i < rings->n; i++) {
        const struct pt_perf_ring *ring = &rings->items[i];
        const pt_u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        is_filling |= ring->kind == PT_PERF_CLOCK && head - ring->page->data_tail > ring->bytes / 4;
    }
    return is_filling;
}

static const pt_u8 *in_one_piece(const struct pt_perf_rings *rings, const struct pt_perf_ring *ring, pt_u32 size)
{
    const pt_u64 offset = ring->tail & (ring->bytes - 1);
    if (offset + size <= ring->bytes)
        return ring->data + offset;
    copy_out(ring, ring->tail, rings->scratch, size);
    return rings->scratch;
}

bool pt_perf_rings_next(struct pt_perf_rings *rings, pt_u64 until_ns, struct pt_perf_record *ret_record)
{
    struct pt_perf_ring *first = NULL;
    for (pt_u32 i = 0; i < rings->n; i++)
        if (rings->items[i].next_ns < (first ? first->next_ns : until_ns))
            first = &rings->items[i];
    if (!first)
        return false;
    const struct perf_event_header header = header_at(first, first->tail);
    const pt_u8 *bytes = in_one_piece(rings, first, header.size);
    const bool is_sample = header.type == PERF_RECORD_SAMPLE;
    pt_u32 who[2];
    memcpy(who, bytes + (is_sample ? 16 : header.size - 16), sizeof who);
    *ret_record = (struct pt_perf_record){
        .type = header.type,
        .misc = header.misc,
        .kind = is_sample && header.size == FAULT_BYTES ? PT_PERF_FAULTS : first->kind,
        .pid = who[0],
        .tid = who[1],
        .t_ns = first->next_ns,
        .body = bytes + 8,
        .body_bytes = header.size - (is_sample ? 8u : 24u),
    };
    /* The kernel overwrites nothing before pt_perf_rings_stop gives the room back. */
    first->tail += header.size;
    peek(first);
    return true;
}

bool pt_perf_sample_read(const struct pt_perf_record *record, struct pt_perf_sample *ret_sample)
{
    *ret_sample = (struct pt_perf_sample){0};
    const pt_u8 *at = record->body, *end = at + record->body_bytes;
    pt_u64 word;
    if (end - at < 32)
        return false;
    memcpy(&ret_sample->ip, at, 8);
    memcpy(&word, at + 24, 8); /* after ip, pid and tid, time: the ABI of the registers */
    at += 32;
    if (word == PERF_SAMPLE_REGS_ABI_64) {
        if (end - at < PT_REG__COUNT * 8)
            return false;
        ret_sample->regs = (const pt_u64 *)(const void *)at;
    }
    if (word == PERF_SAMPLE_REGS_ABI_64 || word == PERF_SAMPLE_REGS_ABI_32)
        at += PT_REG__COUNT * 8;
    if (end - at < 8)
        return false;
    memcpy(&word, at, 8);
    at += 8;
    if (!word || (pt_u64)(end - at) < word + 8)
        return true;
    ret_sample->stack = at;
    memcpy(&ret_sample->stack_bytes, at + word, 8); /* how much of it was really copied */
    if (ret_sample->stack_bytes > word)
        ret_sample->stack_bytes = word;
    return true;
}
