/* SPDX-License-Identifier: MIT
 *
 * Owns: whether a row of remedies.def fits a finding, and what its options are called there. Threads: one. Never:
 * advises for what was not seen.
 */
#include "remedy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/text/path.h"
#include "conditions.h"
#include "finding_stacks.h"
#include "read_again.h"
#include "util/auto.h"
#include "util/str.h"

#define LEAST_SHARE (1.0 / 3)
enum { MOSTLY_PERCENT = 50 };

const struct pt_remedy pt_remedies[] = {
#define REMEDY(seen, patterns, rules, remedy) {PT_SEEN_##seen, patterns, rules, remedy},
#include "remedies.def"
#undef REMEDY
    {.rules = NULL},
};

/* Whether one of "a|b" is in a text. */
static bool has_any(const char *text, const char *patterns)
{
    for (size_t n; text && *patterns; patterns += n + (patterns[n] == '|')) {
        n = strcspn(patterns, "|");
        if (memmem(text, strlen(text), patterns, n))
            return true;
    }
    return false;
}

/* Whether a text is one of "a|b". */
static bool is_any(const char *text, const char *patterns)
{
    for (size_t n; *patterns; patterns += n + (patterns[n] == '|')) {
        n = strcspn(patterns, "|");
        if (strlen(text) == n && !strncmp(text, patterns, n))
            return true;
    }
    return false;
}

