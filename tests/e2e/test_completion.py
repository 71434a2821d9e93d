#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What bash, zsh and fish offer for a command line of calltrap's."""

import os
import shlex
import sys

sys.dont_write_bytecode = True
import harness as h

ETC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                   "etc")

# Sets what bash sets for a completion, breaking words at "=" as it does.
BASH = r"""
. %s
IFS=$' \t\n'
line=${1//=/ = }
read -ra COMP_WORDS <<<"$line"
[[ $line == *' ' && $line != *' = ' ]] && COMP_WORDS+=('')
COMP_WORDS[0]=$CALLTRAP
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_calltrap
printf '%%s\n' "${COMPREPLY[@]}"
"""

# A terminal of its own: completion isn't for scripts. ^X? lists.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1= ; unsetopt zle_bracketed_paste; autoload -Uz compinit'
zpty -w z 'mkdir -p '$HOME'/f; cp '%s/calltrap.zsh' '$HOME'/f/_calltrap'
zpty -w z 'fpath=('$HOME'/f $fpath); compinit -D -u; zstyle ":completion:*" list-colors ""'
zpty -w z 'PATH='${CALLTRAP:h}':$PATH; LISTMAX=100000; setopt no_always_last_prompt; echo re''ady'
zpty -r -m z line '*ready*'
zpty -w -n z "$1"$'\t\t\t'
zpty -r -m z list "*$2*"
zpty -w -n z $'\x03'
zpty -w z 'echo fin''ished'
zpty -r -m z line '*finished*'
print -r -- $list $line
"""


def offered_by_bash(case, line, _):
    result = case.run(["bash", "--norc", "-c",
                       BASH % shlex.quote(ETC + "/calltrap.bash-completion"),
                       "bash", line], env={"CALLTRAP": h.CALLTRAP})
    h.check_equal(result.err, "", "what bash says")
    return result.out.split("\n")


def offered_by_fish(case, line, _):
    h.need("fish")
    result = case.run(
        ["fish", "--no-config", "-c",
         "source %s/calltrap.fish; complete -C '%s'" % (ETC, line)],
        env={"PATH": os.path.dirname(h.CALLTRAP) + ":" + os.environ["PATH"]})
    h.check_equal(result.err, "", "what fish says")
    return [text.split("\t")[0] for text in result.out.split("\n")]


def offered_by_zsh(case, line, wanted):
    """Waits until all that is wanted was shown, in whatever order."""
    h.need("zsh")
    result = case.run(["zsh", "-f", "-c", ZSH % ETC, "zsh", line,
                       sorted(wanted)[-1]],
                      env={"CALLTRAP": h.CALLTRAP, "TERM": "dumb"})
    return result.out.split()


def check_shell(case, offered):
    for name in ("one", "two"):
        case.write(name + ".ctr", "")
    files = case.path("")
    for line, wanted, unwanted in (
            ("calltrap heap --s", ["--sort", "--since", "--suppress"],
             ["--sync"]),
            ("calltrap heap --by ", ["stack", "component"], ["one.ctr"]),
            ("calltrap convert %s" % files, ["one.ctr", "two.ctr"], []),
            ("calltrap heap --from=%s" % files, ["one.ctr", "two.ctr"], []),
            ("calltrap heap dif", ["diff"], []),
            ("calltrap -p ", [str(os.getpid())], ["one.ctr"])):
        found = offered(case, line, wanted)
        for word in wanted:
            h.check(any(text.endswith(word) for text in found),
                    "%s: no %s in %r" % (line, word, found))
        for word in unwanted:
            h.check(not any(text.endswith(word) for text in found),
                    "%s: %s in %r" % (line, word, found))


@h.test("bash completes options, values, files, verbs and processes")
def _(case):
    check_shell(case, offered_by_bash)
    h.check(offered_by_bash(case, "calltrap heap --by=st", None)[0] == "stack",
            "only what stands behind the =")


@h.test("fish does")
def _(case):
    check_shell(case, offered_by_fish)


@h.test("zsh does")
def _(case):
    check_shell(case, offered_by_zsh)


if __name__ == "__main__":
    sys.exit(h.main())
