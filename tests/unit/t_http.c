/* SPDX-License-Identifier: MIT
 *
 * Heads of requests: what browsers and Prometheus send is understood, and what an attacker sends is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "serve/http.h"

static struct pt_http_request request;

static int parse(const char *text)
{
    return pt_http_parse(text, strlen(text), &request);
}

static void test_a_browser(void **state)
{
    (void)state;
    assert_int_equal(
        parse("GET /runs/a%20b?token=12&filter=x+y%21 HTTP/1.1\r\nHost: 127.0.0.1:7878\r\nAccept: */*\r\n\r\n"), 0);
    char value[20];
    assert_string_equal(request.path, "/runs/a b");
    assert_string_equal(request.host, "127.0.0.1:7878");
    assert_false(request.is_head);
    assert_true(pt_http_query(&request, "token", value, sizeof value));
    assert_string_equal(value, "12");
    assert_true(pt_http_query(&request, "filter", value, sizeof value));
    assert_string_equal(value, "x y!");
    assert_false(pt_http_query(&request, "ter", value, sizeof value));
    assert_false(pt_http_query(&request, "token", value, 2));
}

static void test_prometheus(void **state)
{
    (void)state;
    assert_int_equal(parse("GET /metrics HTTP/1.1\nhost:localhost:1\nauthorization: bearer 0123abcd \n\n"), 0);
    assert_string_equal(request.bearer, "0123abcd");
    assert_string_equal(request.host, "localhost:1");
    assert_int_equal(parse("HEAD / HTTP/1.0\r\n\r\n"), 0);
    assert_true(request.is_head);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *text;
    } cases[] = {
        {405, "POST / HTTP/1.1\r\n\r\n"},
        {405, "DELETE /runs/a HTTP/1.1\r\n\r\n"},
        {505, "GET / HTTP/2.0\r\n\r\n"},
        {505, "GET / HTTP/1.1x\r\n\r\n"},
        {400, "GET /\r\n\r\n"},
        {400, "GET  / HTTP/1.1\r\n\r\n"},
        {400, "GET http://other/ HTTP/1.1\r\n\r\n"},
        {400, "\r\n\r\n"},
        {400, " GET / HTTP/1.1\r\n\r\n"},
        {400, "GET /%00 HTTP/1.1\r\n\r\n"},
        {400, "GET /%0a HTTP/1.1\r\n\r\n"},
        {400, "GET /%4 HTTP/1.1\r\n\r\n"},
        {400, "GET /% HTTP/1.1\r\n\r\n"},
        {400, "GET /%zz HTTP/1.1\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (parse(cases[i].text) != cases[i].status)
            fail_msg("%s: %d instead of %d", cases[i].text, parse(cases[i].text), cases[i].status);
}

static void test_what_is_too_long(void **state)
{
    (void)state;
    char text[4096], line[4200];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    snprintf(line, sizeof line, "GET /%s HTTP/1.1\r\n\r\n", text);
    assert_int_equal(parse(line), 414);
    snprintf(line, sizeof line, "GET /?%s HTTP/1.1\r\n\r\n", text);
    assert_int_equal(parse(line), 414);
    snprintf(line, sizeof line, "GET / HTTP/1.1\r\nHost: %.300s\r\n\r\n", text);
    assert_int_equal(parse(line), 400);
}

/* Every cut of a head, and every byte in every place: no answer but a status, and no read beyond the end. */
static void test_damage(void **state)
{
    (void)state;
    static const char whole[] =
        "GET /runs/a%20b?token=12 HTTP/1.1\r\nHost: 127.0.0.1:7878\r\nAuthorization: Bearer ab\r\n\r\n";
    char text[sizeof whole];
    for (size_t cut = 0; cut < sizeof whole; cut++) {
        memcpy(text, whole, cut);
        (void)pt_http_parse(text, cut, &request);
        assert_int_equal(pt_http_is_whole(text, cut), cut >= sizeof whole - 1);
    }
    for (size_t at = 0; at + 1 < sizeof whole; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, whole, sizeof whole);
            text[at] = (char)byte;
            const int status = pt_http_parse(text, sizeof whole - 1, &request);
            assert_true(status == 0 || status == 400 || status == 405 || status == 414 || status == 505);
            if (status == 0)
                assert_int_equal(request.path[0], '/');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_browser),       cmocka_unit_test(test_prometheus),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_what_is_too_long),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
