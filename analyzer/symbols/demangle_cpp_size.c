/* SPDX-License-Identifier: MIT
 *
 * demangle_cpp_size.c - the grammar of mangled names (Itanium C++ ABI, 5.1), as far as it says how long each part is
 * when it is written out. Each function reads what it is named after, and returns its bytes.
 *
 * Owns nothing; any thread. Never: writes a name, or reads a part again for each time that another part names it: that
 * is what makes some names exponential.
 */
#include "demangle_cpp_size.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "demangle_cpp_expression.h"
#include "demangle_cpp_read.h"

enum { MOST_PASSES = 10 };

static double type(struct pt_cpp *r);
static double encoding(struct pt_cpp *r);
static double name(struct pt_cpp *r);
static double template_arguments(struct pt_cpp *r);

static double optional_arguments(struct pt_cpp *r)
{
    return pt_cpp_eat(r, 'I') ? template_arguments(r) : 0;
}

/* ---- names ---- */

static double operator_name(struct pt_cpp *r)
{
    if (pt_cpp_eat_text(r, "cv")) {
        const bool was_conversion = r->is_conversion;
        r->is_conversion = true;
        const double bytes = type(r) + PT_CPP_SHORT_BYTES;
        r->is_conversion = was_conversion;
        return bytes;
    }
    if (pt_cpp_eat_text(r, "li"))
        return pt_cpp_source_name(r) + PT_CPP_SHORT_BYTES;
    if (*r->at == 'v' && pt_cpp_is_digit(r->at[1])) {
        r->at += 2;
        return pt_cpp_source_name(r) + PT_CPP_SHORT_BYTES;
    }
    if (!r->at[1])
        return pt_cpp_fail(r);
    r->at += 2;
    return PT_CPP_SHORT_BYTES;
}

/* A constructor or destructor has the name of its class. */
static double structor(struct pt_cpp *r)
{
    const bool is_binding = pt_cpp_eat_text(r, "DC"), inherits = pt_cpp_eat_text(r, "CI");
    if (is_binding)
        return pt_cpp_many(r, pt_cpp_source_name);
    r->at += inherits ? 0 : 1;
    if (!pt_cpp_is_digit(*r->at))
        return pt_cpp_fail(r);
    r->at++;
    return fmax(r->name_bytes, PT_CPP_STANDARD_BYTES) + 1 + (inherits ? type(r) : 0);
}

/* "Ul...E_" is a lambda, "Ut_" a type without a name. */
static double unnamed(struct pt_cpp *r)
{
    double bytes = PT_CPP_SHORT_BYTES;
    if (pt_cpp_eat_text(r, "Ul"))
        bytes += pt_cpp_many(r, type);
    else if (!pt_cpp_eat_text(r, "Ut"))
        return pt_cpp_fail(r);
    pt_cpp_number(r);
    r->n_doubtful++;
    return pt_cpp_eat(r, '_') ? pt_cpp_remember(r, bytes) : pt_cpp_fail(r);
}

static double unqualified_name(struct pt_cpp *r)
{
    double bytes = 0;
    const char c = *r->at;
    if (pt_cpp_is_digit(c)) {
        bytes = pt_cpp_source_name(r);
    } else if (pt_cpp_eat(r, 'L')) {
        bytes = pt_cpp_source_name(r);
        pt_cpp_discriminator(r);
    } else if (pt_cpp_is_lower(c)) {
        bytes = operator_name(r);
    } else if (c == 'C' || c == 'D') {
        bytes = structor(r);
    } else {
        bytes = unnamed(r);
    }
    while (pt_cpp_eat(r, 'B'))
        bytes += pt_cpp_source_name(r) + PT_CPP_SHORT_BYTES;
    return bytes;
}

static double prefix_part(struct pt_cpp *r)
{
    if (pt_cpp_eat(r, 'I')) {
        const double bytes = template_arguments(r);
        return *r->at == 'I' ? pt_cpp_fail(r) : bytes; /* the first may be those of "T_" in "cvT_" */
    }
    if (*r->at == 'T')
        return pt_cpp_parameter(r);
    if (*r->at == 'S')
        return pt_cpp_substitution(r);
    if (*r->at == 'D' && (r->at[1] == 't' || r->at[1] == 'T'))
        return type(r);
    return unqualified_name(r);
}

