#!/bin/zsh -f
# Types a command line into an interactive shell on a terminal of its own: shell.zsh BIN SCRIPT KIND LINE. BIN is the folder of
# croft, SCRIPT the completion, KIND bash or zsh. Prints what the shell prints, up to the end of the command.
zmodload zsh/zpty
if [[ $3 == bash ]]; then
    zpty shell "env PATH=$1:$PATH TERM=dumb INPUTRC=/dev/null PS1='> ' bash --norc --noprofile -i"
    zpty -w shell "source $2; echo rea''dy"
else
    zpty shell "env PATH=$1:$PATH TERM=dumb zsh -f -i"
    zpty -w shell "fpath=(${2:h} \$fpath); autoload -Uz compinit; compinit -D -u; PS1='> '; echo rea''dy"
fi
zpty -r -m shell output "*ready*"
zpty -w shell "$4; echo en''d"
zpty -r -m shell output $'*\nend*' || print "no end"
print -r -- "$output"
zpty -d shell
