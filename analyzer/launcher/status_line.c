/* SPDX-License-Identifier: MIT
 *
 * status_line.c - Owns: what we say on stderr while a stage runs. Threads: main only. Never: writes to stdout, waits
 * for a terminal before the end.
 */
#include "status_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options/option_values.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/text/width.h"

#define REDRAW_NS 250000000u
#define OUTPUT_PAUSE_NS 300000000u /* after output: a burst of lines is not interrupted */
#define HEARTBEAT_NS 60000000000u
#define WAITING_MAX_BYTES 65536
#define LAST_WORDS_TRIES 10 /* of a second each */
#define ERASE "\r\033[K"

/* ---- the terminal ---- */
static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_set(names[i]))
            return strcasestr(getenv(names[i]), "utf-8") || strcasestr(getenv(names[i]), "utf8");
    return false;
}

void pt_status_line_open(struct pt_status_line *ret_line)
{
    *ret_line = (struct pt_status_line){.values = {NAN, NAN, NAN}, .last_byte = '\n'};
    pt_outlet_open(&ret_line->sink, pt_outlet_is_open(STDERR_FILENO) ? STDERR_FILENO : -1);
    const char *term = getenv("TERM");
    ret_line->silent = pt_option_is_on("PROFTRACE_QUIET") || ret_line->sink.fd < 0;
    ret_line->live = ret_line->sink.is_terminal && term && *term && strcmp(term, "dumb") != 0;
    ret_line->color = ret_line->live && !is_set("NO_COLOR");
    ret_line->unicode = locale_is_utf8();
}

