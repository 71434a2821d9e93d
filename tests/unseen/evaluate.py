#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How good the verdicts of `calltrap heap' are, on programs that were written
by somebody who doesn't know how they are made: each is started, watched for a
while, and what was said of its functions is compared with the key.

With --peers the same programs also run from the start under valgrind,
LeakSanitizer and heaptrack, where these are installed."""

import argparse
import concurrent.futures
import functools
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import generate
import judge
import programs
import tools


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; default: all")
    parser.add_argument("--seconds", type=float, default=30,
                        help="that calltrap watches; default 30")
    parser.add_argument("-j", "--jobs", type=int, default=1,
                        help="programs at a time; default 1")
    parser.add_argument("--options", action="append", metavar="TEXT",
                        help="of calltrap heap; several times: a column each")
    parser.add_argument("--peers", action="store_true",
                        help="other tools as well")
    parser.add_argument("--only-peers", action="store_true",
                        help="other tools alone")
    parser.add_argument("--random", type=int, default=0, metavar="N",
                        help="N programs made by chance instead")
    parser.add_argument("--seed", type=int, default=1,
                        help="for --random; default 1")
    parser.add_argument("--results", metavar="FILE",
                        help="writes all that was said there, as JSON")
    return parser.parse_args()


def chosen_programs(args, folder):
    if args.random:
        found = generate.programs(folder, args.random, args.seed)
    else:
        found = programs.all_programs()
    unknown = set(args.names) - {program.name for program in found}
    if unknown:
        sys.exit("no such program: " + ", ".join(sorted(unknown)))
    return [program for program in found
            if not args.names or program.name in args.names]


def chosen_tools(args, folder):
    found = []
    ours = [functools.partial(tools.Calltrap, options)
            for options in args.options or [""]]
    for kind in ours * (not args.only_peers) + tools.PEERS * (args.peers or args.only_peers):
        try:
            tool = kind()
        except programs.Missing as missing:
            print("# %s" % missing)
            continue
        tool.prepare(folder)
        found.append(tool)
    return found


def ask(tool, program, seconds):
    """What a tool says of a program: a dict, or a text why it has failed."""
    try:
        return judge.say(tool.sites(program, seconds), program.key)
    except (tools.Failed, programs.Missing, programs.Broken) as error:
        return str(error) or "failed"


def ask_all(args, chosen, with_tools):
    """A dict of what was said, by program and tool."""
    said = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        asked = {pool.submit(ask, tool, program, args.seconds): (program, tool)
                 for tool in with_tools for program in chosen}
        for future in concurrent.futures.as_completed(asked):
            program, tool = asked[future]
            said[program.name, tool.name] = future.result()
            print("# %s: %s" % (tool.name, program.name), file=sys.stderr,
                  flush=True)
    return said


def is_wrong(word, kind):
    return (word in ("LIKELY", "LEAK")) != (kind == "leak")


def cell(said, function, kind):
    if isinstance(said, str):
        return "failed"
    word = said.get(function, "-")
    return word + " !" * is_wrong(word, kind)


def print_table(chosen, with_tools, said):
    """A row for each function; an exclamation mark where it isn't LIKELY or
    LEAK and should be, or the other way round."""
    row = "%-22s %-18s %-8s" + " %-11s" * len(with_tools)
    print(row % ("program", "function", "key",
                 *(t.name.split()[-1] for t in with_tools)))
    for program in chosen:
        answers = [said[program.name, tool.name] for tool in with_tools]
        functions = dict(program.key)
        if any("*" in a and a["*"] in ("LIKELY", "LEAK", "POSSIBLE")
               for a in answers if isinstance(a, dict)):
            functions.setdefault("*", "healthy")
        for function, kind in functions.items():
            print((row % (program.name, function, kind,
                          *(cell(a, function, kind) for a in answers))
                   ).rstrip())
        for tool, answer in zip(with_tools, answers):
            if isinstance(answer, str):
                print("# %s, %s: %s" % (program.name, tool.name,
                                        answer.replace("\n", "\n#   ")))


def print_scores(chosen, with_tools, said):
    for tool in with_tools:
        levels = [(word,) for word in tool.words[:1]]
        if len(tool.words) > 1:
            levels.append(tool.words)
        for words in levels:
            score = judge.Score(words)
            for program in chosen:
                answer = said[program.name, tool.name]
                score.add(answer if isinstance(answer, dict) else {},
                          program.key)
            failed = sum(isinstance(said[p.name, tool.name], str)
                         for p in chosen)
            print("%-10s %-16s %s%s" % (
                tool.name, "+".join(words), score,
                "; failed on %d programs" % failed if failed else ""))


def main():
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="unseen.") as folder:
        chosen = chosen_programs(args, folder)
        with_tools = chosen_tools(args, folder)
        said = ask_all(args, chosen, with_tools)
    print_table(chosen, with_tools, said)
    print()
    print_scores(chosen, with_tools, said)
    if args.results:
        with open(args.results, "w", encoding="utf-8") as file:
            json.dump([[program, tool, answer] for (program, tool), answer
                       in sorted(said.items())], file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
