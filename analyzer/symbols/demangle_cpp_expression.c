/* SPDX-License-Identifier: MIT
 *
 * Owns nothing; any thread. Never: takes an operator that it does not know for one with some number of operands.
 */
#include "demangle_cpp_expression.h"

#include <string.h>

/* "Li5E", "L_Z4nameE" */
static double literal(struct pt_cpp *r)
{
    double bytes = 4;
    if (!pt_cpp_eat(r, 'L'))
        return pt_cpp_fail(r);
    if (pt_cpp_eat_text(r, "_Z") || pt_cpp_eat(r, 'Z')) {
        bytes += r->grammar->encoding(r);
    } else {
        bytes += r->grammar->type(r);
        for (; *r->at && *r->at != 'E'; r->at++)
            bytes++;
    }
    return pt_cpp_eat(r, 'E') ? bytes : pt_cpp_fail(r);
}

/* "fp_", "fp0_", "fL1p_" */
static double function_parameter(struct pt_cpp *r)
{
    if (pt_cpp_eat_text(r, "fL")) {
        pt_cpp_number(r);
        if (!pt_cpp_eat(r, 'p'))
            return pt_cpp_fail(r);
    } else {
        r->at += 2;
    }
    if (pt_cpp_eat(r, 'T'))
        return PT_CPP_SHORT_BYTES;
    while (*r->at && strchr("rVK", *r->at))
        r->at++;
    pt_cpp_number(r);
    return pt_cpp_eat(r, '_') ? PT_CPP_SHORT_BYTES : pt_cpp_fail(r);
}

static double member_name(struct pt_cpp *r)
{
    pt_cpp_eat_text(r, "on");
    const double bytes = r->grammar->unqualified_name(r);
    return bytes + r->grammar->optional_arguments(r);
}

/* Behind "sr": "3std9is_signedIiEE5value", "NT_1aE5value", "T_5value". */
static double scoped_name(struct pt_cpp *r)
{
    const bool is_long = pt_cpp_eat(r, 'N'), has_levels = is_long || pt_cpp_is_digit(*r->at);
    double bytes = PT_CPP_SHORT_BYTES;
    if (is_long || !has_levels)
        bytes += r->grammar->type(r);
    while (has_levels && !pt_cpp_eat(r, 'E')) {
        bytes += pt_cpp_source_name(r) + 2;
        bytes += r->grammar->optional_arguments(r);
        if (!*r->at)
            return pt_cpp_fail(r);
    }
    return bytes + member_name(r);
}

/* Behind "nw": "cvPvLi0E_T_piLi1EE", where to put it, its type, and what it begins with. */
static double new_object(struct pt_cpp *r)
{
    double bytes = PT_CPP_SHORT_BYTES;
    while (!pt_cpp_eat(r, '_')) {
        if (!*r->at)
            return pt_cpp_fail(r);
        bytes += pt_cpp_expression(r) + 2;
    }
    bytes += r->grammar->type(r);
    if (pt_cpp_eat_text(r, "pi"))
        return bytes + pt_cpp_many(r, pt_cpp_expression);
    return pt_cpp_eat(r, 'E') ? bytes : bytes + pt_cpp_expression(r);
}

/* What follows each operator: e = an expression, t = a type, n = a name, l = expressions up to an E, a = template
 * arguments up to an E, o = an operator, p = an expression for each of a pack, _ = that character, if it is there. */
static double operands(struct pt_cpp *r, const char *what)
{
    double bytes = PT_CPP_SHORT_BYTES;
    for (; *what; what++)
        switch (*what) {
        case 'e':
            bytes += pt_cpp_expression(r);
            break;
        case 't':
            bytes += r->grammar->type(r);
            break;
        case 'n':
            bytes += member_name(r);
            break;
        case 'l':
            bytes += pt_cpp_many(r, pt_cpp_expression);
            break;
        case 'a':
            bytes += pt_cpp_many(r, r->grammar->template_argument);
            break;
        case 'p':
            bytes += (pt_cpp_expression(r) + 2) * r->pack;
            break;
        case 'o':
            r->at += *r->at && r->at[1] ? 2 : 0;
            break;
        default:
            pt_cpp_eat(r, *what);
        }
    return bytes;
}

static double operation(struct pt_cpp *r)
{
    static const char *const operators[][2] = {
        {"dt", "en"},  {"pt", "en"},  {"sp", "p"},  {"sP", "a"},   {"sZ", "e"},  {"il", "l"},
        {"tl", "tl"},  {"cl", "l"},   {"st", "t"},  {"ti", "t"},   {"at", "t"},  {"sz", "e"},
        {"az", "e"},   {"te", "e"},   {"nx", "e"},  {"tw", "e"},   {"tr", ""},   {"dc", "te"},
        {"sc", "te"},  {"cc", "te"},  {"rc", "te"}, {"qu", "eee"}, {"fl", "oe"}, {"fr", "oe"},
        {"fL", "oee"}, {"fR", "oee"}, {"pp", "_e"}, {"mm", "_e"},  {"ps", "e"},  {"ng", "e"},
        {"ad", "e"},   {"de", "e"},   {"co", "e"},  {"nt", "e"},   {"dl", "e"},  {"da", "e"},
    };
    static const char binary[] = "aN aS aa an cm dV dv eO eo eq ge gt ix lS le ls lt mI mL mi ml ne oR oo or pL pl pm "
                                 "rM rS rm rs ss";
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (pt_cpp_eat_text(r, operators[i][0]))
            return operands(r, operators[i][1]);
    if (pt_cpp_eat_text(r, "sr"))
        return scoped_name(r);
    if (pt_cpp_eat_text(r, "nw") || pt_cpp_eat_text(r, "na"))
        return new_object(r);
    if (pt_cpp_eat_text(r, "cv")) {
        const double bytes = r->grammar->type(r);
        return bytes + operands(r, pt_cpp_eat(r, '_') ? "l" : "e");
    }
    const char code[] = {r->at[0], r->at[0] ? r->at[1] : '\0', '\0'};
    if (strlen(code) != 2 || !strstr(binary, code))
        return pt_cpp_fail(r);
    r->at += 2;
    return operands(r, "ee");
}

static double expression_at(struct pt_cpp *r)
{
    pt_cpp_eat_text(r, "gs");
    if (*r->at == 'L')
        return literal(r);
    if (*r->at == 'T')
        return pt_cpp_parameter(r);
    if (!strncmp(r->at, "fp", 2) || (!strncmp(r->at, "fL", 2) && pt_cpp_is_digit(r->at[2])))
        return function_parameter(r);
    if (pt_cpp_is_digit(*r->at) || !strncmp(r->at, "on", 2))
        return member_name(r);
    return operation(r);
}

double pt_cpp_expression(struct pt_cpp *r)
{
    if (++r->depth > PT_CPP_MOST_DEPTH)
        return pt_cpp_fail(r);
    r->types++;
    const double bytes = expression_at(r);
    r->types--;
    r->depth--;
    return bytes;
}
