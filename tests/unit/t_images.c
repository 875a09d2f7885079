/* SPDX-License-Identifier: MIT
 *
 * t_images.c - which processes of one id are one process, by exec, and which only have its number again.
 */
#include "helper_story.h"

#include <string.h>

/* The second process with the id 200, which began so long after the first one became another program. */
static const struct pt_process *second_of(struct story *story, const char *start, const char *machine)
{
    story_begin(story);
    story_process(story, 100, "a");
    fprintf(
        story->text,
        "process 200 ppid=100 trace_id=0x200 start=0.500000000 end=1.000000000 state=execed boot=\"b\" stage=\"a\"\n"
        "thread 200/200 slot=0 life=1 start=0.500000000\n"
        "process 200#1 ppid=100 trace_id=0x201 start=%s end=5000.000000000 state=exited boot=\"%s\" stage=\"a\"\n"
        "thread 200#1/200 slot=0 life=1 start=%s\n",
        start, machine, start);
    story_analyze(story);
    const struct pt_session *session = story->profile.session;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->trace_id == 0x201)
            return session->processes[i];
    fail_msg("no second process");
    return NULL;
}

static void the_next_program_is_the_same_process(void **state)
{
    (void)state;
    struct story story;
    const struct pt_process *second = second_of(&story, "1.200000000", "b");
    assert_non_null(second->previous_image);
    assert_int_equal(second->previous_image->trace_id, 0x200);
    story_end(&story);
}

/* It became a program that is not traced, and ended; long after, somebody else got its number. */
static void a_number_given_out_again_is_another_process(void **state)
{
    (void)state;
    struct story story;
    assert_null(second_of(&story, "3000.000000000", "b")->previous_image);
    story_end(&story);
}

static void a_number_of_another_machine_is_another_process(void **state)
{
    (void)state;
    struct story story;
    assert_null(second_of(&story, "1.200000000", "c")->previous_image);
    story_end(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_program_is_the_same_process),
        cmocka_unit_test(a_number_given_out_again_is_another_process),
        cmocka_unit_test(a_number_of_another_machine_is_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
