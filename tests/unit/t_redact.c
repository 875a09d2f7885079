/* SPDX-License-Identifier: MIT
 *
 * t_redact.c - secrets in arguments are hidden, and what only looks like one stays readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/text/redact.h"

struct row {
    const char *previous, *argument, *expected;
};

static void check(const struct row *row)
{
    char *redacted = pt_redact_argument(row->argument, row->previous);
    assert_non_null(redacted);
    assert_string_equal(redacted, row->expected);
    free(redacted);
}

static void secrets_are_hidden(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {NULL, "--password=hunter2", "--password=***"},
        {NULL, "--db-password=hunter2", "--db-password=***"},
        {"--token", "abc", "***"},
        {"--hf-token", "abc", "***"},
        {"-password", "abc", "***"},
        {NULL, "WANDB_API_KEY=0123456789", "WANDB_API_KEY=***"},
        {NULL, "AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=***"},
        {NULL, "Authorization: Bearer eyJh.b.c", "Authorization: Bearer ***"},
        {NULL, "bearer eyJh.b.c", "bearer ***"},
        {NULL, "{\"token\": \"abc\", \"n\": 1}", "{\"token\": \"***\", \"n\": 1}"},
        {NULL, "https://me:pw@host/path", "https://me:***@host/path"},
        {NULL, "http://h/?token=a&x=1", "http://h/?token=***&x=1"},
        {NULL, "AKIAABCDEFGHIJKLMNOP", "***"},
        {NULL, "key:ghp_abcdefghijklmnopqrstuvwx", "key:***"},
        {NULL, "curl -u x --passphrase=\"a b\"", "curl -u x --passphrase=\"*** b\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i]);
}

static void the_rest_stays(void **state)
{
    (void)state;
    static const char *const same[] = {
        "",         "--max-tokens=77", "--tokenizer=bert", "--token-limit=5", "--bypass=1", "https://host:8080/a@b",
        "sk-short", "AKIAtooshort",    "compass:north",    "train.py",        "--token"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        check(&(struct row){NULL, same[i], same[i]});
    check(&(struct row){"--token", "--next", "--next"});
    check(&(struct row){"--tokenizer", "bert", "bert"});
}

/* Built from the pieces that the rules look for: no text may write past the result (seen by the sanitizers). */
static void any_text_is_safe(void **state)
{
    (void)state;
    static const char *const pieces[] = {"token",   "=",    ":",   "://", "@",    "\"", " ",
                                         "Bearer ", "AKIA", "sk-", "a",   "\xff", "-"};
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        for (int i = 0; i < 20; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            strcat(text, pieces[(random >> 33) % (sizeof pieces / sizeof pieces[0])]);
        }
        char *redacted = pt_redact_argument(text, NULL);
        assert_true(strlen(redacted) <= strlen(text) * 3);
        free(redacted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_hidden),
        cmocka_unit_test(the_rest_stays),
        cmocka_unit_test(any_text_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
