/* SPDX-License-Identifier: MIT
 *
 * t_usable_cpus.c - how many CPUs a job may use, by its affinity and by the quotas of control groups of both versions.
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "helper_files.h"
#include "sampler/usable_cpus.h"

static double allowed(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

static void folders(void)
{
    static const char *const all[] = {"proc",
                                      "proc/self",
                                      "sys",
                                      "sys/fs",
                                      "sys/fs/cgroup",
                                      "sys/fs/cgroup/job",
                                      "sys/fs/cgroup/job/step",
                                      "sys/fs/cgroup/cpu",
                                      "sys/fs/cgroup/cpu/docker"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(mkdir(all[i], 0755), 0);
}

/* The nearest limit counts, wherever it is; "max" is none. */
static void quotas(void **state)
{
    (void)state;
    folders();
    assert_true(pt_usable_cpus("proc", "sys") == allowed());
    write_text("proc/self/cgroup", "0::/job/step\n");
    write_text("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    assert_true(pt_usable_cpus("proc", "sys") == allowed());
    write_text("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
    assert_true(pt_usable_cpus("proc", "sys") == 1);
    write_text("sys/fs/cgroup/job/cpu.max", "100000000 100000\n");
    assert_true(pt_usable_cpus("proc", "sys") == allowed());
    write_text("sys/fs/cgroup/job/cpu.max", "rubbish\n");
    assert_true(pt_usable_cpus("proc", "sys") == allowed());
}

static void quotas_of_version_1(void **state)
{
    (void)state;
    write_text("proc/self/cgroup", "4:cpu,cpuacct:/docker\n0::/none\n");
    write_text("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "-1\n");
    write_text("sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "100000\n");
    assert_true(pt_usable_cpus("proc", "sys") == allowed());
    write_text("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "90000\n");
    assert_true(pt_usable_cpus("proc", "sys") == 1);
}

static void affinity(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_true(pt_usable_cpus("none", "none") == 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas),
        cmocka_unit_test(quotas_of_version_1),
        cmocka_unit_test(affinity),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
