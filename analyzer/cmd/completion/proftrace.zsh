#compdef proftrace
# SPDX-License-Identifier: MIT
# Completion of proftrace in zsh, made by `proftrace completion zsh`: see proftrace-completion(1).
# Rows: command, option, letter, kind of its value, choices, what it is for. A row without option is the command itself.
typeset -g _proftrace_table='PROFTRACE_TABLE'

_proftrace_value() {
    local -a found
    local line
    case $1 in
        choice) compadd -- ${(s:|:)2} ;;
        file) _files ;;
        run)
            found=(${PROFTRACE_DIR:-${PROFILE_OUTPUT_DIR:-proftrace.data}}/*(N/:t))
            compadd -a found
            _files
            ;;
        command) _command_names && _files ;;
        subcommand)
            for line in ${(f)_proftrace_table}; do
                found+=(${line%%$'\t'*})
            done
            compadd -- ${(u)found}
            ;;
    esac
}

_proftrace() {
    local command=$words[2] previous=$words[CURRENT-1] current=$words[CURRENT] line argument choices i
    local -a row options
    if ((CURRENT == 2)); then
        _proftrace_value subcommand
        return
    fi
    if [[ $current == --*=* ]]; then
        previous=${current%%=*}
        compset -P '*='
    fi
    for line in ${(f)_proftrace_table}; do
        row=("${(@ps:\t:)line}")
        [[ $row[1] == $command ]] || continue
        if [[ -z $row[2] ]]; then
            argument=$row[4] choices=$row[5]
        elif [[ $row[4] != flag && ($previous == $row[2] || (-n $row[3] && $previous == $row[3])) ]]; then
            _proftrace_value $row[4] $row[5]
            return
        else
            options+=("$row[2]:$row[6]")
        fi
    done
    # Behind the name of the command to run all is as if it stood alone.
    for ((i = 3; i < CURRENT; i++)); do
        [[ $argument == command && ($words[i] == -- || $words[i] != -* && $words[i-1] != -*) ]] || continue
        [[ $words[i] == -- ]] && ((i++))
        words=("${(@)words[i,-1]}")
        ((CURRENT -= i - 1))
        _normal
        return
    done
    [[ $argument == action ]] && { ((CURRENT == 3)) && argument=choice || argument=run; }
    if [[ $current == -* ]]; then
        options+=("--help:this text")
        _describe option options
    else
        _proftrace_value "$argument" "$choices"
    fi
}
# Sourced, or in a folder of fpath as _proftrace.
if [[ $funcstack[1] == _proftrace ]]; then
    _proftrace "$@"
else
    compdef _proftrace proftrace
fi
