/* SPDX-License-Identifier: MIT
 *
 * demangle_cpp_read.h - what mangled names of C++ are made of: characters, numbers, names of the source, and references
 * to parts before them. Each function reads what it is named after and returns how long it is when it is written out.
 */
#ifndef PT_SYMBOLS_DEMANGLE_CPP_READ_H
#define PT_SYMBOLS_DEMANGLE_CPP_READ_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PT_CPP_MOST_PARTS = 4096,
    PT_CPP_MOST_DEPTH = 200,    /* of parts within parts */
    PT_CPP_SHORT_BYTES = 30,    /* at most: a builtin type, an operator, what is written around a part */
    PT_CPP_STANDARD_BYTES = 80, /* "std::basic_iostream<char, std::char_traits<char> >" */
};

struct pt_cpp;

/* What expressions hold, and are held by. */
struct pt_cpp_grammar {
    double (*type)(struct pt_cpp *r);
    double (*encoding)(struct pt_cpp *r);
    double (*unqualified_name)(struct pt_cpp *r);
    double (*template_argument)(struct pt_cpp *r);
    double (*optional_arguments)(struct pt_cpp *r);
};

struct pt_cpp {
    const char *at;
    double parts[PT_CPP_MOST_PARTS]; /* what S_, S0_ ... may stand for */
    unsigned n_parts, n_doubtful;    /* doubtful: some demanglers do not count them */
    unsigned depth, types;           /* types: that are open; 0 = we are in the name of the function itself */
    unsigned encodings, deepest;     /* functions within functions */
    double name_bytes;               /* the longest name so far, as that of a constructor */
    double argument_bytes, pack;     /* what T_ and Dp are taken for: the longest of the pass before */
    double longest_argument, longest_pack, n_arguments; /* n: of the list that was read last */
    bool is_conversion, has_failed;                     /* conversion: we are in the type of an operator */
    const struct pt_cpp_grammar *grammar;
};

static inline bool pt_cpp_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool pt_cpp_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool pt_cpp_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Behind it there is nothing to be read. Returns 0. */
double pt_cpp_fail(struct pt_cpp *r);
bool pt_cpp_eat(struct pt_cpp *r, char c);
bool pt_cpp_eat_text(struct pt_cpp *r, const char *text);
/* Up to an "E". */
double pt_cpp_many(struct pt_cpp *r, double (*one)(struct pt_cpp *));

/* A part that may be named again. Returns its bytes. */
double pt_cpp_remember(struct pt_cpp *r, double bytes);
/* "S_", "S0_", "St", "Ss". */
double pt_cpp_substitution(struct pt_cpp *r);
/* "T_", "T0_": an argument of the function's own template. */
double pt_cpp_parameter(struct pt_cpp *r);

/* False = there is none. */
bool pt_cpp_number(struct pt_cpp *r);
double pt_cpp_source_name(struct pt_cpp *r);
/* If there is one. */
void pt_cpp_discriminator(struct pt_cpp *r);

#endif
