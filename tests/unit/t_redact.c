/* SPDX-License-Identifier: MIT
 *
 * t_redact.c - secrets in command lines are hidden, and what only looks like one stays readable. The rule is one for
 * both halves: include/proftrace/redact.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/text/redact.h"

enum { MOST_ARGUMENTS = 6 };

/* Arguments one after another, and what becomes of them. */
struct row {
    const char *given[MOST_ARGUMENTS], *expected[MOST_ARGUMENTS];
};

static void check(const char *const given[MOST_ARGUMENTS], const char *const expected[MOST_ARGUMENTS])
{
    struct pt_redact_line line = {0};
    for (int i = 0; i < MOST_ARGUMENTS && given[i]; i++) {
        char *redacted = pt_redacted(given[i], &line);
        assert_non_null(redacted);
        assert_string_equal(redacted, expected[i]);
        free(redacted);
    }
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check(rows[i].given, rows[i].expected);
        check(rows[i].expected, rows[i].expected); /* what the library has hidden, the reports hide again */
    }
}
#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void values_of_names(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"--password=hunter2"}, {"--password=***"}},
        {{"--password=a b;c&d\"e"}, {"--password=***"}},
        {{"--db-password=hunter2"}, {"--db-password=***"}},
        {{"--password2=hunter2"}, {"--password2=***"}},
        {{"-Da.b.password=hunter2"}, {"-Da.b.password=***"}},
        {{"PGPASSWORD=hunter2"}, {"PGPASSWORD=***"}},
        {{"PASSWORD_OF_DB=hunter2"}, {"PASSWORD_OF_DB=***"}},
        {{"--secrets=hunter2"}, {"--secrets=***"}},
        {{"--hfToken=abc"}, {"--hfToken=***"}},
        {{"--auth-token:abc"}, {"--auth-token:***"}},
        {{"WANDB_API_KEY=0123456789"}, {"WANDB_API_KEY=***"}},
        {{"clientApiKey=0123456789"}, {"clientApiKey=***"}},
        {{"AWS_SECRET_ACCESS_KEY=a/b+c"}, {"AWS_SECRET_ACCESS_KEY=***"}},
        {{"--pass=x", "--auth=x", "MYSQL_PWD=x"}, {"--pass=***", "--auth=***", "MYSQL_PWD=***"}},
        {{"X-Api-Key: abc"}, {"X-Api-Key: ***"}},
        {{"Server=db;Pwd=abc;Timeout=3"}, {"Server=db;Pwd=***;Timeout=3"}},
    };
    CHECK(rows);
}

static void values_of_their_own(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"--token", "abc", "x"}, {"--token", "***", "x"}},
        {{"--hf-token", "abc"}, {"--hf-token", "***"}},
        {{"-password", "two words"}, {"-password", "***"}},
        {{"--password=", "abc", "x"}, {"--password=", "***", "x"}},
        {{"-H", "Authorization:", "Bearer", "abc", "x"}, {"-H", "Authorization:", "Bearer", "***", "x"}},
        {{"-H", "X-Api-Key:", "abc"}, {"-H", "X-Api-Key:", "***"}},
        {{"--token", "--next", "abc"}, {"--token", "--next", "abc"}},
    };
    CHECK(rows);
}

static void headers_and_json(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"Authorization: Bearer eyJh.b.c"}, {"Authorization: Bearer ***"}},
        {{"Authorization: Digest username=\"me\", response=\"abc\""}, {"Authorization: Digest ***"}},
        {{"bearer eyJh.b.c"}, {"bearer ***"}},
        {{"{\"token\": \"abc\", \"n\": 1}"}, {"{\"token\": \"***\", \"n\": 1}"}},
        {{"{\"password\":\"two words\"}"}, {"{\"password\":\"***\"}"}},
        {{"password = \"two words\"; n = 1"}, {"password = \"***\"; n = 1"}},
        {{"curl -H 'Authorization: Bearer abc' h"}, {"curl -H 'Authorization: Bearer ***' h"}},
        {{"curl -H \"X-Api-Key: a b\" h"}, {"curl -H \"X-Api-Key: ***\" h"}},
    };
    CHECK(rows);
}

static void urls(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"https://me:pw@host/path"}, {"https://me:***@host/path"}},
        {{"https://me:p@w@host/path"}, {"https://me:***@host/path"}},
        {{"postgres://me:pw@host:5432/db"}, {"postgres://me:***@host:5432/db"}},
        {{"https://abcdef@github.com/o/r"}, {"https://***@github.com/o/r"}},
        {{"https://ghp_abcdefghijklmnopqrstuvwx:x@github.com/o/r"}, {"https://***:***@github.com/o/r"}},
        {{"http://h/?token=a&x=1"}, {"http://h/?token=***&x=1"}},
        {{"http://h/x?a=1&X-Amz-Signature=abc"}, {"http://h/x?a=1&X-Amz-Signature=***"}},
        {{"http://h/x?sig=abc&b=2"}, {"http://h/x?sig=***&b=2"}},
    };
    CHECK(rows);
}

