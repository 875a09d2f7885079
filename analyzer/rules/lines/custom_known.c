/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about work that is known by the names of the functions that do it: compressing, looking through whole
 * tables. Threads: one. Never: names what the program does not wait for: other threads and processes do it beside.
 */
#include <math.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "own_lines.h"

enum { KNOWN, ALL, BYTES };

/* Of HDF5 the filter that inflates is called deflate, too. */
static const struct pt_code_pattern decompressors[] = {
    {NULL, "inflate"},        {NULL, "uncompress"},      {NULL, "BZ2_bzDecompress"}, {NULL, "ZSTD_decompress"},
    {NULL, "LZ4_decompress"}, {NULL, "LZ4F_decompress"}, {"gzip.py", "read"},        {"gzip.py", "decompress"},
    {"bz2.py", "read"},       {"lzma.py", "read"},       {NULL, "lzma_decoder"},     {NULL, NULL}};

/* What goes on while nobody waits costs nothing and is not asked after. */
static void add_known(const struct pt_stack *stack, double sums[PT_LINE_SUMS],
                      bool (*is_known)(const struct pt_stack *stack))
{
    const double s = stack->cost[PT_STACK_STEPS_S];
    sums[KNOWN] += s > 0 && is_known(stack) ? s : 0;
    sums[ALL] += s;
}

static bool decompresses(const struct pt_stack *stack)
{
    return pt_line_calls(stack, decompressors);
}

static void add_decompressing(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    add_known(stack, sums, decompresses);
}

static bool compresses(const struct pt_stack *stack)
{
    static const struct pt_code_pattern compressors[] = {
        {NULL, "deflate"},       {"libz", "compress"},     {"lzma.py", "write"},
        {"lzma.py", "compress"}, {NULL, "BZ2_bzCompress"}, {NULL, "ZSTD_compress"},
        {NULL, "LZ4_compress"},  {NULL, "LZ4F_compress"},  {"gzip.py", "GzipFile.write"},
        {"gzip.py", "compress"}, {"bz2.py", "write"},      {NULL, NULL}};
    return pt_line_calls(stack, compressors) && !decompresses(stack);
}

static void add_compressing(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    add_known(stack, sums, compresses);
}

/* The file of Debian's and Fedora's; those of OpenBLAS and others that stand in for it lie elsewhere. */
static bool is_in_reference_blas(const struct pt_stack *stack)
{
    static const struct pt_code_pattern reference[] = {
        {"/blas/libblas.so", "_"}, {"/lib64/libblas.so", "_"}, {"/lib/libblas.so", "_"}, {NULL, NULL}};
    return pt_line_calls(stack, reference);
}

static void add_reference_blas(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    add_known(stack, sums, is_in_reference_blas);
}

static bool scans_tables(const struct pt_stack *stack)
{
    static const struct pt_code_pattern tables[] = {{"/pandas/", "_getitem_bool_array"},
                                                    {"/pandas/", "comparison_op"},
                                                    {"/pandas/", "_get_rows_with_mask"},
                                                    {"/pandas/", "logical_op"},
                                                    {"/pandas/", "_get_values"},
                                                    {"/pandas/", "isin"},
                                                    {"/pandas/core/frame.py", "DataFrame.query"},
                                                    {"/pandas/", "_getbool_axis"},
                                                    {NULL, NULL}};
    return pt_line_calls(stack, tables);
}

/* numexpr, where pandas has it, divides a comparison among threads of its own, for which its caller waits. */
static double for_threads_s(const struct pt_stack *stack)
{
    return stack->part == PT_PART_lock ? stack->cost[PT_STACK_MAIN_CALL_S] : 0;
}

/* A mask over a table or an array, and what is taken by it. Of a table each comparison is one; arrays are compared for
 * many reasons, of which reading samples has no other. */
static void add_scanning(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    static const struct pt_code_pattern arrays[] = {{NULL, "array_richcompare"}, {NULL, "boolean_subscript"},
                                                    {NULL, "array_nonzero"},     {NULL, "PyArray_Nonzero"},
                                                    {NULL, "count_nonzero"},     {NULL, "binary_scalar2_equal"},
                                                    {NULL, "masked_select"},     {NULL, "at::_ops::eq"},
                                                    {NULL, "at::_ops::nonzero"}, {NULL, NULL}};
    const double fetch_s = stack->cost[PT_STACK_FETCH_S];
    const double s = fmax(fetch_s, stack->cost[PT_STACK_TRAINING_S]) + for_threads_s(stack);
    const bool scans = s > 0 && (scans_tables(stack) || (fetch_s > 0 && pt_line_calls(stack, arrays)));
    sums[KNOWN] += scans ? s : 0;
    sums[ALL] += s;
}

