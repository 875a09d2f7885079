/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about what is made of a file each time that it is read again. To read it costs next to nothing, for it
 * is in memory; to parse it may take most of the time. Threads: one. Never: counts what a function drives as its
 * parsing.
 */
#include <math.h>

#include "conditions.h"
#include "custom.h"
#include "general.h"
#include "lines/own_lines.h"
#include "own_functions.h"
#include "read_again.h"

/* Of a reader's time: the rest goes into other functions and a framework. */
#define LEAST_OWN 0.5
#define LEAST_SHARE 0.05
/* What it made is freed where it was held, and pushes the rest out of the caches; measured: a tenth of its own time. */
#define WITH_WHAT_FOLLOWS 1.15
/* A tenth of what YAML in pure Python takes in, the slowest that was measured. Below it a loop computes that
 * looks at a small file now and then. */
#define SLOWEST_PARSER_BYTES_PER_S 20000
/* What Python does around the calls of one open(), read() and close(): 4 to 6 us, measured. Of a function that does
 * hardly more than that other rules tell. */
#define AROUND_CALLS_S 7e-6
#define MOSTLY 0.5

struct reader {
    struct pt_own_function of;
    struct pt_read_again again;
    double parsing_s;
};

/* Of what the function computes itself: to open and to read is another rule's. */
static double outside_of_calls_s(const struct pt_own_function *of)
{
    return of->with_s > 0 ? of->own_s * fmax(1 - of->in_calls_s / of->with_s, 0) : 0;
}

/* Of all functions that read again the one that costs most. */
static struct reader costliest_reader(struct pt_profile *profile, pt_i64 stage)
{
    struct reader most = {0};
    struct pt_own_functions functions;
    pt_own_functions(profile, stage, false, &functions);
    for (size_t i = 0; i < functions.n; i++) {
        const struct pt_own_function *one = &functions.items[i];
        const double parsing_s = outside_of_calls_s(one);
        const double opening_s = AROUND_CALLS_S * pt_opens_in(profile, stage, one->file, one->function);
        if (!(parsing_s > most.parsing_s) || opening_s > MOSTLY * parsing_s ||
            !pt_own_function_is_leaf(&functions, one, LEAST_OWN))
            continue;
        const struct pt_read_again again = pt_read_again_in(profile, stage, one->file, one->function);
        if (again.path && again.read_bytes >= SLOWEST_PARSER_BYTES_PER_S * parsing_s)
            most = (struct reader){*one, again, parsing_s};
    }
    pt_own_functions_free(&functions);
    return most;
}

/* ---- in workers that the main thread waits for ---- */

static void add_of_workers(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    sums[0] += stack->cost[PT_STACK_WORKER_S];
}

/* What the functions of one name spend, in all of their lines. */
static double function_s(const struct pt_own_lines *lines, const struct pt_own_line *of)
{
    double s = 0;
    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].file == of->file && lines->items[i].function == of->function)
            s += lines->items[i].sums[0];
    return s;
}

/* Its share of what the workers do is as much of the wait for them; 0 = none reads anything again. */
static double worker_reads_share(struct pt_profile *profile, pt_i64 stage, struct reader *ret_reader)
{
    struct pt_own_lines lines;
    double all_s = 0;
    pt_own_lines(profile, stage, add_of_workers, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        const struct pt_own_line *line = &lines.items[i];
        const double s = function_s(&lines, line);
        all_s += line->sums[0];
        if (!(s > ret_reader->parsing_s))
            continue;
        const struct pt_read_again again = pt_read_again_in(profile, stage, line->file, line->function);
        if (again.path && again.read_bytes >= SLOWEST_PARSER_BYTES_PER_S * s)
            *ret_reader = (struct reader){{.file = line->file, .function = line->function}, again, s};
    }
    pt_own_lines_free(&lines);
    return all_s > 0 ? ret_reader->parsing_s / all_s : 0;
}

/* Those of a loader have complaints of their own. */
static bool is_parsed_by_workers(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding,
                                 struct reader *ret_reader)
{
    const double workers_s = pt_finding_number_or_0(finding, &profile->metrics, "time.workers_s");
    if (!(workers_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)) ||
        pt_worker_complaint(profile, finding) != PT_WORKERS_FINE)
        return false;
    finding->gain_upper_s =
        worker_reads_share(profile, stage, ret_reader) * ret_reader->again.share * workers_s * WITH_WHAT_FOLLOWS;
    finding->place_kind = PT_PLACE_WORKERS;
    return ret_reader->again.path != NULL;
}

static void show(struct pt_finding *finding, const struct reader *reader)
{
    finding->in_function = reader->of.function;
    finding->in_file = reader->of.file;
    finding->with_what_follows = WITH_WHAT_FOLLOWS;
    pt_finding_add_evidence(finding, "file", pt_text(reader->again.path));
    pt_finding_add_evidence(finding, "open_calls", pt_integer(reader->again.opens));
    pt_finding_add_evidence(finding, "parsing_s", pt_real(reader->parsing_s));
    pt_finding_add_evidence(finding, "read_again_bytes", pt_integer(reader->again.bytes));
}

bool pt_rule_parsed_again(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct reader in_workers = {0};
    if (stage >= 0 && is_parsed_by_workers(profile, stage, finding, &in_workers)) {
        show(finding, &in_workers);
        return true;
    }
    finding->place_kind = PT_PLACE_PREPARING;
    /* What reads a table may be native code. */
    const double computing_s = pt_finding_number(finding, &profile->metrics, "time.computing_s") +
                               pt_finding_number_or_0(finding, &profile->metrics, "time.heap_s");
    if (stage < 0 || !(computing_s > 0))
        return false;
    const struct reader reader = costliest_reader(profile, stage);
    if (!reader.again.path || reader.parsing_s < LEAST_SHARE * computing_s)
        return false;
    finding->gain_upper_s = WITH_WHAT_FOLLOWS * reader.again.share * fmin(reader.parsing_s, computing_s);
    show(finding, &reader);
    return true;
}