static double nested_name(struct pt_cpp *r)
{
    double all = PT_CPP_SHORT_BYTES;
    while (*r->at && strchr("rVKRO", *r->at))
        r->at++;
    while (!pt_cpp_eat(r, 'E')) {
        const char first = *r->at;
        if (!first)
            return pt_cpp_fail(r);
        if (pt_cpp_eat(r, 'M'))
            continue;
        all += prefix_part(r) + 2;
        if (first != 'S' && *r->at != 'E')
            pt_cpp_remember(r, all);
    }
    return all;
}

static double local_name(struct pt_cpp *r)
{
    double bytes = encoding(r) + 2;
    if (!pt_cpp_eat(r, 'E'))
        return pt_cpp_fail(r);
    if (pt_cpp_eat(r, 's')) {
        bytes += PT_CPP_SHORT_BYTES;
    } else {
        if (pt_cpp_eat(r, 'd')) {
            pt_cpp_number(r);
            if (!pt_cpp_eat(r, '_'))
                return pt_cpp_fail(r);
            bytes += PT_CPP_SHORT_BYTES;
        }
        bytes += name(r);
    }
    pt_cpp_discriminator(r);
    return bytes;
}

static double name(struct pt_cpp *r)
{
    double bytes;
    if (pt_cpp_eat(r, 'N'))
        return nested_name(r);
    if (pt_cpp_eat(r, 'Z'))
        return local_name(r);
    if (*r->at == 'S' && r->at[1] != 't') {
        bytes = pt_cpp_substitution(r);
        return bytes + optional_arguments(r);
    }
    bytes = pt_cpp_eat_text(r, "St") ? 5 : 0;
    bytes += unqualified_name(r);
    if (*r->at == 'I')
        pt_cpp_remember(r, bytes);
    return bytes + optional_arguments(r);
}

/* ---- template arguments ---- */

/* "X...E" */
static double template_argument(struct pt_cpp *r)
{
    if (pt_cpp_eat(r, 'X')) {
        const double bytes = pt_cpp_expression(r) + 2;
        return pt_cpp_eat(r, 'E') ? bytes : pt_cpp_fail(r);
    }
    if (*r->at == 'L')
        return pt_cpp_expression(r);
    if (pt_cpp_eat(r, 'I') || pt_cpp_eat(r, 'J')) {
        const double bytes = template_arguments(r);
        r->longest_pack = fmax(r->longest_pack, r->n_arguments);
        return bytes;
    }
    return type(r);
}

/* Behind the "I" or "J". Those of the function's own name are what T_ stands for in its types. */
static double template_arguments(struct pt_cpp *r)
{
    double all = 4, longest = 0, n = 0;
    const bool is_own = r->types++ == 0;
    if (++r->depth > PT_CPP_MOST_DEPTH)
        return pt_cpp_fail(r);
    for (; !pt_cpp_eat(r, 'E'); n++) {
        if (!*r->at)
            return pt_cpp_fail(r);
        const double one = template_argument(r);
        longest = fmax(longest, one);
        all += one + 2;
    }
    r->depth--;
    r->types--;
    r->n_arguments = n;
    if (is_own)
        r->longest_argument = fmax(r->longest_argument, longest);
    return all;
}

/* ---- types ---- */

static double parameters(struct pt_cpp *r)
{
    double all = 0;
    while (*r->at && *r->at != 'E' && *r->at != '.') {
        if ((*r->at == 'R' || *r->at == 'O') && r->at[1] == 'E') {
            r->at++;
            break;
        }
        all += type(r) + 2;
    }
    return all;
}

static double function_type(struct pt_cpp *r)
{
    if (!pt_cpp_eat(r, 'F'))
        return pt_cpp_fail(r);
    pt_cpp_eat(r, 'Y');
    const double bytes = parameters(r) + PT_CPP_SHORT_BYTES;
    return pt_cpp_eat(r, 'E') ? bytes : pt_cpp_fail(r);
}

