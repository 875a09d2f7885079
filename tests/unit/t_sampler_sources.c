/* SPDX-License-Identifier: MIT
 *
 * Sources of samples over made-up /proc and /sys: exact numbers, counters that wrap, files that are not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampler/sampler.h"
#include "sampler/sources/source.h"

struct made_up {
    char root[64], proc[80], sys[80];
    struct pt_samples samples;
    char reasons[PT_RESOURCE__COUNT][PT_REASON_SIZE];
    struct pt_source_host host;
    double values[PT_RESOURCE__COUNT];
    const struct pt_source *source;
    void *state;
};

static int setup(void **state)
{
    struct made_up *m = calloc(1, sizeof *m);
    if (!m)
        return -1;
    strcpy(m->root, "/tmp/sources-XXXXXX");
    if (!mkdtemp(m->root)) {
        free(m);
        return -1;
    }
    snprintf(m->proc, sizeof m->proc, "%s/proc", m->root);
    snprintf(m->sys, sizeof m->sys, "%s/sys", m->root);
    m->host = (struct pt_source_host){
        .proc = m->proc, .sys = m->sys, .samples = &m->samples, .reasons = m->reasons, .no_gpu = true};
    *state = m;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static int teardown(void **state)
{
    struct made_up *m = *state;
    if (m->source)
        m->source->close(m->state);
    free(m->state);
    nftw(m->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(m);
    return 0;
}

static void put(struct made_up *m, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", m->root, name);
    for (char *slash = path + strlen(m->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool begin(struct made_up *m, const struct pt_source *source)
{
    m->source = source;
    m->state = calloc(1, source->state_size);
    const bool serves = source->open(m->state, &m->host);
    if (serves)
        source->look(m->state, &(struct pt_source_look){.values = m->values});
    return serves;
}

static void look(struct made_up *m, double interval_s)
{
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        m->values[i] = NAN;
    m->source->look(m->state, &(struct pt_source_look){.values = m->values, .interval_s = interval_s, .t_ns = 1});
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

/* ---- network ---- */

static const char net_head[] = "Inter-|   Receive  |  Transmit\n face |bytes packets | bytes\n";

static void put_net(struct made_up *m, const char *rows)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", net_head, rows);
    put(m, "proc/net/dev", text);
}

static void network_counts_from_the_start(void **state)
{
    struct made_up *m = *state;
    put_net(m, "    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n");
    assert_true(begin(m, &pt_source_network));
    put_net(m, "    lo: 700 1 0 0 0 0 0 0 700 1 0 0 0 0 0 0\n  eth0:1500 1 0 0 0 0 0 0 2100 1 0 0 0 0 0 0\n"
               "veth9.1: 40 1 0 0 0 0 0 0 60 1 0 0 0 0 0 0\n");
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_net_receive_bytes], 540);
    assert_near(m->values[PT_RESOURCE_net_send_bytes], 160);
    assert_near(m->values[PT_RESOURCE_net_loopback_bytes], 200);
    /* eth0 is gone and made anew: what it had stays counted, the new one counts from 0. */
    put_net(m, "    lo: 700 1 0 0 0 0 0 0 700 1 0 0 0 0 0 0\n");
    look(m, 1);
    put_net(m, "    lo: 700 1 0 0 0 0 0 0 700 1 0 0 0 0 0 0\n  eth0: 7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n");
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_net_receive_bytes], 547);
    assert_near(m->values[PT_RESOURCE_net_send_bytes], 169);
}

static void no_network_has_a_reason(void **state)
{
    struct made_up *m = *state;
    assert_false(begin(m, &pt_source_network));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_net_send_bytes], "net/dev"));
}

/* ---- pressure ---- */

static void put_pressure(struct made_up *m, const char *kind, unsigned long total_us)
{
    char name[40], text[200];
    snprintf(name, sizeof name, "proc/pressure/%s", kind);
    snprintf(text, sizeof text,
             "some avg10=99.00 avg60=99.00 avg300=99.00 total=%lu\nfull avg10=0 avg60=0 avg300=0 total=1\n", total_us);
    put(m, name, text);
}

