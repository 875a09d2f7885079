/* SPDX-License-Identifier: MIT
 *
 * t_cgroup.c - which control groups a process is in, by /proc/self/cgroup of version 1, of version 2 and of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "helper_files.h"
#include "sampler/cgroup.h"

/* All groups from each up to its root, as "VERSION:PATH PATH ...; ". */
static void check(const char *lines, const char *controller, const char *expected)
{
    char seen[256] = "";
    struct pt_cgroups groups;
    struct pt_cgroup group;
    if (lines)
        write_text("proc/self/cgroup", lines);
    pt_cgroups_read(&groups, lines ? "proc" : "none");
    while (pt_cgroups_next(&groups, controller, &group)) {
        strcat(seen, group.is_version_2 ? "2:" : "1:");
        do
            strcat(strcat(seen, group.path), "/ ");
        while (pt_cgroup_go_up(group.path));
        strcat(seen, "; ");
    }
    assert_string_equal(seen, expected);
}

static void versions(void **state)
{
    (void)state;
    assert_int_equal(mkdir("proc", 0755), 0);
    assert_int_equal(mkdir("proc/self", 0755), 0);
    check("0::/user.slice/train\n", "memory", "2:/user.slice/train/ /user.slice/ / ; ");
    check("0::/\n", "cpu", "2:/ ; ");
    static const char old[] = "5:cpuset:/\n4:cpu,cpuacct:/a/b\n3:hugetlb,memory:/docker/1:2\n1:name=systemd:/init\n";
    check(old, "cpu", "1:/a/b/ /a/ / ; ");
    check(old, "memory", "1:/docker/1:2/ /docker/ / ; ");
    check(old, "blkio", "");
    check("4:memory:/a\n0::/b\n", "memory", "1:/a/ / ; 2:/b/ / ; ");
    check("4:memory:/a\n0::/b\n", "cpu", "2:/b/ / ; ");
}

static void rubbish(void **state)
{
    (void)state;
    check(NULL, "memory", "");
    check("", "memory", "");
    check("4\n4:memory\n\n::\n::::\n", "memory", "2:/ ; 2:::/ ; ");
    check("4:memory:/a", "memory", "1:/a/ / ; "); /* cut */
}

static void folders(void **state)
{
    (void)state;
    char folder[PATH_MAX], long_path[PATH_MAX] = "";
    assert_true(pt_cgroup_folder(folder, "/sys", "/memory", "/a/b"));
    assert_string_equal(folder, "/sys/fs/cgroup/memory/a/b");
    assert_true(pt_cgroup_folder(folder, "/sys", "", ""));
    assert_string_equal(folder, "/sys/fs/cgroup");
    memset(long_path, 'x', sizeof long_path - 1);
    assert_false(pt_cgroup_folder(folder, "/sys", "", long_path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(rubbish),
        cmocka_unit_test(folders),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