/* Whether a rule is one of "a b". */
static bool is_for(const char *rules, const char *rule)
{
    const size_t n = strlen(rule);
    for (const char *at = rules; (at = strstr(at, rule)); at += n)
        if ((at == rules || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool is_of_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* The same, where a word begins: the class ConvLSTMCell of a program is no LSTMCell of PyTorch. A function's name that
 * begins with "_" is whole: _single_tensor_adamax is no _single_tensor_adam. */
static bool has_any_word(const char *text, const char *patterns)
{
    for (size_t n; *patterns; patterns += n + (patterns[n] == '|')) {
        n = strcspn(patterns, "|");
        for (const char *at = text; (at = memmem(at, strlen(at), patterns, n)); at++)
            if ((at == text || !is_of_word(at[-1])) && !(*patterns == '_' && is_of_word(at[n])))
                return true;
    }
    return false;
}

/* Methods of remedies.def that are known by their file, too: programs have a TensorDataset of their own, which reads
 * files. Before Python 3.11 functions have names without their class. */
static const struct method {
    const char *name, *file, *old_name, *old_caller;
} methods[] = {{"BaseEventLoop._run_once", "/asyncio/base_events.py", "_run_once", NULL},
               {"TensorDataset.__getitem__", "/torch/utils/data/dataset.py", "<genexpr>", "__getitem__"}};

static const struct method *method_of(const char *patterns)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(patterns, methods[i].name))
            return &methods[i];
    return NULL;
}

/* The next frame of Python; n = none. */
static pt_u32 next_of_python(const struct pt_finding_stack *stack, pt_u32 from)
{
    while (from < stack->n && !(stack->frames[from].flags & PT_FRAME_OF_PYTHON))
        from++;
    return from;
}

/* StackDataset has such a generator, too: of other data sets, which are Python, or of what is in memory as well. */
static bool is_called_by(const struct pt_finding_stack *stack, pt_u32 at, const struct method *method)
{
    const pt_u32 caller = next_of_python(stack, at + 1);
    return next_of_python(stack, 0) == at && caller < stack->n &&
           pt_is_python_in(&stack->frames[caller], method->file) &&
           !strcmp(stack->frames[caller].function, method->old_caller);
}

static bool is_method(const struct pt_finding_stack *stack, pt_u32 at, const struct method *method)
{
    const struct pt_stack_frame *frame = &stack->frames[at];
    if (!pt_is_python_in(frame, method->file))
        return false;
    return pt_python_is_part_of(frame->function, method->name) ||
           (!strcmp(frame->function, method->old_name) && (!method->old_caller || is_called_by(stack, at, method)));
}

/* Of files of Python there are too many for a part of a name: "sqlite" is in sqlite_of_my_tests.py. */
static bool is_in_frame(const struct pt_stack_frame *frame, const char *patterns)
{
    const bool is_python = frame->flags & PT_FRAME_OF_PYTHON && frame->file;
    const bool is_function = frame->flags & PT_FRAME_OF_PYTHON ? has_any_word(frame->function, patterns)
                                                               : has_any(frame->function, patterns);
    return (frame->flags & PT_FRAME_IS_NAMED && is_function) ||
           (is_python && is_any(pt_base_name(frame->file), patterns)) ||
           (frame->module && has_any(pt_base_name(frame->module), patterns));
}

static bool is_in_stack(const struct pt_finding_stack *stack, const char *patterns)
{
    const struct method *method = method_of(patterns);
    for (pt_u32 i = 0; i < stack->n; i++)
        if (method ? is_method(stack, i, method) : is_in_frame(&stack->frames[i], patterns))
            return true;
    return false;
}

/* In the line that the finding points to. */
static bool is_at_place(const struct pt_finding_stack *stack, const struct pt_finding *finding)
{
    const struct pt_stack_frame *named = pt_named_frame(stack);
    return named && finding->place.line && named->line == finding->place.line && named->file == finding->place.file;
}

/* The share of them; 0 where it is too small. Of a line that does mostly that, all: to free what was there before, for
 * one, is in no function's stacks. */
static double share_of_stacks(const struct pt_profile *profile, const struct pt_finding *finding,
                              enum pt_place_kind kind, const char *patterns)
{
    struct pt_finding of = *finding;
    struct pt_finding_stacks stacks;
    double found = 0, in_line = 0, found_in_line = 0;
    of.place_kind = kind;
    pt_finding_stacks(profile, &of, &stacks);
    for (size_t i = 0; i < stacks.n; i++) {
        const struct pt_finding_stack *stack = &stacks.items[i];
        const bool is_found = is_in_stack(stack, patterns), is_there = is_at_place(stack, finding);
        found += is_found ? stack->cost : 0;
        in_line += is_there ? stack->cost : 0;
        found_in_line += is_found && is_there ? stack->cost : 0;
    }
    const double more = found_in_line > in_line / 2 ? in_line - found_in_line : 0;
    const double share = stacks.n && found >= LEAST_SHARE * stacks.cost ? (found + more) / stacks.cost : 0;
    pt_finding_stacks_free(&stacks);
    return share;
}

static bool is_loaded(const struct pt_profile *profile, const struct pt_finding *finding, const char *patterns)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if ((pt_i64)pt_profile_stage_of(profile, process) != finding->stage)
            continue;
        for (pt_u32 j = 0; j < process->n_modules; j++)
            if (has_any(pt_base_name(process->modules[j].path), patterns))
                return true;
    }
    return false;
}

static bool is_object(const struct pt_finding *finding, const char *patterns)
{
    if (!finding->table || !finding->n_rows)
        return false;
    const struct pt_value first = pt_table_row(finding->table, finding->rows[0])[0];
    return first.type == PT_VALUE_TEXT && has_any(first.text, patterns);
}

/* NULL = no loader named it. */
static const char *name_of_data_set(const struct pt_profile *profile, const struct pt_finding *finding)
{
    if (finding->stage < 0)
        return NULL;
    const struct pt_value name =
        pt_metrics_get(&profile->metrics, pt_scope_stage((pt_u32)finding->stage), "training.data_set");
    return name.type == PT_VALUE_TEXT ? name.text : NULL;
}

static bool is_data_set(const struct pt_profile *profile, const struct pt_finding *finding, const char *patterns)
{
    const char *name = name_of_data_set(profile, finding);
    return name && is_any(name, patterns);
}

/* Of a class of the program that has the name of PyTorch's. */
static bool is_other_method(const struct pt_stack_frame *frame, const struct method *method)
{
    return frame->flags & PT_FRAME_OF_PYTHON && !pt_is_python_in(frame, method->file) &&
           has_any_word(frame->function, method->name);
}

