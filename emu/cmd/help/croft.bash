# Completion of croft's command lines in bash: source this file, or install it in share/bash-completion/completions.
# shellcheck shell=bash

# The words as croft gets them: bash divides them at = and :, too, and replaces only what is behind the last of these.
_croft() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} words last kept candidate
    read -ra words <<<"$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    last=${words[${#words[@]} - 1]}
    if [[ $current == [=:] ]]; then current=; fi
    kept=${last%"$current"}
    COMPREPLY=()
    while IFS= read -r candidate; do
        candidate=${candidate%%$'\t'*}
        case $candidate in
        "<file>") mapfile -O "${#COMPREPLY[@]}" -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames ;;
        "<folder>") mapfile -O "${#COMPREPLY[@]}" -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames ;;
        *)
            if [[ $candidate == *[=:] ]]; then compopt -o nospace; fi
            COMPREPLY+=("${candidate#"$kept"}")
            ;;
        esac
    done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
}

complete -F _croft croft
