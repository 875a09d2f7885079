/* SPDX-License-Identifier: MIT
 *
 * sources/pressure.c - Owns: pressure stall information: the kernel's count of the time in which some task of the
 * machine waited for a CPU, for memory, for I/O. Threads: main only. Never: uses the kernel's own averages: they reach
 * back before the stage.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "util/small_file.h"
#include "source.h"

static const struct {
    const char *file;
    enum pt_resource resource;
} kinds[] = {
    {"cpu", PT_RESOURCE_cpu_pressure_percent},
    {"memory", PT_RESOURCE_memory_pressure_percent},
    {"io", PT_RESOURCE_io_pressure_percent},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

struct pressure {
    int fds[N_KINDS];
    pt_u64 total_us[N_KINDS];
};

static bool read_total(int fd, pt_u64 *ret_us)
{
    char text[256];
    if (pt_small_file_read(fd, text, sizeof text) <= 0)
        return false;
    const char *line = strstr(text, "some ");
    const char *total = line ? strstr(line, "total=") : NULL;
    return total && pt_small_file_number(total, "total=", ret_us);
}

static bool open_pressure(void *state, const struct pt_source_host *host)
{
    struct pressure *pressure = state;
    bool any = false;
    for (size_t i = 0; i < N_KINDS; i++) {
        pressure->fds[i] = pt_small_file_open("%s/pressure/%s", host->proc, kinds[i].file);
        errno = pressure->fds[i] < 0 ? errno : 0;
        if (pressure->fds[i] >= 0 && read_total(pressure->fds[i], &pressure->total_us[i])) {
            any = true;
            continue;
        }
        if (errno == ENOENT)
            pt_source_unknown(host, kinds[i].resource, "this kernel has no %s/pressure/%s", host->proc, kinds[i].file);
        else if (errno == EOPNOTSUPP)
            pt_source_unknown(host, kinds[i].resource, "pressure is switched off; psi=1 on the kernel's command line");
        else
            pt_source_unknown(host, kinds[i].resource, "%s/pressure/%s: %s", host->proc, kinds[i].file,
                              errno ? strerror(errno) : "it holds no total");
        if (pressure->fds[i] >= 0)
            close(pressure->fds[i]);
        pressure->fds[i] = -1;
    }
    return any;
}

static void look_at_pressure(void *state, struct pt_source_look *look)
{
    struct pressure *pressure = state;
    for (size_t i = 0; i < N_KINDS; i++) {
        pt_u64 total_us;
        if (pressure->fds[i] < 0 || !read_total(pressure->fds[i], &total_us))
            continue;
        /* The kernel adds up every 2 s or when it is read: the end of one interval may be counted in the next. */
        if (look->interval_s > 0 && total_us >= pressure->total_us[i])
            look->values[kinds[i].resource] =
                fmin(100, (double)(total_us - pressure->total_us[i]) / 1e4 / look->interval_s);
        pressure->total_us[i] = total_us;
    }
}

static void close_pressure(void *state)
{
    struct pressure *pressure = state;
    for (size_t i = 0; i < N_KINDS; i++)
        if (pressure->fds[i] >= 0)
            close(pressure->fds[i]);
}

const struct pt_source pt_source_pressure = {
    .name = "pressure",
    .state_size = sizeof(struct pressure),
    .open = open_pressure,
    .look = look_at_pressure,
    .close = close_pressure,
};
