# Types into a zsh with the completion that the package has installed, and shows what becomes of it.
zmodload zsh/zpty
zpty shell zsh -fi
zpty -w shell 'autoload -Uz compinit; compinit -u; print READY'
zpty -r shell line '*READY*READY*' # as typed, and as printed
zpty -wn shell $'allot certi\t'
zpty -r shell line '*certify*' && print -r -- "completed: $line"