static void pressure_is_that_of_the_interval(void **state)
{
    struct made_up *m = *state;
    put_pressure(m, "cpu", 5000000);
    put_pressure(m, "io", 70);
    assert_true(begin(m, &pt_source_pressure));
    put_pressure(m, "cpu", 5125000);
    look(m, 0.5);
    assert_near(m->values[PT_RESOURCE_cpu_pressure_percent], 25);
    assert_near(m->values[PT_RESOURCE_io_pressure_percent], 0);
    assert_true(isnan(m->values[PT_RESOURCE_memory_pressure_percent]));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_memory_pressure_percent], "this kernel has no"));
    assert_int_equal(m->reasons[PT_RESOURCE_cpu_pressure_percent][0], 0);
}

/* ---- the control group ---- */

static void put_group(struct made_up *m, unsigned long total_us, unsigned long refaults)
{
    char text[200];
    put(m, "proc/self/cgroup", "0::/user/train\n");
    put(m, "sys/fs/cgroup/user/train/cgroup.type", "domain\n");
    snprintf(text, sizeof text, "some avg10=0 avg60=0 avg300=0 total=%lu\nfull avg10=0 total=1\n", total_us);
    put(m, "sys/fs/cgroup/user/train/memory.pressure", text);
    snprintf(text, sizeof text, "anon 5\nworkingset_refault_anon %lu\nworkingset_refault_file 3\n", refaults);
    put(m, "sys/fs/cgroup/user/train/memory.stat", text);
}

static void memory_of_the_own_group(void **state)
{
    struct made_up *m = *state;
    put_group(m, 1000000, 70);
    assert_true(begin(m, &pt_source_group));
    put_group(m, 1200000, 90);
    look(m, 0.5);
    assert_near(m->values[PT_RESOURCE_group_memory_pressure_percent], 40);
    assert_near(m->values[PT_RESOURCE_group_refaults], 20);
}

/* The root of all groups is the machine; version 1 beside version 2 counts refaults but no pressure. */
static void the_root_is_no_group(void **state)
{
    struct made_up *m = *state;
    put(m, "proc/self/cgroup", "4:memory:/a/b\n0::/\n");
    put(m, "sys/fs/cgroup/unified/memory.pressure", "some avg10=0 avg60=0 avg300=0 total=7\n");
    put(m, "sys/fs/cgroup/memory/release_agent", "\n");
    put(m, "sys/fs/cgroup/memory/memory.stat", "total_workingset_refault_anon 99\n");
    assert_false(begin(m, &pt_source_group));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_group_memory_pressure_percent], "memory.pressure"));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_group_refaults], "memory.stat"));
    m->source->close(m->state);
    free(m->state);
    put(m, "sys/fs/cgroup/memory/a/b/memory.stat", "workingset_refault_anon 1\ntotal_workingset_refault_anon 9\n");
    assert_true(begin(m, &pt_source_group));
    put(m, "sys/fs/cgroup/memory/a/b/memory.stat", "workingset_refault_anon 1\ntotal_workingset_refault_anon 12\n");
    look(m, 0.5);
    assert_true(isnan(m->values[PT_RESOURCE_group_memory_pressure_percent]));
    assert_near(m->values[PT_RESOURCE_group_refaults], 3);
}

/* ---- the machine ---- */