static void keys_by_their_shape(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"AKIAABCDEFGHIJKLMNOP"}, {"***"}},
        {{"key:ghp_abcdefghijklmnopqrstuvwx"}, {"key:***"}},
        {{"--jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}, {"--jwt", "***"}},
    };
    CHECK(rows);
}

/* What a shell gets: one argument, many words. */
static void commands_in_an_argument(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"sh", "-c", "true --password abc --epochs 3"}, {"sh", "-c", "true --password *** --epochs 3"}},
        {{"bash", "-lc", "TOKEN=abc train.py --lr 3"}, {"bash", "-lc", "TOKEN=*** train.py --lr 3"}},
        {{"sh", "-c", "export SECRET_KEY=abc; train"}, {"sh", "-c", "export SECRET_KEY=***; train"}},
        {{"sh", "-c", "x \"--token=a b\" y"}, {"sh", "-c", "x \"--token=***\" y"}},
        {{"sh", "-c", "x --password 'two words' y"}, {"sh", "-c", "x --password '***' y"}},
        {{"sh", "-c", "curl -u x --passphrase=\"a b\""}, {"sh", "-c", "curl -u x --passphrase=\"***\""}},
        {{"sh", "-c", "true --token abc; ls"}, {"sh", "-c", "true --token ***; ls"}},
    };
    CHECK(rows);
}

static void whole_commands(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"train --password abc --epochs 3", "train --password *** --epochs 3"},
        {"TOKEN=abc train --lr 3", "TOKEN=*** train --lr 3"},
        {"curl -H 'Authorization: Bearer abc' https://me:pw@h/",
         "curl -H 'Authorization: Bearer ***' https://me:***@h/"},
        {"cmd --password 'two words abc' y", "cmd --password '***' y"},
        {"cmd  -x\t'a  b'", "cmd  -x\t'a  b'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char bytes[128] = "";
        struct pt_redact_out out = {bytes, 0, sizeof bytes};
        pt_redact_command(&out, rows[i][0]);
        assert_string_equal(bytes, rows[i][1]);
        assert_int_equal(out.length, strlen(bytes));
    }
}

static void the_rest_stays(void **state)
{
    (void)state;
    static const char *const same[] = {
        "",
        "--max-tokens=77",
        "--tokenizer=bert",
        "--token-limit=5",
        "--pad_token_id=0",
        "--bypass=1",
        "--author=me",
        "--password-file=/run/secrets/db",
        "POSTGRES_PASSWORD_FILE=/run/secrets/db",
        "--secretary=me",
        "https://host:8080/a@b",
        "ssh://git@github.com/o/r",
        "git@github.com:o/r",
        "me@host:/path",
        "s3://bucket/key?x=1",
        "sk-short",
        "hf_transfer",
        "AKIAtooshort",
        "compass:north",
        "train.py",
        "--token",
        "--stop-sig=TERM",
        "import secrets, tokenize; print(tokens)",
        "basic training",
        "a  b\t'c \"d'",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check((const char *const[MOST_ARGUMENTS]){same[i]}, (const char *const[MOST_ARGUMENTS]){same[i]});
    check((const char *const[MOST_ARGUMENTS]){"--tokenizer", "bert"},
          (const char *const[MOST_ARGUMENTS]){"--tokenizer", "bert"});
    check((const char *const[MOST_ARGUMENTS]){"--max-tokens", "77", "--token-limit", "5"},
          (const char *const[MOST_ARGUMENTS]){"--max-tokens", "77", "--token-limit", "5"});
}

/* What does not fit is cut; nothing is written past the room. */
static void a_small_room(void **state)
{
    (void)state;
    for (size_t room = 1; room < 24; room++) {
        char bytes[32];
        memset(bytes, 'x', sizeof bytes);
        bytes[0] = 0;
        struct pt_redact_out out = {bytes, 0, room};
        pt_redact_command(&out, "a --token abc --token b");
        assert_int_equal(out.length, room - 1);
        assert_int_equal(strncmp(bytes, "a --token *** --token ***", out.length), 0);
        assert_int_equal(bytes[out.length], 0);
        assert_int_equal(bytes[room], 'x');
    }
}

/* Built from the pieces that the rules look for: no text may write past the result (seen by the sanitizers). */
static void any_text_is_safe(void **state)
{
    (void)state;
    static const char *const pieces[] = {"token",   "=",    ":",   "://", "@", "\"",   " ",    "'", "\\",
                                         "Bearer ", "AKIA", "sk-", "a",   "?", "\xff", "http", "-", ";"};
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        for (int i = 0; i < 20; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            strcat(text, pieces[(random >> 33) % (sizeof pieces / sizeof pieces[0])]);
        }
        struct pt_redact_line line = {.next = (enum pt_redact_next)(round % 8)};
        char *redacted = pt_redacted(text, &line);
        assert_true(strlen(redacted) <= (strlen(text) + 1) * 3);
        free(redacted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_names),     cmocka_unit_test(values_of_their_own),
        cmocka_unit_test(headers_and_json),    cmocka_unit_test(urls),
        cmocka_unit_test(keys_by_their_shape), cmocka_unit_test(commands_in_an_argument),
        cmocka_unit_test(whole_commands),      cmocka_unit_test(the_rest_stays),
        cmocka_unit_test(a_small_room),        cmocka_unit_test(any_text_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