/* Before Python 3.11 no function has its class in its name: of any that the loader asks for samples. */
static bool may_be_other_method(const struct pt_finding_stack *stack, pt_u32 at, const struct method *method)
{
    const struct pt_stack_frame *frame = &stack->frames[at];
    const pt_u32 caller = next_of_python(stack, at + 1);
    return frame->flags & PT_FRAME_OF_PYTHON && !pt_is_python_in(frame, method->file) &&
           !strcmp(frame->function, strrchr(method->name, '.') + 1) && caller < stack->n &&
           pt_is_python_in(&stack->frames[caller], "/torch/utils/data/_utils/fetch.py");
}

/* Whose samples another file makes. Where PyTorch's are seen, too, a function without a class is of another data set:
 * of a validation, for one. */
static bool is_class_of_program(const struct pt_profile *profile, pt_i64 stage, const struct method *method)
{
    bool may_be = false, is_of_torch = false;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        const struct pt_finding_stack frames = {.frames = stack->frames, .n = stack->n};
        for (pt_u32 j = 0; (pt_i64)stack->stage == stage && j < stack->n; j++) {
            if (is_other_method(&stack->frames[j], method))
                return true;
            may_be |= may_be_other_method(&frames, j, method);
            is_of_torch |= is_method(&frames, j, method);
        }
    }
    return may_be && !is_of_torch;
}

static bool fits(const struct pt_remedy *remedy, const struct pt_profile *profile, const struct pt_finding *finding,
                 double *ret_share)
{
    *ret_share = 1;
    switch (remedy->seen) {
    case PT_SEEN_STACK:
        *ret_share = share_of_stacks(profile, finding, finding->place_kind, remedy->patterns);
        return *ret_share > 0;
    case PT_SEEN_CPU:
        return share_of_stacks(profile, finding, PT_PLACE_CPU, remedy->patterns) > 0;
    case PT_SEEN_LOADED:
        return is_loaded(profile, finding, remedy->patterns);
    case PT_SEEN_OBJECT:
        return is_object(finding, remedy->patterns);
    case PT_SEEN_REREAD:
        return pt_read_again_in(profile, finding->stage, finding->place.file, finding->place.function).path;
    case PT_SEEN_DATA_SET:
        return is_data_set(profile, finding, remedy->patterns) &&
               !is_class_of_program(profile, finding->stage, method_of("TensorDataset.__getitem__")) &&
               share_of_stacks(profile, finding, finding->place_kind, "default_collate") > 0;
    case PT_SEEN_MOSTLY:
        break;
    }
    return pt_finding_number(finding, &profile->metrics, remedy->patterns) >= MOSTLY_PERCENT;
}

/* Where workers that compute are too few: as many more as the training would take batches faster, and one. With all
 * CPUs of a large machine, 96, their batches would fill /dev/shm. */
static double computing_workers_needed(const struct pt_profile *profile, const struct pt_finding *finding, double cpus)
{
    const double has = pt_workers_of_loader(profile, finding);
    const double needed = ceil(has * pt_times_as_fast(profile, finding)) + 1;
    return has > 0 ? fmax(fmin(needed, cpus), has + 1) : cpus; /* of one unknown the other */
}

/* As many workers as load the next batch while one trains on the last; at least 2, at most as there are CPUs, of which
 * four ranks on 30 have seven each. */
static double workers_needed(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const double waiting = pt_waiting_workers_needed(profile, finding).of_loader;
    const double cpus = pt_cpus_of_loader(profile, finding);
    if (!isnan(waiting))
        return waiting;
    if (!strcmp(finding->rule, "too_few_workers"))
        return computing_workers_needed(profile, finding, cpus);
    const double data_s = pt_finding_number(finding, &profile->metrics, "training.data_s");
    const double train_s = pt_finding_number(finding, &profile->metrics, "training.total_s") - data_s;
    const double needed = fmin(ceil(data_s / fmax(train_s, 1e-9)), cpus);
    return isnan(data_s) || isnan(cpus) ? 2 : fmax(needed, 2);
}

struct blank {
    const char *text;
    double (*number)(const struct pt_profile *profile, const struct pt_finding *finding);
    const char *unknown;
};