static void machine_percent(void **state)
{
    struct made_up *m = *state;
    put(m, "proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1\n");
    put(m, "proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\n");
    put(m, "proc/diskstats",
        "   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 259 0 nvme0n1 1 0 8 1 1 0 8 1 0 1000 2\n"
        " 259 1 nvme0n1p1 1 0 8 1 1 0 8 1 0 1000 2\n 8 0 cciss/c0d0 1 0 8 1 1 0 8 1 0 50 2\n");
    put(m, "sys/block/nvme0n1/size", "1\n");
    put(m, "sys/block/cciss!c0d0/size", "1\n");
    assert_true(begin(m, &pt_source_machine));
    put(m, "proc/stat", "cpu  130 0 100 740 110 0 0 20 0 0\ncpu0 1 1 1 1\n");
    put(m, "proc/diskstats",
        "   7 0 loop0 0 0 0 0 0 0 0 0 0 900 0\n 259 0 nvme0n1 1 0 8 1 1 0 8 1 0 1100 2\n"
        " 259 1 nvme0n1p1 1 0 8 1 1 0 8 1 0 9000 2\n 8 0 cciss/c0d0 1 0 8 1 1 0 8 1 0 350 2\n");
    look(m, 0.5);
    assert_near(m->values[PT_RESOURCE_machine_cpu_percent], 50);
    assert_near(m->values[PT_RESOURCE_machine_stolen_percent], 20);
    assert_near(m->values[PT_RESOURCE_machine_memory_percent], 60);
    assert_near(m->values[PT_RESOURCE_disk_busy_percent], 60); /* 300 ms of 500 */
}

static void nearest_memory_limit(void **state)
{
    struct made_up *m = *state;
    put(m, "proc/stat", "cpu  1 1 1 1 1 1 1 1\n");
    put(m, "proc/meminfo", "MemTotal:  1000000 kB\nMemAvailable:  900000 kB\n");
    put(m, "proc/self/cgroup", "0::/a/b\n");
    put(m, "sys/fs/cgroup/a/memory.max", "1000000\n");
    put(m, "sys/fs/cgroup/a/memory.current", "900000\n");
    put(m, "sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 150000\nactive_file 3\n");
    put(m, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(m, "sys/fs/cgroup/a/b/memory.current", "900000\n");
    begin(m, &pt_source_machine);
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_machine_memory_percent], 75);
    assert_non_null(strstr(m->reasons[PT_RESOURCE_disk_busy_percent], "diskstats"));
}

static void memory_limit_of_version_1(void **state)
{
    struct made_up *m = *state;
    put(m, "proc/stat", "cpu  1 1 1 1 1 1 1 1\n");
    put(m, "proc/meminfo", "MemTotal:  1000000 kB\nMemAvailable:  900000 kB\n");
    put(m, "proc/self/cgroup", "9:name=systemd:/x\n4:hugetlb,memory:/of/the/host\n0::/\n");
    put(m, "sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"); /* the container sees its own as the root */
    put(m, "sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
    put(m, "sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 200000\n");
    begin(m, &pt_source_machine);
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_machine_memory_percent], 40);
}

/* ---- power ---- */

static void put_zone(struct made_up *m, const char *zone, const char *name, const char *energy)
{
    char path[120];
    snprintf(path, sizeof path, "sys/class/powercap/%s/name", zone);
    put(m, path, name);
    snprintf(path, sizeof path, "sys/class/powercap/%s/max_energy_range_uj", zone);
    put(m, path, "262143328850\n");
    snprintf(path, sizeof path, "sys/class/powercap/%s/energy_uj", zone);
    put(m, path, energy);
}

static void energy_of_packages_and_their_memory(void **state)
{
    struct made_up *m = *state;
    put_zone(m, "intel-rapl:0", "package-0\n", "1000000\n");
    put_zone(m, "intel-rapl:0:0", "core\n", "1000000\n");
    put_zone(m, "intel-rapl:0:1", "dram\n", "2000000\n");
    put_zone(m, "intel-rapl:1", "package-1\n", "262143000000\n");
    put_zone(m, "intel-rapl:2", "psys\n", "1000000\n");
    put_zone(m, "intel-rapl-mmio:0", "package-0\n", "1000000\n");
    assert_true(begin(m, &pt_source_power));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_cpu_temperature_c], "no sensor"));
    put_zone(m, "intel-rapl:0", "package-0\n", "51000000\n");
    put_zone(m, "intel-rapl:0:0", "core\n", "41000000\n");
    put_zone(m, "intel-rapl:0:1", "dram\n", "5000000\n");
    put_zone(m, "intel-rapl:1", "package-1\n", "671150\n"); /* it has wrapped: 1 J */
    put_zone(m, "intel-rapl:2", "psys\n", "900000000\n");
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_cpu_energy_j], 50 + 3 + 1);
}

