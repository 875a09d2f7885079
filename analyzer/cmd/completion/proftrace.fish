# SPDX-License-Identifier: MIT
# Completion of proftrace in fish, made by `proftrace completion fish`: see proftrace-completion(1).
# Rows: command, option, letter, kind of its value, choices, what it is for. A row without option is the command itself.
set -g __proftrace_table 'PROFTRACE_TABLE'

function __proftrace_value
    switch $argv[1]
        case choice
            string split '|' -- $argv[2]
        case file
            __fish_complete_path (commandline -ct | string replace -r '^--[^=]*=' '')
        case run
            set -l root proftrace.data
            test -n "$PROFILE_OUTPUT_DIR"; and set root $PROFILE_OUTPUT_DIR
            test -n "$PROFTRACE_DIR"; and set root $PROFTRACE_DIR
            for run in $root/*/
                string split -r -m 1 / -- (string trim -r -c / -- $run) | tail -n 1
            end
            __fish_complete_path (commandline -ct)
        case command
            __fish_complete_subcommand
            __fish_complete_path (commandline -ct)
        case subcommand
            for line in (string split \n -- $__proftrace_table)
                set -l row (string split \t -- $line)
                test -z "$row[2]"; and printf '%s\t%s\n' $row[1] $row[6]
            end
    end
end

function __proftrace_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l previous $words[-1]
    set -l argument none
    set -l choices
    set -l options
    if test (count $words) -lt 2
        __proftrace_value subcommand
        return
    end
    if string match -qr -- '^--[^=]*=' $current
        set previous (string replace -r '=.*' '' -- $current)
        set options $previous=
    end
    for line in (string split \n -- $__proftrace_table)
        set -l row (string split \t -- $line)
        test "$row[1]" = "$words[2]"; or continue
        if test -z "$row[2]"
            set argument $row[4]
            set choices $row[5]
        else if test "$row[4]" != flag; and contains -- $previous $row[2] $row[3]
            __proftrace_value $row[4] $row[5] | string replace -r '^' -- "$options"
            return
        else if string match -q -- '-*' $current
            printf '%s\t%s\n' $row[2] $row[6]
        end
    end
    if test $argument = action
        test (count $words) -eq 2; and set argument choice; or set argument run
    end
    if string match -q -- '-*' $current
        printf '%s\t%s\n' --help 'this text'
    else
        __proftrace_value $argument $choices
    end
end
complete -c proftrace -f -a '(__proftrace_complete)'