/* "num_workers=N" becomes a number. */
static const char *filled_in(struct pt_profile *profile, const struct pt_finding *finding, const char *remedy)
{
    static const struct blank blanks[] = {{"num_workers=N", workers_needed, "number of CPUs"},
                                          {"num_workers=CPUS", pt_cpus_of_loader, "number of CPUs"}};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        const char *at = strstr(remedy, blanks[i].text);
        if (!at)
            continue;
        const char *behind = at + strlen(blanks[i].text);
        const double number = blanks[i].number(profile, finding);
        return isnan(number) ? pt_metrics_format(&profile->metrics, "%.*snum_workers=%s%s", (int)(at - remedy), remedy,
                                                 blanks[i].unknown, behind)
                             : pt_metrics_format(&profile->metrics, "%.*snum_workers=%.0f%s", (int)(at - remedy),
                                                 remedy, number, behind);
    }
    return remedy;
}

/* What workers would compute on the CPU that the training needs; while they wait for files it could train. */
static bool gains_nothing_by_workers(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const bool is_loading = !strcmp(finding->rule, "loading_in_main");
    const bool computes = is_loading ? pt_finding_number(finding, &profile->metrics,
                                                         "load.in_main.beyond_workers_percent") >= MOSTLY_PERCENT
                                     : !strcmp(finding->rule, "python_in_training") && !finding->is_wait;
    return computes && pt_cpus_of_loader(profile, finding) < 2;
}

/* Without its parts, between semicolons, that ask for workers. A remedy of nothing else stays. */
static const char *without_workers(struct pt_profile *profile, const char *remedy)
{
    const char *kept = "";
    for (size_t n; *remedy; remedy += n + strspn(remedy + n, "; ")) {
        n = strcspn(remedy, ";");
        if (memmem(remedy, n, "num_workers=", strlen("num_workers=")))
            continue;
        kept = pt_metrics_format(&profile->metrics, "%s%s%.*s", kept, *kept ? "; " : "", (int)n, remedy);
    }
    return kept;
}

/* Of the threads of one process it is how many there should be; where each of several has a pool, their share. */
static const char *of_several_processes(struct pt_profile *profile, const struct pt_finding *finding,
                                        const char *remedy)
{
    static const char between[] = "; in several processes ";
    const char *at = strstr(remedy, between);
    if (!at || !(pt_finding_number(finding, &profile->metrics, "cpu.pools.of_many_percent") >= MOSTLY_PERCENT))
        return remedy;
    const char *option = at + sizeof between - 1, *number = strstr(option, "SHARE");
    if (!number)
        return remedy;
    return pt_metrics_format(&profile->metrics, "%.*s%.0f%s in each of these processes", (int)(number - option), option,
                             pt_finding_number(finding, &profile->metrics, "cpu.pools.share"),
                             number + strlen("SHARE"));
}

const char *pt_remedy_of(struct pt_profile *profile, const struct pt_finding *finding, double *ret_share)
{
    for (const struct pt_remedy *remedy = pt_remedies; finding->stage >= 0 && remedy->rules; remedy++)
        if (is_for(remedy->rules, finding->rule) && fits(remedy, profile, finding, ret_share)) {
            const char *rest =
                gains_nothing_by_workers(profile, finding) ? without_workers(profile, remedy->remedy) : "";
            return filled_in(profile, finding, of_several_processes(profile, finding, *rest ? rest : remedy->remedy));
        }
    return NULL;
}

/* ---- samples that come from an iterator ---- */

/* Unknown is not 0: workers may have been started before a window. Who only calls a model has no count. */
static bool has_no_workers(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double workers = pt_finding_number(finding, metrics, "training.workers.count");
    return workers == 0 || (isnan(workers) && !(pt_finding_number(finding, metrics, "helpers.workers.count") > 0) &&
                            pt_finding_number(finding, metrics, "training.only_calls_percent") >= MOSTLY_PERCENT);
}

