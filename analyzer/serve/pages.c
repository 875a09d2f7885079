/* SPDX-License-Identifier: MIT
 *
 * Owns: addresses, and the list of runs. Threads: one. Never: opens a path that a request has named: runs are looked up
 * among those that are there.
 */
#include "pages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "report/svg/style.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "runs.h"

enum { MOST_LISTED = 500, NAME_ROOM = 256 };

/* ---- the list ---- */

void pt_pages_put_name(struct pt_str *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9') || strchr("-._~", byte);
        if (is_plain)
            pt_str_char(out, (char)byte);
        else
            pt_str_printf(out, "%%%02X", byte);
    }
}

static void put_run(struct pt_str *out, const struct pt_pages *pages, const struct pt_listed_run *run)
{
    char at[32] = "";
    const time_t seconds = (time_t)(run->start_ns / 1000000000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", &utc);
    /* A page is UTF-8, and a name any bytes: compare decodes these once more. */
    pt_str_add(out, "<tr><td><input type=\"radio\" name=\"a\" value=\"");
    pt_pages_put_name(out, run->name);
    pt_str_add(out, "\" aria-label=\"A\"><input type=\"radio\" name=\"b\" value=\"");
    pt_pages_put_name(out, run->name);
    pt_str_add(out, "\" aria-label=\"B\"></td><td><a href=\"/runs/");
    pt_pages_put_name(out, run->name);
    pt_str_printf(out, "?token=%s\">", pages->token);
    pt_sanitize_html(out, run->name);
    pt_str_printf(out, "</a></td><td>%s</td><td>", at);
    pt_sanitize_html(out, run->status);
    pt_str_printf(out, "</td><td class=\"n\">%s</td><td>",
                  isfinite(run->duration_ns) ? pt_fmt_duration((int64_t)run->duration_ns).text : "");
    pt_sanitize_html(out, run->command ? run->command : "");
    pt_str_add(out, "</td><td><a href=\"/timelines/");
    pt_pages_put_name(out, run->name);
    pt_str_printf(out, "?token=%s\">for Perfetto</a></td></tr>\n", pages->token);
}

static bool is_wanted(const struct pt_listed_run *run, const char *filter)
{
    return !*filter || strcasestr(run->name, filter) || strcasestr(run->status, filter) ||
           (run->command && strcasestr(run->command, filter));
}

static void put_head(struct pt_str *out, const struct pt_pages *pages, const char *filter)
{
    pt_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>proftrace runs</title>"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                    "'unsafe-inline'; form-action 'self'; base-uri 'none'\">"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>");
    pt_str_add(out, pt_svg_style);
    pt_str_add(out, pt_page_style);
    pt_str_printf(out,
                  "</style></head><body><main><h1>Runs</h1><form action=\"/\"><input type=\"hidden\" name=\"token\" "
                  "value=\"%s\"><input name=\"filter\" placeholder=\"name, status or command\" value=\"",
                  pages->token);
    pt_sanitize_html(out, filter);
    pt_str_printf(out,
                  "\" aria-label=\"Filter\"> <button>Filter</button></form>\n<form action=\"/compare\"><input "
                  "type=\"hidden\" name=\"token\" value=\"%s\"><table><thead><tr><th>A B</th><th>Run</th><th>Started, "
                  "UTC</th><th>Status</th><th>Duration</th><th>Command</th><th>Timeline</th></tr></thead><tbody>\n",
                  pages->token);
}

static void list(const struct pt_pages *pages, const struct pt_http_request *request, struct pt_page *page)
{
    char filter[NAME_ROOM] = "";
    struct pt_listed_runs runs = pt_runs_list(pages->directory, pages->kept);
    size_t shown = 0, left_out = 0;
    if (!pt_http_query(request, "filter", filter, sizeof filter))
        *filter = '\0';
    put_head(&page->body, pages, filter);
    for (size_t i = 0; i < runs.n; i++) {
        if (!is_wanted(&runs.items[i], filter))
            continue;
        if (shown++ < MOST_LISTED)
            put_run(&page->body, pages, &runs.items[i]);
        else
            left_out++;
    }
    pt_str_add(&page->body, "</tbody></table><p><button>Compare A with B</button></p></form>");
    if (!shown)
        pt_str_add(&page->body, "<p>There are no such runs.</p>");
    if (left_out)
        pt_str_printf(&page->body, "<p>%zu older runs are not shown: filter for them.</p>", left_out);
    pt_str_add(&page->body, "</main></body></html>\n");
    page->status = 200;
    page->type = "text/html; charset=utf-8";
    pt_runs_free(&runs);
}

/* ---- what a command prints ---- */

static void use_command(struct pt_page *page, const char *type, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        page->command[i] = pt_strdup(words[i]);
    page->status = 200;
    page->type = type;
}

static void show_run(const struct pt_pages *pages, const char *name, struct pt_page *page)
{
    PT_AUTO(pt_freep) char *path = pt_runs_path_of(pages->directory, name);
    if (path)
        use_command(page, "text/html; charset=utf-8", (const char *const[]){"report", "--format", "html", path, NULL});
}

static void send_timeline(const struct pt_pages *pages, const char *name, struct pt_page *page)
{
    PT_AUTO(pt_freep) char *path = pt_runs_path_of(pages->directory, name);
    if (path)
        use_command(page, "application/octet-stream",
                    (const char *const[]){"export", "--to", "perfetto", "-o", "-", path, NULL});
}

/* As the list encodes it, else as somebody typed it; the caller frees it. */
static char *path_of_encoded(const struct pt_pages *pages, const char *name)
{
    char decoded[NAME_ROOM];
    char *path = pt_http_decode(name, decoded, sizeof decoded) ? pt_runs_path_of(pages->directory, decoded) : NULL;
    return path ? path : pt_runs_path_of(pages->directory, name);
}

static void compare(const struct pt_pages *pages, const struct pt_http_request *request, struct pt_page *page)
{
    char a[3 * NAME_ROOM], b[3 * NAME_ROOM];
    if (!pt_http_query(request, "a", a, sizeof a) || !pt_http_query(request, "b", b, sizeof b)) {
        page->status = 400;
        return;
    }
    PT_AUTO(pt_freep) char *path_a = path_of_encoded(pages, a);
    PT_AUTO(pt_freep) char *path_b = path_of_encoded(pages, b);
    if (path_a && path_b)
        use_command(page, "text/html; charset=utf-8",
                    (const char *const[]){"diff", "--format", "html", path_a, path_b, NULL});
}

/* One of which that is not known, only where there is no other: its figures may be half of what it will do. */
static char *last_ended(const struct pt_pages *pages)
{
    struct pt_listed_runs runs = pt_runs_list(pages->directory, pages->kept);
    const struct pt_listed_run *found = NULL;
    for (size_t i = 0; i < runs.n; i++) {
        const struct pt_listed_run *run = &runs.items[i];
        if (!strcmp(run->status, "running") || (run->may_go_on && found))
            continue;
        found = run;
        if (!run->may_go_on)
            break;
    }
    char *path = found ? pt_asprintf("%s/%s", pages->directory, found->name) : NULL;
    pt_runs_free(&runs);
    return path;
}

static void show_metrics(const struct pt_pages *pages, const struct pt_http_request *request, struct pt_page *page)
{
    char name[NAME_ROOM];
    PT_AUTO(pt_freep)
    char *path = pt_http_query(request, "run", name, sizeof name) ? pt_runs_path_of(pages->directory, name)
                 : strstr(request->query, "run=")                 ? NULL
                                                                  : last_ended(pages);
    if (path)
        use_command(page, "text/plain; version=0.0.4; charset=utf-8",
                    (const char *const[]){"export", "--to", "openmetrics", "-o", "-", path, NULL});
}

void pt_pages_answer(void *context, const struct pt_http_request *request, struct pt_page *ret_page)
{
    const struct pt_pages *pages = context;
    if (!strcmp(request->path, "/"))
        list(pages, request, ret_page);
    else if (!strncmp(request->path, "/runs/", 6))
        show_run(pages, request->path + 6, ret_page);
    else if (!strncmp(request->path, "/timelines/", 11))
        send_timeline(pages, request->path + 11, ret_page);
    else if (!strcmp(request->path, "/compare"))
        compare(pages, request, ret_page);
    else if (!strcmp(request->path, "/metrics"))
        show_metrics(pages, request, ret_page);
}
