/* SPDX-License-Identifier: MIT
 *
 * t_golden.c - every golden story survives the way to trace files and back: its dump, assembled and dumped again, is
 * the same.
 */
#include "helper_trace.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/text/read.h"
#include "model/text/write.h"

static void assemble(FILE *in, const char *name, const char *directory)
{
    struct pt_error err = {0};
    if (pt_session_read_text(in, name, directory, &err) < 0)
        fail_msg("%s", err.text);
    fclose(in);
}

static char *dump(const char *directory)
{
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(directory, &err);
    if (!session)
        fail_msg("%s", err.text);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(pt_session_write_text(session, out, &err), 0);
    fclose(out);
    pt_session_close(session);
    return text;
}

static void empty(const char *directory)
{
    char pattern[64];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.ptr", directory);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
}

static void stories_survive(void **state)
{
    (void)state;
    glob_t stories;
    char directory[] = "/tmp/proftrace-golden-XXXXXX";
    assert_non_null(mkdtemp(directory));
    if (glob("golden/*.pt.txt", 0, NULL, &stories) != 0)
        skip();
    for (size_t i = 0; i < stories.gl_pathc; i++) {
        FILE *story = fopen(stories.gl_pathv[i], "re");
        assert_non_null(story);
        assemble(story, stories.gl_pathv[i], directory);
        char *first = dump(directory);
        empty(directory);
        assemble(fmemopen(first, strlen(first), "r"), stories.gl_pathv[i], directory);
        char *second = dump(directory);
        empty(directory);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
    globfree(&stories);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stories_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
