/* SPDX-License-Identifier: MIT
 *
 * git_head.c - Owns: nothing. Threads: main only. Never: runs git, follows more than one level of reference, takes a
 * text for a commit that does not have the form of one, or the commit of another repository around this one.
 */
#include "git_head.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/small_file.h"

static bool take_commit(const char *text, char commit[PT_GIT_COMMIT_BYTES])
{
    const size_t length = strspn(text, "0123456789abcdef");
    if ((length != 40 && length != 64) || (text[length] && !strchr(" \t\n", text[length])))
        return false;
    memcpy(commit, text, length);
    commit[length] = 0;
    return true;
}

/* Branches that have not changed since the last `git gc` are in one file. */
static bool packed_commit(const char *folder, const char *reference, char commit[PT_GIT_COMMIT_BYTES])
{
    char path[PATH_MAX], line[1024];
    if (snprintf(path, sizeof path, "%s/packed-refs", folder) >= (int)sizeof path)
        return false;
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = strchr(line, ' ');
        if (name && !strncmp(name + 1, reference, strlen(reference)) && name[1 + strlen(reference)] == '\n')
            return take_commit(line, commit);
    }
    return false;
}

static bool commit_of(const char *folder, const char *reference, char commit[PT_GIT_COMMIT_BYTES])
{
    char text[128];
    return (pt_small_file_peek(text, sizeof text, "%s/%s", folder, reference) > 0 && take_commit(text, commit)) ||
           packed_commit(folder, reference, commit);
}

static bool join(const char *folder, const char *path, char ret[static PATH_MAX])
{
    const int n = *path == '/' ? snprintf(ret, PATH_MAX, "%s", path) : snprintf(ret, PATH_MAX, "%s/%s", folder, path);
    return n < PATH_MAX;
}

static bool head_of(const char *folder, char commit[PT_GIT_COMMIT_BYTES])
{
    static const char prefix[] = "ref: ";
    char head[512], line[PATH_MAX], common[PATH_MAX];
    if (pt_small_file_peek(head, sizeof head, "%s/HEAD", folder) <= 0)
        return false;
    if (strncmp(head, prefix, strlen(prefix)))
        return take_commit(head, commit);
    head[strcspn(head, "\n")] = 0;
    const char *reference = head + strlen(prefix);
    if (strstr(reference, ".."))
        return false;
    if (commit_of(folder, reference, commit))
        return true;
    /* A worktree has its own HEAD, and its branches in the repository that it belongs to. */
    return pt_small_file_word(line, sizeof line, "%s/commondir", folder) && join(folder, line, common) &&
           commit_of(common, reference, commit);
}

/* In a worktree and in a submodule .git is a file that says where the repository is. */
static bool head_by_file(const char *folder, const char *file, char commit[PT_GIT_COMMIT_BYTES])
{
    static const char prefix[] = "gitdir: ";
    char line[PATH_MAX + sizeof prefix], repository[PATH_MAX];
    return pt_small_file_word(line, sizeof line, "%s", file) && !strncmp(line, prefix, strlen(prefix)) &&
           join(folder, line + strlen(prefix), repository) && head_of(repository, commit);
}

bool pt_git_head(char commit[PT_GIT_COMMIT_BYTES])
{
    char folder[PATH_MAX], git[PATH_MAX];
    struct stat status;
    if (!getcwd(folder, sizeof folder))
        return false;
    for (;;) {
        if (snprintf(git, sizeof git, "%s/.git", folder) >= (int)sizeof git)
            return false;
        /* Never further up: a repository around this one has other commits. */
        if (stat(git, &status) == 0)
            return S_ISDIR(status.st_mode) ? head_of(git, commit) : head_by_file(folder, git, commit);
        char *slash = strrchr(folder, '/');
        if (!slash || !*folder)
            return false;
        *slash = 0;
    }
}
