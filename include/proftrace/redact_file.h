/* SPDX-License-Identifier: MIT
 *
 * redact_file.h - names of files without the secrets in them: people and shells open addresses as files, and downloads
 * are named after theirs.
 *
 * Pure text work, in place and of the same length: a name is stored where its bytes were counted. Any bytes are good.
 */
#ifndef PROFTRACE_REDACT_FILE_H
#define PROFTRACE_REDACT_FILE_H

#include "redact_name.h"
#include "types.h"

/* ?token=x&y=z from `at` on; returns where it ends. */
static inline pt_u64 pt_redact_query(char *path, pt_u64 at, pt_u64 bytes)
{
    while (at < bytes && (path[at] == '?' || path[at] == '&')) {
        pt_u64 name = at + 1;
        while (name < bytes && pt_redact_is_of_name(path[name]))
            name++;
        const int is_secret =
            name < bytes && path[name] == '=' && pt_redact_names_secret(path + at + 1, name - at - 1, 1);
        for (at = name; at < bytes && !pt_redact_is_one_of(path[at], "& \t\n\"'#"); at++)
            if (is_secret && at > name)
                path[at] = '*';
    }
    return at;
}

/* user:password@ behind the colon of a scheme at `at`, of which a library may have taken one slash: a shell looks for
 * files where an address holds a ?. Returns where the search goes on. */
static inline pt_u64 pt_redact_user(char *path, pt_u64 at, pt_u64 bytes)
{
    const int is_web = pt_redact_is_web(path, path + at);
    pt_u64 user = at + 1, secret = 0, sign = 0;
    while (user < bytes && path[user] == '/')
        user++;
    if (user == at + 1)
        return user;
    for (pt_u64 i = user; i < bytes && !pt_redact_is_one_of(path[i], "/? \t\n"); i++) {
        if (path[i] == ':' && !secret)
            secret = i + 1;
        if (path[i] == '@')
            sign = i;
    }
    for (pt_u64 i = secret ? secret : user; i < sign && (secret || is_web); i++)
        path[i] = '*';
    return sign > user ? sign : user;
}

/* In place, as long as it was: what people read of a path with a query (a cache of downloads) is its name. For names
 * that are stored by the thousand: one look where there is no such thing. */
static inline void pt_redact_file(char *path, pt_u64 bytes)
{
    for (pt_u64 at = 0; at < bytes;) {
        if (path[at] == '?')
            at = pt_redact_query(path, at, bytes);
        else
            at = path[at] == ':' ? pt_redact_user(path, at, bytes) : at + 1;
    }
}

#endif