/* The same in a program that trains nothing, or before it does. */
static void add_filtering(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    const double for_s = for_threads_s(stack);
    add_known(stack, sums, scans_tables);
    sums[KNOWN] += for_s > 0 && scans_tables(stack) ? for_s : 0;
    sums[ALL] += for_s;
    sums[BYTES] += stack->cost[PT_STACK_ALLOCATED_BYTES];
}

/* Of all lines that do it the one that does most of it, and what all of them do. */
static struct pt_own_line costliest(const struct pt_profile *profile, pt_i64 stage, pt_line_adder *add, double *ret_s)
{
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    *ret_s = 0;
    pt_own_lines(profile, stage, add, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        *ret_s += lines.items[i].sums[KNOWN];
        if (lines.items[i].sums[KNOWN] > most.sums[KNOWN])
            most = lines.items[i];
    }
    pt_own_lines_free(&lines);
    return most;
}

/* The gain is what all lines spend in it; the evidence, under the name `spent`, too. Returns the costliest line,
 * without a file where it is no large part of the run. */
static struct pt_own_line found(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding,
                                pt_line_adder *add, const char *spent)
{
    const struct pt_own_line none = {0};
    double s = 0;
    if (stage < 0)
        return none;
    const struct pt_own_line line = costliest(profile, stage, add, &s);
    if (!line.file || !(s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return none;
    finding->gain_upper_s = s;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, spent, pt_real(s));
    return line;
}

bool pt_rule_compressing(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (!found(profile, stage, finding, add_compressing, "compressing_s").file)
        return false;
    if (pt_finding_number(finding, &profile->metrics, "training.checkpoints.count") > 0)
        pt_finding_add_metrics(finding, &profile->metrics,
                               "checkpoints:training.checkpoints.count checkpoints_s:training.checkpoints.total_s");
    return true;
}

bool pt_rule_decompressing(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_own_line line = found(profile, stage, finding, add_decompressing, "decompressing_s");
    if (!line.file)
        return false;
    pt_finding_add_evidence(finding, "in_line_s", pt_real(line.sums[ALL]));
    return true;
}

bool pt_rule_reference_blas(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_own_line line = found(profile, stage, finding, add_reference_blas, "multiplying_s");
    if (!line.file)
        return false;
    pt_finding_add_evidence(finding, "in_line_s", pt_real(line.sums[ALL]));
    return true;
}

/* A column that is read as a whole pushes the rest out of the caches; measured: a tenth of its own time. */
#define WITH_WHAT_FOLLOWS 1.1
/* Where a mask is the smaller part of a line, what else the line does may need it. */
#define MOSTLY 0.5

static bool is_mostly(const struct pt_own_line *line, double wall_s)
{
    return line->file && line->sums[KNOWN] >= PT_LARGE_PART * wall_s && line->sums[KNOWN] >= MOSTLY * line->sums[ALL];
}

/* One mask, and what it takes, is no larger than what the program holds at its peak, with the table: who has asked for
 * more than twice that has made one again and again. Each sample of a training is such a time. */
static bool is_repeated(const struct pt_own_line *line, double peak_bytes)
{
    return line->sums[BYTES] >= 2 * peak_bytes;
}

bool pt_rule_scanned_tables(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    double all_s = 0;
    if (stage < 0)
        return false;
    const double wall_s = pt_own_wall_s(profile, finding);
    struct pt_own_line line = costliest(profile, stage, add_scanning, &all_s);
    if (!is_mostly(&line, wall_s)) {
        line = costliest(profile, stage, add_filtering, &all_s);
        if (!is_mostly(&line, wall_s) ||
            !is_repeated(&line, pt_finding_number(finding, &profile->metrics, "heap.live_peak.bytes")))
            return false;
        finding->title = "A whole table is searched again and again";
    }
    /* What is done with the rows that were found goes on; sorting them, for one, goes with it. */
    finding->with_what_follows = WITH_WHAT_FOLLOWS;
    finding->gain_upper_s = line.sums[ALL] * WITH_WHAT_FOLLOWS;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, "scanning_s", pt_real(line.sums[KNOWN]));
    pt_finding_add_evidence(finding, "in_line_s", pt_real(line.sums[ALL]));
    pt_finding_add_metrics(finding, &profile->metrics, "data_set:training.data_set steps:steps.count");
    return true;
}
