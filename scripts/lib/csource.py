# SPDX-License-Identifier: MIT
"""Just enough C to measure shape and find calls: comments and literals blanked, functions and macros with their lines."""
import os
import re
import subprocess

# Identifiers that may name something linked: not the members of a struct, which may be called like a function.
WORDS = re.compile(r"(?<!\.)(?<!->)\b[A-Za-z_]\w*\b")
KEYWORDS = re.compile(r"\b(if|for|while|case)\b|&&|\|\||\?")


def own_files(root, folders, suffixes):
    """Files of ours under `folders`: what git tracks or would add, so that build folders stay out."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard", "--"] + list(folders),
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted({f for f in listed if f.endswith(tuple(suffixes)) and os.path.isfile(os.path.join(root, f))})


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def resolve(paths, path, name):
    """Which of `paths` the file at `path` includes by a quoted name; None for what is not ours."""
    for base in (os.path.dirname(path), "include", path.split("/")[0]):
        candidate = os.path.normpath(os.path.join(base, name))
        if candidate in paths:
            return candidate
    return None


def blanked(text, keep_strings=False):
    """Comments and literals blanked, lines kept."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(m):
        if m.group()[0] in "\"'":
            return m.group() if keep_strings else m.group()[0] + " " * (len(m.group()) - 2) + m.group()[0]
        return re.sub(r"[^\n]", " ", m.group())
    return token.sub(blank, text)


def macros(text):
    """(name, line, lines) of each #define."""
    lines, at = blanked(text).split("\n"), 0
    while at < len(lines):
        m = re.match(r"\s*#\s*define\s+(\w+)", lines[at])
        begin = at
        while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
        if m:
            yield m.group(1), begin + 1, at - begin + 1
        at += 1


def without_preprocessor(text):
    out, continued = [], False
    for line in blanked(text).split("\n"):
        skip = continued or line.lstrip().startswith("#")
        continued = skip and line.rstrip().endswith("\\")
        out.append("" if skip else line)
    return "\n".join(out)


class Function:
    def __init__(self, head, line, body):
        self.name, self.line = _name_of(head), line
        # The macros of hook rows and inline helpers of preload/ make static functions.
        self.is_static = bool(re.search(r"\bstatic\b|\bPT_ALWAYS_INLINE\b", head)) or self.name.startswith("hook_") or self.name.isupper()
        self.is_exported = bool(re.search(r"\bPT_EXPORT(?:_FAST)?\b", head))
        self.parameters = _parameters_of(head, self.name)
        self.lines = body.count("\n") + 1
        self.complexity = 1 + len(KEYWORDS.findall(body))
        self.gotos = len(re.findall(r"\bgoto\b", body))
        self.words = set(WORDS.findall(body))


def functions(text):
    """Functions with a body at the top level: a '{' that follows a parameter list."""
    text = without_preprocessor(text)
    depth, begin, head = 0, None, None
    for m in re.finditer(r"[{}]", text):
        if m.group() == "{":
            if depth == 0:
                before = re.split(r"[;}]", text[max(0, m.start() - 900):m.start()])[-1].rstrip()
                if before.endswith(")") and "=" not in before.split("(")[0]:
                    begin, head = m.start(), before
            depth += 1
        else:
            depth = max(0, depth - 1)
            if depth == 0 and begin is not None:
                yield Function(head, text.count("\n", 0, begin) + 1, text[begin:m.end()])
                begin = None


def _without_attributes(head):
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", head)


def _name_of(head):
    """The identifier before the last parameter list that is not an attribute."""
    names = [m.group(1) for m in re.finditer(r"(\w+)\s*\(", _without_attributes(head))]
    return names[0] if names else "?"


def _parameters_of(head, name):
    """How many parameters the list behind the name has; commas within parentheses belong to function pointers."""
    _, _, rest = _without_attributes(head).partition(name)
    depth, count, text = 0, 1, ""
    for c in rest.strip():
        depth += (c == "(") - (c == ")")
        count += c == "," and depth == 1
        text += c
        if depth == 0:
            break
    inside = text.strip()[1:-1].strip()
    return 0 if inside in ("", "void") else count


def global_words(text):
    """Every identifier outside of comments, literals and preprocessor lines."""
    return set(WORDS.findall(without_preprocessor(text)))


def linked_data(text):
    """Names of variables that a .c defines for others: at the top level, neither static nor extern."""
    flat, depth = [], 0
    for c in without_preprocessor(text):
        if c == "{":
            depth += 1
        if depth == 0:
            flat.append(c)
        if c == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                flat.append("@")  # stands for a body or an initializer
    for part in re.split(r";|(?<=\))\s*@", "".join(flat)):
        words = part.replace("@", " ").strip()
        if not words or re.match(r"(static|extern|typedef|_Static_assert|__asm__)\b", words) or ("(" in words.split("=")[0] and "[" not in words.split("(")[0]):
            continue
        m = re.search(r"(\w+)\s*(\[[^\]]*\])*\s*(=|$)", _without_attributes(words))
        if m and len(words.split()) > 1 and not re.fullmatch(r"(struct|enum|union)\s+\w+", _without_attributes(words).strip()):
            yield m.group(1)
