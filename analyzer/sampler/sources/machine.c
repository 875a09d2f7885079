/* SPDX-License-Identifier: MIT
 *
 * sources/machine.c - Owns: what the whole machine does, for the stage and all others: CPUs, memory, disks. Threads:
 * main only. Never: attributes it to a process.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/memory_limit.h"
#include "util/small_file.h"
#include "source.h"

enum { DISKS_MAX = 512, DISK_NAME_SIZE = 48, FIELD_BUSY_MS = 9 };

struct disk {
    char name[DISK_NAME_SIZE];
    bool is_whole; /* not a partition, not memory in disguise */
    pt_u64 busy_ms;
};

struct machine {
    const char *sys;
    int stat_fd, disks_fd;
    pt_u64 busy_ticks, stolen_ticks, all_ticks;
    struct pt_memory_limit memory;
    struct disk disks[DISKS_MAX];
    size_t n_disks;
    char text[65536];
};

/* ---- CPUs ---- */

/* user nice system idle iowait irq softirq steal; guests are within user already. */
static void look_at_cpus(struct machine *machine, struct pt_source_look *look)
{
    if (machine->stat_fd < 0 || pt_small_file_read(machine->stat_fd, machine->text, 512) <= 0 ||
        strncmp(machine->text, "cpu ", 4) != 0)
        return;
    pt_u64 ticks[8] = {0}, all = 0;
    char *at = machine->text + 4;
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        ticks[i] = strtoull(at, &at, 10);
        all += ticks[i];
    }
    const pt_u64 busy = all - ticks[3] - ticks[4], stolen = ticks[7];
    /* iowait is known to step back now and then. */
    if (look->interval_s > 0 && all > machine->all_ticks && busy >= machine->busy_ticks)
        look->values[PT_RESOURCE_machine_cpu_percent] =
            fmin(100, 100.0 * (double)(busy - machine->busy_ticks) / (double)(all - machine->all_ticks));
    if (look->interval_s > 0 && all > machine->all_ticks && stolen >= machine->stolen_ticks)
        look->values[PT_RESOURCE_machine_stolen_percent] =
            fmin(100, 100.0 * (double)(stolen - machine->stolen_ticks) / (double)(all - machine->all_ticks));
    machine->busy_ticks = busy;
    machine->stolen_ticks = stolen;
    machine->all_ticks = all;
}

/* ---- disks ---- */

static bool is_whole_disk(const struct machine *machine, const char *name)
{
    if (!strncmp(name, "loop", 4) || !strncmp(name, "ram", 3) || !strncmp(name, "zram", 4))
        return false;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/block/%s", machine->sys, name);
    for (char *at = path + strlen(path) - strlen(name); (at = strchr(at, '/'));)
        *at = '!'; /* cciss/c0d0 is cciss!c0d0 there */
    return access(path, F_OK) == 0;
}

static struct disk *disk_of(struct machine *machine, const char *name, size_t at)
{
    if (at < machine->n_disks && !strcmp(machine->disks[at].name, name))
        return &machine->disks[at]; /* the order seldom changes */
    for (size_t i = 0; i < machine->n_disks; i++)
        if (!strcmp(machine->disks[i].name, name))
            return &machine->disks[i];
    if (machine->n_disks == DISKS_MAX)
        return NULL;
    struct disk *disk = &machine->disks[machine->n_disks++];
    *disk = (struct disk){.is_whole = is_whole_disk(machine, name)};
    snprintf(disk->name, sizeof disk->name, "%s", name);
    return disk;
}

static double disk_busy_percent(struct machine *machine, const char *line, size_t at, double interval_s)
{
    char name[DISK_NAME_SIZE];
    int consumed = 0;
    if (sscanf(line, "%*u %*u %47s%n", name, &consumed) != 1)
        return NAN;
    struct disk *disk = disk_of(machine, name, at);
    if (!disk || !disk->is_whole)
        return NAN;
    pt_u64 busy_ms = 0;
    char *rest = (char *)(size_t)line + consumed;
    for (int field = 0; field <= FIELD_BUSY_MS; field++)
        busy_ms = strtoull(rest, &rest, 10);
    const pt_u64 before_ms = disk->busy_ms;
    disk->busy_ms = busy_ms;
    if (interval_s <= 0 || busy_ms < before_ms)
        return NAN;
    return fmin(100, (double)(busy_ms - before_ms) / 10 / interval_s);
}

static void look_at_disks(struct machine *machine, struct pt_source_look *look)
{
    if (machine->disks_fd < 0 || pt_small_file_read(machine->disks_fd, machine->text, sizeof machine->text) <= 0)
        return;
    double busiest = NAN;
    size_t at = 0;
    char *rest = machine->text;
    for (char *line; (line = strsep(&rest, "\n")); at++)
        if (*line)
            busiest = fmax(busiest, disk_busy_percent(machine, line, at, look->interval_s));
    look->values[PT_RESOURCE_disk_busy_percent] = busiest;
}

static bool has_whole_disk(struct machine *machine)
{
    for (size_t i = 0; i < machine->n_disks; i++)
        if (machine->disks[i].is_whole)
            return true;
    return false;
}

/* ---- all ---- */

static bool open_machine(void *state, const struct pt_source_host *host)
{
    struct machine *machine = state;
    machine->sys = host->sys;
    machine->stat_fd = pt_small_file_open("%s/stat", host->proc);
    if (machine->stat_fd < 0) {
        pt_source_unknown(host, PT_RESOURCE_machine_cpu_percent, "%s/stat: %s", host->proc, strerror(errno));
        pt_source_unknown(host, PT_RESOURCE_machine_stolen_percent, "%s/stat: %s", host->proc, strerror(errno));
    }
    if (pt_memory_limit_open(&machine->memory, host->proc, host->sys) < 0)
        pt_source_unknown(host, PT_RESOURCE_machine_memory_percent, "%s/meminfo: %s", host->proc, strerror(errno));
    machine->disks_fd = pt_small_file_open("%s/diskstats", host->proc);
    if (machine->disks_fd < 0) {
        pt_source_unknown(host, PT_RESOURCE_disk_busy_percent, "%s/diskstats: %s", host->proc, strerror(errno));
        return true;
    }
    double ignored[PT_RESOURCE__COUNT];
    look_at_disks(machine, &(struct pt_source_look){.values = ignored});
    if (!has_whole_disk(machine))
        pt_source_unknown(host, PT_RESOURCE_disk_busy_percent, "%s/diskstats shows no disk here", host->proc);
    return true;
}

static void look_at_machine(void *state, struct pt_source_look *look)
{
    struct machine *machine = state;
    look_at_cpus(machine, look);
    if (machine->memory.meminfo_fd >= 0)
        look->values[PT_RESOURCE_machine_memory_percent] = pt_memory_limit_percent(&machine->memory);
    look_at_disks(machine, look);
}

static void close_machine(void *state)
{
    struct machine *machine = state;
    if (machine->stat_fd >= 0)
        close(machine->stat_fd);
    if (machine->disks_fd >= 0)
        close(machine->disks_fd);
    pt_memory_limit_close(&machine->memory);
}

const struct pt_source pt_source_machine = {
    .name = "machine",
    .state_size = sizeof(struct machine),
    .open = open_machine,
    .look = look_at_machine,
    .close = close_machine,
};
