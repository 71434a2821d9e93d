# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside gdb: compares the prototypes of a job with the file that gdb
was given. The job (JSON, its path in $PROTOTYPES_JOB) has

	file		the prototype file
	word		the size of a pointer
	kernel		whether these are system calls
	functions	{name: variable that points to a function of its type,
			 or the function's address}
	answer		where {"wrong": {name: problem}, "met": [typedef],
			"unknown": [name]} is written
"""

import json
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["PROTOTYPES_FOLDER"])

import compare  # noqa: E402
import conf  # noqa: E402


def type_of_variable(name):
    return gdb.lookup_global_symbol(name).type.target()


def begins_at(block, address):
    """Parts that are seldom run may lie in front of its beginning."""
    try:
        return address in (block.start, int(block.function.value().address))
    except gdb.error:
        return False


def type_at(address):
    """The type of the function that begins there; None when nothing is known
    of it. It may begin with others that are inlined there."""
    block = gdb.block_for_pc(address)
    found = None
    while block and not block.is_static:
        if block.function and begins_at(block, address):
            found = block.function
        block = block.superblock
    # Of assembler functions it isn't known what they take.
    if not found or found.symtab.filename.endswith((".S", "<stdin>")):
        return None
    return found.type


def main():
    with open(os.environ["PROTOTYPES_JOB"], encoding="ascii") as file:
        job = json.load(file)
    reader = conf.Reader(job["file"]).read()
    functions = reader.functions
    comparison = compare.Comparison(job["word"], reader.types,
                                    job["kernel"])
    answer = {"wrong": {}, "unknown": []}
    for name, where in job["functions"].items():
        if isinstance(where, int):
            ctype = type_at(where)
        else:
            ctype = type_of_variable(where)
        if ctype is None:
            answer["unknown"].append(name)
            continue
        problem = comparison.function(functions[name], ctype)
        if problem:
            answer["wrong"][name] = problem
    answer["met"] = sorted(comparison.met)
    with open(job["answer"], "w", encoding="ascii") as file:
        json.dump(answer, file)


main()
