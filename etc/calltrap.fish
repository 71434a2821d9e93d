# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for calltrap, which knows itself what may come.

function __calltrap_files
    set -l token (commandline -ct)
    set -l name (string match -r -- '^--[^=]*=' $token)
    set -l path (string replace -r -- '^--[^=]*=' '' $token)
    printf "$name%s\n" (__fish_complete_path "$path")
end

function __calltrap_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    for line in ($program --complete $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __calltrap_files
            case ':commands'
                __fish_complete_command
            case ':users'
                __fish_complete_users
            case '*'
                echo $line
        end
    end
end

for program in calltrap calltrap-static
    complete -c $program -f -a '(__calltrap_complete)'
end