static size_t columns(const struct pt_status_line *line)
{
    struct winsize size;
    if (ioctl(line->sink.fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

/* In the background, the terminal belongs to another process. */
static bool in_foreground(const struct pt_status_line *line)
{
    const pid_t group = tcgetpgrp(line->sink.fd);
    return group < 0 || group == getpgrp();
}

/* As much of a clean text as fits. */
static void add_fitting(const struct pt_status_line *line, struct pt_str *out, const char *text, size_t *left)
{
    unsigned cells;
    for (size_t n; *text; text += n) {
        n = pt_text_next(text, &cells);
        const bool plain = n > 1 ? line->unicode : (unsigned char)*text < 0x80;
        const size_t width = plain ? cells : 1;
        if (width > *left) {
            *left = 0;
            return;
        }
        *left -= width;
        if (plain)
            pt_str_bytes(out, text, n);
        else
            pt_str_char(out, '?');
    }
}

/* ---- drawing ---- */
/* Whole seconds: decimals would only flicker. */
static void add_elapsed(struct pt_str *out, pt_u64 ns)
{
    const unsigned long long seconds = ns / 1000000000u;
    if (seconds < 60)
        pt_str_printf(out, "%llu s", seconds);
    else if (seconds < 3600)
        pt_str_printf(out, "%llu m %02llu s", seconds / 60, seconds % 60);
    else
        pt_str_printf(out, "%llu h %02llu m", seconds / 3600, seconds / 60 % 60);
}

static void describe(const struct pt_status_line *line, struct pt_str *out, pt_u64 now_ns)
{
    if (line->n_stages)
        pt_str_printf(out, "%u/%u ", line->number, line->n_stages);
    pt_str_printf(out, "%s  ", pt_str_text(&line->stage));
    add_elapsed(out, now_ns - line->begin_ns);
    if (isfinite(line->values.cpu_percent))
        pt_str_printf(out, "  CPU %.0f %%", line->values.cpu_percent);
    if (isfinite(line->values.rss_bytes) && line->values.rss_bytes >= 0)
        pt_str_printf(out, "  RSS %s", pt_fmt_bytes((uint64_t)line->values.rss_bytes).text);
    if (isfinite(line->values.gpu_percent))
        pt_str_printf(out, "  GPU %.0f %%", line->values.gpu_percent);
}

static void draw(struct pt_status_line *line, pt_u64 now_ns)
{
    static const char *const dots[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    static const char *const bars[] = {"|", "/", "-", "\\"};
    const unsigned frame = line->frame++;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    describe(line, &text, now_ns);
    /* The last column stays free: a character there makes some terminals wrap. */
    size_t left = columns(line) - 1;
    pt_str_add(&out, "\r");
    pt_str_add(&out, line->color ? "\033[36m" : "");
    add_fitting(line, &out, line->unicode ? dots[frame % 10] : bars[frame % 4], &left);
    pt_str_add(&out, line->color ? "\033[0m" : "");
    add_fitting(line, &out, " ", &left);
    add_fitting(line, &out, pt_str_text(&text), &left);
    /* Back at the start: what another program writes here replaces the line. */
    pt_str_add(&out, "\033[K\r");
    line->drawn = pt_outlet_write(&line->sink, out.text, out.n) > 0 || line->drawn;
    line->drawn_ns = now_ns;
}

bool pt_status_line_erase(struct pt_status_line *line)
{
    if (line->drawn && pt_outlet_write(&line->sink, ERASE, strlen(ERASE)) < strlen(ERASE))
        return false;
    line->drawn = false;
    return true;
}

void pt_status_line_passed(struct pt_status_line *line, char last_byte, pt_u64 now_ns)
{
    line->last_byte = last_byte;
    line->passed_ns = now_ns;
}

/* ---- plain lines ---- */
static void flush_waiting(struct pt_status_line *line)
{
    if (!line->waiting.n)
        return;
    const size_t taken = pt_outlet_write(&line->sink, line->waiting.text, line->waiting.n);
    line->waiting.n -= taken;
    memmove(line->waiting.text, line->waiting.text + taken, line->waiting.n + 1);
}

static void say(struct pt_status_line *line, const char *what, pt_u64 now_ns)
{
    if (line->silent || line->live || line->waiting.n > WAITING_MAX_BYTES)
        return;
    if (line->last_byte != '\n')
        pt_str_char(&line->waiting, '\n');
    pt_str_add(&line->waiting, "proftrace: stage ");
    if (line->n_stages)
        pt_str_printf(&line->waiting, "%u/%u ", line->number, line->n_stages);
    pt_str_printf(&line->waiting, "%s %s\n", pt_str_text(&line->stage), what);
    pt_status_line_passed(line, '\n', now_ns);
    flush_waiting(line);
}

void pt_status_line_say(struct pt_status_line *line, const char *text, pt_u64 now_ns)
{
    if (line->sink.fd < 0 || line->waiting.n > WAITING_MAX_BYTES)
        return;
    (void)pt_status_line_erase(line);
    pt_str_printf(&line->waiting, "%sproftrace: %s\n", line->last_byte == '\n' ? "" : "\n", text);
    pt_status_line_passed(line, '\n', now_ns);
    flush_waiting(line);
}

/* ---- a stage ---- */
void pt_status_line_begin(struct pt_status_line *line, const char *stage, unsigned number, unsigned n_stages,
                          pt_u64 now_ns)
{
    pt_str_clear(&line->stage);
    pt_sanitize_terminal(&line->stage, *stage ? stage : "(no name)");
    line->number = number;
    line->n_stages = n_stages;
    line->begin_ns = line->drawn_ns = now_ns;
    line->values = (struct pt_status_values){NAN, NAN, NAN};
    say(line, "started", now_ns);
}

void pt_status_line_values(struct pt_status_line *line, const struct pt_status_values *values)
{
    line->values = *values;
}

void pt_status_line_end(struct pt_status_line *line, const char *result, pt_u64 now_ns)
{
    (void)pt_status_line_erase(line);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_add(&text, "finished: ");
    pt_sanitize_terminal(&text, result);
    pt_str_printf(&text, ", %.1f s", (double)(now_ns - line->begin_ns) / 1e9);
    if (line->stage.n)
        say(line, pt_str_text(&text), now_ns);
    pt_str_clear(&line->stage);
}

static pt_u64 step_plain(struct pt_status_line *line, pt_u64 now_ns)
{
    const pt_u64 due_ns = (line->passed_ns > line->begin_ns ? line->passed_ns : line->begin_ns) + HEARTBEAT_NS;
    if (now_ns < due_ns)
        return line->waiting.n ? now_ns + REDRAW_NS : due_ns;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_add(&text, "is running: ");
    add_elapsed(&text, now_ns - line->begin_ns);
    say(line, pt_str_text(&text), now_ns);
    return now_ns + HEARTBEAT_NS;
}

pt_u64 pt_status_line_step(struct pt_status_line *line, pt_u64 now_ns)
{
    flush_waiting(line);
    if (line->silent || !line->stage.n || (line->live && line->waiting.n))
        return line->waiting.n ? now_ns + REDRAW_NS : ~(pt_u64)0;
    if (!line->live)
        return step_plain(line, now_ns);
    pt_u64 due_ns = line->drawn_ns + REDRAW_NS;
    if (line->passed_ns && line->passed_ns + OUTPUT_PAUSE_NS > due_ns)
        due_ns = line->passed_ns + OUTPUT_PAUSE_NS;
    if (now_ns < due_ns)
        return due_ns;
    /* A stage that stopped in the middle of its line, a prompt perhaps, keeps the terminal to itself. */
    if (line->last_byte == '\n' && in_foreground(line))
        draw(line, now_ns);
    return now_ns + REDRAW_NS;
}

void pt_status_line_close(struct pt_status_line *line)
{
    (void)pt_status_line_erase(line);
    /* The last lines may wait for a slow reader, but not for ever. */
    for (int i = 0; line->waiting.n && !line->sink.problem && i < LAST_WORDS_TRIES; i++) {
        struct pollfd ready = pt_outlet_poll(&line->sink);
        poll(&ready, 1, 1000);
        flush_waiting(line);
    }
    pt_outlet_close(&line->sink);
    pt_str_fini(&line->stage);
    pt_str_fini(&line->waiting);
}