static void energy_that_only_root_may_read(void **state)
{
    struct made_up *m = *state;
    put_zone(m, "intel-rapl:0", "package-0\n", "1000000\n");
    put_zone(m, "intel-rapl:1", "package-1\n", "1000000\n");
    char path[160];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", m->sys);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(m->root, 0755), 0);
    const bool is_root = geteuid() == 0;
    assert_true(!is_root || seteuid(65534) == 0);
    const bool serves = begin(m, &pt_source_power);
    assert_true(!is_root || seteuid(0) == 0);
    assert_false(serves); /* nor the other package alone: the sum would be too small */
    assert_non_null(strstr(m->reasons[PT_RESOURCE_cpu_energy_j], "readable by root only"));
}

static void hottest_package(void **state)
{
    struct made_up *m = *state;
    put(m, "sys/class/hwmon/hwmon0/name", "nvme\n");
    put(m, "sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    for (int i = 2; i < 4; i++) {
        char path[80];
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/name", i);
        put(m, path, "coretemp\n");
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/temp1_label", i);
        put(m, path, i == 2 ? "Package id 0\n" : "Package id 1\n");
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/temp1_input", i);
        put(m, path, i == 2 ? "55000\n" : "61500\n");
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/temp2_label", i);
        put(m, path, "Core 0\n");
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/temp2_input", i);
        put(m, path, "80000\n");
    }
    assert_true(begin(m, &pt_source_power));
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_cpu_temperature_c], 61.5);
    assert_true(isnan(m->values[PT_RESOURCE_cpu_energy_j]));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_cpu_energy_j], "no energy counters"));
}

static void thermal_zone_without_sensors(void **state)
{
    struct made_up *m = *state;
    put(m, "sys/class/thermal/thermal_zone0/type", "acpitz\n");
    put(m, "sys/class/thermal/thermal_zone0/temp", "20000\n");
    put(m, "sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    put(m, "sys/class/thermal/thermal_zone1/temp", "48000\n");
    assert_true(begin(m, &pt_source_power));
    look(m, 1);
    assert_near(m->values[PT_RESOURCE_cpu_temperature_c], 48);
}

/* ---- rubbish ---- */

static void damaged_files_leave_values_unknown(void **state)
{
    struct made_up *m = *state;
    put(m, "proc/stat", "cpu");
    put(m, "proc/meminfo", "MemTotal: kB\n");
    put(m, "proc/diskstats", "1 2\n\n\nx y z\n 8 0 sda\n");
    put(m, "proc/self/cgroup", "::::\n0\n0:\n4:memory");
    put(m, "sys/block/sda/size", "1\n");
    begin(m, &pt_source_machine);
    look(m, 1);
    assert_true(isnan(m->values[PT_RESOURCE_machine_cpu_percent]));
    assert_true(isnan(m->values[PT_RESOURCE_machine_memory_percent]));
}

static void switched_off_gpu_says_so(void **state)
{
    struct made_up *m = *state;
    assert_false(begin(m, &pt_source_gpu));
    assert_non_null(strstr(m->reasons[PT_RESOURCE_gpu_energy_j], "--no-gpu-sampling"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(network_counts_from_the_start),
        TEST(no_network_has_a_reason),
        TEST(pressure_is_that_of_the_interval),
        TEST(memory_of_the_own_group),
        TEST(the_root_is_no_group),
        TEST(machine_percent),
        TEST(nearest_memory_limit),
        TEST(memory_limit_of_version_1),
        TEST(energy_of_packages_and_their_memory),
        TEST(energy_that_only_root_may_read),
        TEST(hottest_package),
        TEST(thermal_zone_without_sensors),
        TEST(damaged_files_leave_values_unknown),
        TEST(switched_off_gpu_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
