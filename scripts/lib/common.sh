# SPDX-License-Identifier: MIT
# common.sh - what the scripts share: messages, packages, configure-and-build. Source it; it starts nothing by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LSAN_OPTIONS=suppressions=$root/scripts/cmake/lsan.txt:print_suppressions=0
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# packages_missing LIST...: names of the packages of scripts/packages/LIST.txt whose probe fails.
packages_missing() {
    local list package probe
    for list in "$@"; do
        while IFS='|' read -r package probe; do
            package=$(echo $package)
            case $package in ''|'#'*) continue ;; esac
            bash -c "$probe" >/dev/null 2>&1 </dev/null || printf '%s\n' "$package"
        done <"$root/scripts/packages/$list.txt"
    done | sort -u
}

# packages_install LIST...: install what is missing, and only that; say by name what is missing where that cannot be done. A mirror that is being
# renewed, or another apt-get that holds the lock, is no reason to end; nor are lists that did not come, where the packages do. From the second try on each package is asked for by itself: one that the mirror lacks keeps no other away.
packages_install() {
    local missing pause package log is_done
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
    missing=$(packages_missing "$@" | tr '\n' ' ')
    [ -n "${missing// /}" ] || return 0
    command -v apt-get >/dev/null || die "missing: ${missing}- this system has no apt-get; install their equivalents and run again"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "missing: ${missing}- run as root or with sudo: apt-get install $missing"
        apt=(sudo "${apt[@]}")
    fi
    say "installing $missing"
    log=$(mktemp)
    for pause in 0 10 30 60; do
        sleep "$pause"
        is_done=yes
        {
            "${apt[@]}" update || true
            if [ "$pause" = 0 ]; then
                "${apt[@]}" install -y --no-install-recommends $missing || is_done=no
            else
                for package in $missing; do "${apt[@]}" install -y --no-install-recommends "$package" || is_done=no; done
            fi
        } >"$log" 2>&1 </dev/null
        missing=$(packages_missing "$@" | tr '\n' ' ')
        [ -n "${missing// /}" ] && [ "$is_done" = no ] || break
    done
    if [ -n "${missing// /}" ] && [ "$is_done" = no ]; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: $missing"
    fi
    rm -f "$log"
    [ -z "${missing// /}" ] || say "installed, but not what was looked for: $missing"
}

# build_preset PRESET [TARGET...]: configure build-PRESET from scripts/cmake/PRESET.cmake and build it. Says little unless it fails.
build_preset() {
    local preset=$1 log
    local dir=$root/build-$preset
    shift
    [ -f "$root/scripts/cmake/$preset.cmake" ] || die "no preset '$preset'; there are: $(presets)"
    mkdir -p "$dir"
    log=$dir/build.log
    if ! { cmake -S "$root" -B "$dir" -G Ninja -C "$root/scripts/cmake/$preset.cmake" &&
           ninja -C "$dir" -j "$jobs" "$@"; } >"$log" 2>&1 </dev/null; then
        grep -E 'error|warning|FAILED|CMake Error' -A5 "$log" | head -n 60 >&2 || tail -n 40 "$log" >&2
        echo "(whole log: $log)" >&2
        return 1
    fi
}

presets() {
    local file
    for file in "$root"/scripts/cmake/*.cmake; do
        file=$(basename "$file" .cmake)
        case $file in warnings | embed) ;; *) printf '%s ' "$file" ;; esac
    done
}

# Files that we wrote: tracked or new, not ignored; also where somebody else owns the checkout, as in a container of CI.
own_files() { git -c safe.directory='*' -C "$root" ls-files -co --exclude-standard -- "$@" | (cd "$root" && while read -r f; do [ -f "$f" ] && echo "$f"; done); }

# also COMMAND...: one check more of `ran`, `bad` or `skipped`. 77 is how a test ends of which something could not be done here: it is no pass.
ran=0 bad=0 skipped=()
also() {
    ran=$((ran + 1))
    "$@" </dev/null
    case $? in 0) ;; 77) skipped+=("$*") ;; *) bad=$((bad + 1)) ;; esac
}

# tally: the closing lines of checks; fails when one of them did.
tally() {
    [ ${#skipped[@]} = 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
    echo "$((ran - bad - ${#skipped[@]})) passed, $bad failed$([ ${#skipped[@]} = 0 ] || echo ", ${#skipped[@]} skipped")"
    [ "$bad" = 0 ]
}

# ctest_counts LOG: sets `ran` and `bad` from ctest's closing lines, whose wording depends on its version. No summary is one failure.
ctest_counts() {
    ran=$(sed -n 's/.*tests passed.* out of \([0-9]*\).*/\1/p' "$1" | tail -n 1)
    bad=$(sed -n 's/.*tests passed, \([0-9]*\) tests* failed out of.*/\1/p' "$1" | tail -n 1)
    [ -n "$ran" ] || bad=1
    ran=${ran:-1} bad=${bad:-0}
}

# ctest_failed LOG: the names of the failed tests; "ctest" when it said nothing at the end.
ctest_failed() {
    grep -q 'tests passed' "$1" || echo ctest
    sed -n '/tests FAILED:$/,$s/^\t *[0-9]* - \([^ ]*\) .*/\1/p' "$1" # not those that were skipped
}

# ctest_lines LOG: a line per test, all that the failed ones said, and the closing lines.
ctest_lines() {
    awk '/^ *[0-9]+\/[0-9]+ Test/ { said = /\*\*\*/ } /^ *Start +[0-9]+:/ { said = 0; next } /tests passed/ { rest = 1 }
         said || rest || /^ *[0-9]+\/[0-9]+ Test/' "$1" | cut -c1-300
}