/* Without it the training would learn each sample as often as there are workers, and nothing would say so. */
const char *pt_in_words_of_data_set(struct pt_profile *profile, const struct pt_finding *finding, const char *text)
{
    static const char how[] = "the data by get_worker_info() in __iter__: else each sample comes once per worker";
    if (finding->stage < 0 || !strstr(text, "num_workers") || !has_no_workers(profile, finding) ||
        !pt_would_repeat_samples(profile, finding))
        return text;
    const bool is_sentence = text[strlen(text) - 1] == '.';
    return pt_metrics_format(&profile->metrics, is_sentence ? "%s Share %s." : "%s; share %s", text, how);
}

/* ---- trainers ---- */

/* To import a trainer is not to train with it. `function`: NULL = any. */
static bool runs(const struct pt_profile *profile, pt_i64 stage, const char *file, const char *function)
{
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        for (pt_u32 j = 0; (pt_i64)stack->stage == stage && j < stack->n; j++)
            if (stack->frames[j].flags & PT_FRAME_OF_PYTHON && stack->frames[j].file &&
                strstr(stack->frames[j].file, file) && *stack->frames[j].function != '<' &&
                (!function || strstr(stack->frames[j].function, function)))
                return true;
    }
    return false;
}

/* Who only calls a model, by predict() or evaluate() of Keras, has no loader that would name its data: the files of
 * Keras that make its batches tell. A generator is called by what serves a PyDataset, too, which has a file of its own.
 */
static const char *data_that_runs(const struct pt_profile *profile, pt_i64 stage)
{
    static const struct {
        const char *file, *function, *data;
    } rows[] = {{"py_dataset_adapter.py", NULL, "PyDatasetAdapter"},
                {"tf_dataset_adapter.py", NULL, "TFDatasetAdapter"},
                {"array_data_adapter.py", NULL, "ArrayDataAdapter"},
                {"generator_data_adapter.py", NULL, "GeneratorDataAdapter"},
                {"data_adapter_utils.py", "get_jax_iterator", "GeneratorDataAdapter"},
                {"data_adapter_utils.py", "__iter__", "ConverterIterableDataset"}};
    char file[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(file, sizeof file, "/keras/src/trainers/data_adapters/%s", rows[i].file);
        if (runs(profile, stage, file, rows[i].function))
            return rows[i].data;
    }
    return "";
}

/* On PyTorch the class that Keras puts around arrays has a name that a program's own may have. */
static bool takes_data(const struct pt_profile *profile, const struct pt_finding *finding, const char *patterns)
{
    static const char file[] = "/keras/src/trainers/data_adapters/array_data_adapter.py";
    const char *name = name_of_data_set(profile, finding);
    if (name && !strcmp(name, "ArrayDataset") && runs(profile, finding->stage, file, NULL))
        name = "ArrayDataAdapter";
    return is_any(name ? name : data_that_runs(profile, finding->stage), patterns);
}

static const char *replaced(struct pt_profile *profile, const char *text, const char *what, const char *instead)
{
    PT_AUTO(pt_str_fini) struct pt_str to = {0};
    for (const char *at; (at = strstr(text, what)); text = at + strlen(what)) {
        pt_str_bytes(&to, text, (size_t)(at - text));
        pt_str_add(&to, instead);
    }
    pt_str_add(&to, text);
    return pt_metrics_text(&profile->metrics, pt_str_text(&to));
}

const char *pt_in_words_of_trainer(struct pt_profile *profile, const struct pt_finding *finding, const char *text)
{
    static const struct {
        const char *where, *option, *instead;
    } rows[] = {
#define TRAINER(where, option, instead) {where, option, instead},
#include "trainers.def"
#undef TRAINER
    };
    const char *last = NULL;
    bool is_there = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strstr(text, rows[i].option))
            continue;
        const char *where = rows[i].where;
        if (!last || strcmp(last, where) != 0)
            is_there =
                strchr(where, '/') ? runs(profile, finding->stage, where, NULL) : takes_data(profile, finding, where);
        last = where;
        text = is_there ? replaced(profile, text, rows[i].option, rows[i].instead) : text;
    }
    return text;
}
