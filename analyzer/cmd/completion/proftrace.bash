# SPDX-License-Identifier: MIT
# Completion of proftrace in bash, made by `proftrace completion bash`: see proftrace-completion(1).
# Rows: command, option, letter, kind of its value, choices, what it is for. A row without option is the command itself.
_proftrace_table='PROFTRACE_TABLE'

# The candidates that begin with the current word; of files bash knows how to quote them.
_proftrace_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_proftrace_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_proftrace_value() {
    case $1 in
        choice) _proftrace_words "${2//|/ }" ;;
        file) _proftrace_files ;;
        run)
            _proftrace_files
            local run
            for run in "${PROFTRACE_DIR:-${PROFILE_OUTPUT_DIR:-proftrace.data}}"/*/; do
                run=${run%/}
                [[ -d $run && ${run##*/} == "$cur"* ]] && COMPREPLY+=("${run##*/}")
            done
            ;;
        command)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -d -- "$cur")
            ;;
        subcommand) _proftrace_words "$(cut -f 1 <<<"$_proftrace_table" | sort -u | tr '\n' ' ')" ;;
    esac
}

_proftrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words='' argument='' choices='' i
    local of option letter kind values
    COMPREPLY=()
    # bash splits --name=value into three words.
    [[ $cur == = ]] && cur=
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    if ((COMP_CWORD == 1)); then
        _proftrace_value subcommand
        return
    fi
    while IFS=$'\x1f' read -r of option letter kind values _; do
        [[ $of == "$command" ]] || continue
        if [[ -z $option ]]; then
            argument=$kind choices=$values
        elif [[ $kind != flag && ($prev == "$option" || (-n $letter && $prev == "$letter")) ]]; then
            _proftrace_value "$kind" "$values"
            return
        else
            words+=" $option"
        fi
    done <<<"${_proftrace_table//$'\t'/$'\x1f'}"
    if [[ $argument == command ]]; then
        for ((i = 2; i < COMP_CWORD; i++)); do
            if [[ ${COMP_WORDS[i]} == -- || ${COMP_WORDS[i]} != -* && ${COMP_WORDS[i - 1]} != -* ]]; then
                ((i + 1 == COMP_CWORD)) && [[ ${COMP_WORDS[i]} == -- ]] && break
                _proftrace_files
                return
            fi
        done
    fi
    [[ $argument == action ]] && { ((COMP_CWORD == 2)) && argument=choice || argument=run; }
    if [[ $cur == -* ]]; then
        _proftrace_words "$words --help"
    else
        _proftrace_value "$argument" "$choices"
    fi
}
complete -F _proftrace proftrace
