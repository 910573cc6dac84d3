# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Completion in bash for nfsdigest, nfsreplay, nfstee and ftnfsd.  Each program prints a table of its commands
# and options (show/args.h), so there is nothing here to keep up to date.

# |rows|: the table, lines of KIND COMMAND, and for options LETTER NAME VALUE.

# Sets |command| to the command that the words before the cursor name: "-" if there is none.
_nfsdigest_command() {
    local i kind name
    command=-
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == [-\"\'\<\>]* ]] && continue
        while IFS=$'\t' read -r kind name _; do
            [[ $kind == command ]] || continue
            if [[ $command == - && $name == "${COMP_WORDS[i]}" ]]; then
                command=$name
            elif [[ $name == "$command ${COMP_WORDS[i]}" ]]; then
                command=$name
                return
            fi
        done <<<"$rows"
        [[ $command != - ]] || return # an operand
    done
}

# Sets |value| to what the option |1| of the command takes: "-" if it takes nothing, "" if there is none.
_nfsdigest_value() {
    local kind name letter long takes
    value=
    while IFS=$'\t' read -r kind name letter long takes _; do
        [[ $kind == option && $name == "$command" ]] || continue
        [[ $1 == "--$long" || $1 == "-$letter" ]] && value=$takes
    done <<<"$rows"
}

_nfsdigest() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local rows command value kind name letter long words=
    COMPREPLY=()
    rows=$("${COMP_WORDS[0]}" --complete-table 2>/dev/null) || return
    # bash splits --name=value into three words
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = && COMP_CWORD -gt 2 ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    _nfsdigest_command
    if [[ $before == -* ]]; then
        _nfsdigest_value "$before"
        case $value in
        '' | -) ;; # none: an operand or another option follows
        *FILE* | *DIR* | *PATH* | *DATABASE* | RULES | RUN | REF2 | *.db | *.pcapng) return ;; # readline knows files
        *)
            compopt +o default +o bashdefault 2>/dev/null
            return
            ;;
        esac
    fi
    while IFS=$'\t' read -r kind name letter long _; do
        if [[ $kind == option && $name == "$command" && $word == -* ]]; then
            words+=" --$long"
            [[ $letter == - ]] || words+=" -$letter"
        elif [[ $kind == command && $word != -* ]]; then
            if [[ $command == - && $name != *' '* ]]; then
                words+=" $name"
            elif [[ $name == "$command "* ]]; then
                words+=" ${name#"$command "}"
            fi
        fi
    done <<<"$rows"
    [[ $command == - && $word == -* ]] && words+=" --help --version"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
}

complete -o bashdefault -o default -F _nfsdigest nfsdigest nfsreplay nfstee ftnfsd