static bool is_qualifier(const struct pt_cpp *r)
{
    return (*r->at && strchr("rVK", *r->at)) || (*r->at == 'D' && r->at[1] && strchr("xoOw", r->at[1]));
}

/* const, noexcept and the like. */
static double qualified_type(struct pt_cpp *r)
{
    double bytes = 0;
    while (is_qualifier(r)) {
        bytes += PT_CPP_SHORT_BYTES;
        if (pt_cpp_eat_text(r, "DO")) {
            bytes += pt_cpp_expression(r);
            if (!pt_cpp_eat(r, 'E'))
                return pt_cpp_fail(r);
        } else if (pt_cpp_eat_text(r, "Dw")) {
            bytes += pt_cpp_many(r, type);
        } else {
            r->at += *r->at == 'D' ? 2 : 1;
        }
    }
    return pt_cpp_remember(r, bytes + (*r->at == 'F' ? function_type(r) : type(r)));
}

/* "A3_i", "Dv3_i": of so many, or of as many as an expression says. */
static double array_type(struct pt_cpp *r)
{
    double bytes = PT_CPP_SHORT_BYTES;
    if (*r->at != '_') {
        const char *before = r->at;
        bytes += pt_cpp_number(r) ? (double)(r->at - before) : pt_cpp_expression(r);
    }
    if (!pt_cpp_eat(r, '_'))
        return pt_cpp_fail(r);
    return pt_cpp_remember(r, bytes + type(r));
}

/* Types whose name begins with "D". */
static double rare_type(struct pt_cpp *r)
{
    if (pt_cpp_eat_text(r, "Dp")) {
        const double bytes = type(r) + 2;
        return pt_cpp_remember(r, bytes * r->pack);
    }
    if (pt_cpp_eat_text(r, "Dv"))
        return array_type(r);
    if (pt_cpp_eat_text(r, "Dt") || pt_cpp_eat_text(r, "DT")) {
        const double bytes = pt_cpp_expression(r) + PT_CPP_SHORT_BYTES;
        return pt_cpp_eat(r, 'E') ? pt_cpp_remember(r, bytes) : pt_cpp_fail(r);
    }
    if (pt_cpp_eat_text(r, "DF")) {
        pt_cpp_number(r);
        return pt_cpp_eat(r, '_') || pt_cpp_eat(r, 'b') || pt_cpp_eat(r, 'x') ? PT_CPP_SHORT_BYTES : pt_cpp_fail(r);
    }
    if (!r->at[1] || !strchr("acdefhinsu", r->at[1]))
        return pt_cpp_fail(r);
    r->at += 2;
    return PT_CPP_SHORT_BYTES;
}

/* Of a class: "S_", "S_IiE", "Ss", "St3foo". */
static double named_again(struct pt_cpp *r)
{
    const bool is_std = r->at[1] == 't', is_short = pt_cpp_is_lower(r->at[1]);
    double bytes;
    if (is_std)
        return pt_cpp_remember(r, name(r));
    bytes = pt_cpp_substitution(r);
    if (*r->at == 'B' && is_short)
        return pt_cpp_fail(r);
    return *r->at == 'I' ? pt_cpp_remember(r, bytes + optional_arguments(r)) : bytes;
}

/* Behind "cvT_", a conversion to any type, arguments are those of the operator. */
static double parameter_type(struct pt_cpp *r)
{
    const double bytes = pt_cpp_remember(r, pt_cpp_parameter(r));
    return *r->at == 'I' && !r->is_conversion ? pt_cpp_remember(r, bytes + optional_arguments(r)) : bytes;
}

static double vendor_type(struct pt_cpp *r)
{
    const bool is_qualifier = pt_cpp_eat(r, 'U');
    r->at += is_qualifier ? 0 : 1;
    double bytes = pt_cpp_source_name(r) + 2;
    bytes += optional_arguments(r);
    return pt_cpp_remember(r, bytes + (is_qualifier ? type(r) : 0));
}

