/* SPDX-License-Identifier: MIT
 *
 * stage_command.c - Owns: which names in braces are replaced. Threads: any. Never: replaces within inserted text.
 */
#include "stage_command.h"

#include <stdio.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/str.h"

/* The length of the token at `at`, and its value; 0 = there is none. */
static size_t token_at(const char *at, const struct pt_stage_tokens *tokens, const char *epochs, const char **ret_value)
{
    const struct {
        const char *token, *value;
    } known[] = {
        {"{config}", tokens->config},
        {"{dataset}", tokens->dataset},
        {"{epochs}", epochs},
        {"{report_dir}", tokens->report_dir},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t length = strlen(known[i].token);
        if (strncmp(at, known[i].token, length) != 0)
            continue;
        *ret_value = known[i].value ? known[i].value : "";
        return length;
    }
    return 0;
}

static void expand(const char *argument, const struct pt_stage_tokens *tokens, const char *epochs, struct pt_str *out)
{
    for (const char *at = argument; *at;) {
        const char *value = NULL;
        const size_t length = *at == '{' ? token_at(at, tokens, epochs, &value) : 0;
        if (length)
            pt_str_add(out, value);
        else
            pt_str_char(out, *at);
        at += length ? length : 1;
    }
    pt_str_bytes(out, "", 1); /* its NUL */
}

char **pt_stage_command(const char *const *command, const struct pt_stage_tokens *tokens)
{
    PT_AUTO(pt_str_fini) struct pt_str texts = {0};
    char epochs[24];
    size_t n = 0;
    snprintf(epochs, sizeof epochs, "%llu", (unsigned long long)tokens->train_epochs);
    for (; command[n]; n++)
        expand(command[n], tokens, epochs, &texts);
    char **copy = pt_malloc((n + 1) * sizeof *copy + texts.n);
    char *at = memcpy(copy + n + 1, pt_str_text(&texts), texts.n);
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1)
        copy[i] = at;
    copy[n] = NULL;
    return copy;
}
