/* SPDX-License-Identifier: MIT
 *
 * Owns nothing; any thread. Never: reads behind the end of a name, nor a part again for each time that it is named.
 */
#include "demangle_cpp_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pt_cpp_fail(struct pt_cpp *r)
{
    r->has_failed = true;
    r->at = "";
    return 0;
}

bool pt_cpp_eat(struct pt_cpp *r, char c)
{
    if (*r->at != c || !c)
        return false;
    r->at++;
    return true;
}

bool pt_cpp_eat_text(struct pt_cpp *r, const char *text)
{
    const size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

double pt_cpp_many(struct pt_cpp *r, double (*one)(struct pt_cpp *))
{
    double all = 0;
    while (!pt_cpp_eat(r, 'E')) {
        if (!*r->at)
            return pt_cpp_fail(r);
        all += one(r) + 2;
    }
    return all;
}

/* ---- parts that are named again ---- */

double pt_cpp_remember(struct pt_cpp *r, double bytes)
{
    if (r->n_parts == PT_CPP_MOST_PARTS)
        return pt_cpp_fail(r);
    r->parts[r->n_parts++] = bytes;
    return bytes;
}

/* Those that are counted by some demanglers only may have moved the number. */
static double part(struct pt_cpp *r, size_t number)
{
    double bytes = 0;
    if (number >= r->n_parts)
        return pt_cpp_fail(r);
    for (size_t i = number; i <= number + r->n_doubtful && i < r->n_parts; i++)
        bytes = fmax(bytes, r->parts[i]);
    return bytes;
}

double pt_cpp_substitution(struct pt_cpp *r)
{
    size_t number = 0;
    if (!pt_cpp_eat(r, 'S'))
        return pt_cpp_fail(r);
    if (pt_cpp_is_lower(*r->at)) {
        r->at++;
        return PT_CPP_STANDARD_BYTES;
    }
    if (pt_cpp_eat(r, '_'))
        return part(r, 0);
    for (; pt_cpp_is_digit(*r->at) || pt_cpp_is_upper(*r->at); r->at++)
        if (number < PT_CPP_MOST_PARTS)
            number = 36 * number + (size_t)(pt_cpp_is_digit(*r->at) ? *r->at - '0' : *r->at - 'A' + 10);
    return pt_cpp_eat(r, '_') ? part(r, number + 1) : pt_cpp_fail(r);
}

double pt_cpp_parameter(struct pt_cpp *r)
{
    if (!pt_cpp_eat(r, 'T'))
        return pt_cpp_fail(r);
    while (pt_cpp_is_digit(*r->at))
        r->at++;
    return pt_cpp_eat(r, '_') ? fmax(r->argument_bytes, PT_CPP_SHORT_BYTES) : pt_cpp_fail(r);
}

/* ---- numbers and names as they are in the source ---- */

bool pt_cpp_number(struct pt_cpp *r)
{
    const char *before = r->at;
    pt_cpp_eat(r, 'n');
    while (pt_cpp_is_digit(*r->at))
        r->at++;
    return r->at != before;
}

double pt_cpp_source_name(struct pt_cpp *r)
{
    static const char anonymous[] = "_GLOBAL_";
    char *end;
    if (!pt_cpp_is_digit(*r->at))
        return pt_cpp_fail(r);
    const unsigned long n = strtoul(r->at, &end, 10);
    if (n > strlen(end))
        return pt_cpp_fail(r);
    const double bytes = strncmp(end, anonymous, sizeof anonymous - 1) ? (double)n : PT_CPP_SHORT_BYTES + (double)n;
    r->at = end + n;
    r->name_bytes = fmax(r->name_bytes, bytes);
    return bytes;
}

void pt_cpp_discriminator(struct pt_cpp *r)
{
    if (!pt_cpp_eat(r, '_'))
        return;
    if (!pt_cpp_eat(r, '_')) {
        r->at += pt_cpp_is_digit(*r->at);
        return;
    }
    pt_cpp_number(r);
    pt_cpp_eat(r, '_');
}