/* Of other types: pointers, arrays, members. */
static double compound_type(struct pt_cpp *r)
{
    if (pt_cpp_eat(r, 'A'))
        return array_type(r);
    if (pt_cpp_eat(r, 'M')) {
        const double of = type(r);
        return pt_cpp_remember(r, of + type(r) + PT_CPP_SHORT_BYTES);
    }
    if (!*r->at || !strchr("ORPCG", *r->at))
        return pt_cpp_fail(r);
    r->at++;
    return pt_cpp_remember(r, type(r) + PT_CPP_SHORT_BYTES);
}

static double type_at(struct pt_cpp *r)
{
    const char c = *r->at;
    if (is_qualifier(r))
        return qualified_type(r);
    if (pt_cpp_is_digit(c) || c == 'N' || c == 'Z')
        return pt_cpp_remember(r, name(r));
    if (c == 'S')
        return named_again(r);
    if (c == 'T')
        return parameter_type(r);
    if (c == 'D')
        return rare_type(r);
    if (c == 'F')
        return pt_cpp_remember(r, function_type(r));
    if (c == 'u' || c == 'U')
        return vendor_type(r);
    if (!pt_cpp_is_lower(c))
        return compound_type(r);
    r->at++;
    return PT_CPP_SHORT_BYTES;
}

static double type(struct pt_cpp *r)
{
    if (++r->depth > PT_CPP_MOST_DEPTH)
        return pt_cpp_fail(r);
    r->types++;
    const double bytes = type_at(r);
    r->types--;
    r->depth--;
    return bytes;
}

/* ---- the whole ---- */

/* Virtual tables, type information, guards, variables of threads, thunks. */
static double special_name(struct pt_cpp *r)
{
    if (pt_cpp_eat_text(r, "TV") || pt_cpp_eat_text(r, "TT") || pt_cpp_eat_text(r, "TI") || pt_cpp_eat_text(r, "TS"))
        return PT_CPP_SHORT_BYTES + type(r);
    if (pt_cpp_eat_text(r, "GV") || pt_cpp_eat_text(r, "TH") || pt_cpp_eat_text(r, "TW"))
        return PT_CPP_SHORT_BYTES + name(r);
    const bool has_two = pt_cpp_eat_text(r, "Tv");
    if (!has_two && !pt_cpp_eat_text(r, "Th"))
        return pt_cpp_fail(r);
    for (int i = 0; i < (has_two ? 2 : 1); i++) {
        pt_cpp_number(r);
        if (!pt_cpp_eat(r, '_'))
            return pt_cpp_fail(r);
    }
    return PT_CPP_SHORT_BYTES + encoding(r);
}

/* A name, and the types of what it takes. */
static double encoding(struct pt_cpp *r)
{
    const unsigned types = r->types;
    if (++r->depth > PT_CPP_MOST_DEPTH)
        return pt_cpp_fail(r);
    r->types = 0;
    if (++r->encodings > r->deepest)
        r->deepest = r->encodings;
    const bool is_special = *r->at == 'T' || *r->at == 'G';
    double bytes = is_special ? special_name(r) : name(r);
    bytes += is_special ? 0 : parameters(r);
    r->types = types;
    r->encodings--;
    r->depth--;
    return bytes;
}

static const struct pt_cpp_grammar grammar = {type, encoding, unqualified_name, template_argument, optional_arguments};

/* In a function within a function, an argument of the one may hold arguments of the other: for each that is open there
 * is a pass. */
double pt_demangled_bytes_at_most(const char *mangled)
{
    struct pt_cpp r = {.pack = 1};
    for (unsigned pass = 0;; pass++) {
        r = (struct pt_cpp){.grammar = &grammar,
                            .at = mangled + 2,
                            .argument_bytes = r.longest_argument,
                            .pack = fmax(1, r.longest_pack)};
        double bytes = encoding(&r);
        bytes += (double)strlen(r.at); /* ".constprop.0" */
        if (r.has_failed || (*r.at && *r.at != '.') || pass == MOST_PASSES)
            return INFINITY;
        if (pass >= r.deepest || (r.longest_argument <= r.argument_bytes && r.longest_pack <= r.pack))
            return bytes;
    }
}
