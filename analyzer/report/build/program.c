/* SPDX-License-Identifier: MIT
 *
 * Owns: which word of a command is the program. Threads: one. Never: renames a stage that the user has named.
 */
#include "program.h"

#include <string.h>

#include "report/outcome.h"
#include "util/text/path.h"

static bool is_interpreter(const char *name)
{
    static const char *const names[] = {"python", "pypy", "bash", "sh",   "dash",
                                        "zsh",    "perl", "ruby", "node", "Rscript"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (!strncmp(name, names[i], n) && !name[n + strspn(name + n, "0123456789.t")])
            return true;
    }
    return false;
}

/* Options of Python whose argument may follow after a blank. */
static bool takes_a_word(const char *option)
{
    return !strcmp(option, "-W") || !strcmp(option, "-X") || !strcmp(option, "--check-hash-based-pycs");
}

/* The script among an interpreter's arguments, or the module after -m. NULL = the program was given as text, or
 * there is none. */
static const char *script_of(const char *const *words)
{
    for (const char *const *word = words + 1; *word; word++) {
        if (!strcmp(*word, "-m"))
            return word[1];
        if (!strcmp(*word, "-c") || !strcmp(*word, "-e"))
            return NULL;
        if (takes_a_word(*word) && word[1])
            word++;
        else if (**word != '-')
            return pt_base_name(*word);
    }
    return NULL;
}

const char *pt_build_program_name(const struct pt_build *b, pt_u32 stage)
{
    const char *name = b->profile->stages.items[stage].name;
    const char **words = pt_report_stage_command(b->profile, stage, &b->doc->arena);
    if (!words[0] || !is_interpreter(pt_base_name(words[0])) || strcmp(name, pt_base_name(words[0])) != 0)
        return name;
    const char *script = script_of(words);
    return script ? script : name;
}
