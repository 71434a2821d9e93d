#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The script items of etc/, and in them every offset, size, flag and bit,
compared with what a compiler makes of the interpreters' own headers."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ETC = os.path.join(HERE, "..", "..", "etc")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import truth  # noqa: E402


class Compiler:
    """Numbers out of headers: first they are only noted, then known."""

    def __init__(self):
        self.values = {}

    def __call__(self, expression):
        return self.values.setdefault(expression, 0)

    def read(self, base, kind, member, sign="u"):
        bits = self(f"8 * sizeof((({kind} *)0)->{member})")
        return f"{sign}{bits}[{self.member(base, kind, member)}]"

    def member(self, base, kind, member):
        offset = self(f"offsetof({kind}, {member})")
        return f"{base} + {offset}" if offset else base

    def ask(self, headers, flags):
        """None, or why it can't be known."""
        order = list(self.values)
        lines = "".join(f'printf("%llu\\n", (unsigned long long)({e}));\n'
                        for e in order)
        with tempfile.TemporaryDirectory() as directory:
            source = os.path.join(directory, "ask.c")
            program = os.path.join(directory, "ask")
            with open(source, "w", encoding="ascii") as file:
                file.write(f"{headers}\n#include <stddef.h>\n"
                           "#include <stdio.h>\nint main(void)\n{\n"
                           f"{lines}return 0;\n}}\n")
            # Only the headers: what they call is never linked.
            done = subprocess.run(
                [truth.COMPILER, "-w", "-O2", "-o", program, source, *flags,
                 "-Wl,--unresolved-symbols=ignore-all"],
                capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr.strip().splitlines()[0]
            out = subprocess.run([program], capture_output=True, text=True,
                                 check=True).stdout
        self.values = dict(zip(order, map(int, out.split())))
        return None


# ---------------------------------------------------------------- the truth

def php(c):
    def frame(base, member):
        return c.read(base, "zend_execute_data", member)

    function = frame("each", "func")
    # ZEND_USER_CODE(): functions, and what eval runs.
    user = (f"{function} && !({c.read(function, 'zend_function', 'type')} & "
            f"{c('ZEND_INTERNAL_FUNCTION')})")
    outer = frame("each", "prev_execute_data")
    first = c.read("&executor_globals", "zend_executor_globals",
                   "current_execute_data")
    name = c.read(frame("frame", "func"), "zend_function",
                  "op_array.filename")
    return {
        "frame": f"find(each = {first}, {outer}, {user})",
        "outer": f"find(each = {frame('frame', 'prev_execute_data')}, "
                 f"{outer}, {user})",
        "line": c.read(frame("frame", "opline"), "zend_op", "lineno"),
        "name": name,
        "file": f"text({c.member('name', 'zend_string', 'val')}, "
                f"{c.read('name', 'zend_string', 'len')})",
        "called": c.read(frame("frame", "func"), "zend_function",
                         "common.function_name") + " ?: 0",
        "function": f"text({c.member('called', 'zend_string', 'val')}, "
                    f"{c.read('called', 'zend_string', 'len')})",
    }


def perl_versions(ours):
    """Those whose numbers are the same; these headers are of one of them."""
    return " || ".join(f"u8[&PL_version] == {version}"
                       for version in sorted({36, 40, ours or 36}))


def perl(c):
    def interpreter(member):
        return c.read("interpreter", "PerlInterpreter", member)

    def stack(base, member, sign="u"):
        return c.read(base, "PERL_SI", member, sign)

    def contexts(base):
        return f"{stack(base, 'si_cxstack')}"

    size = c("sizeof(PERL_CONTEXT)")
    place = c("offsetof(PERL_CONTEXT, cx_u.cx_blk.blku_oldcop)")
    here = c.member("interpreter", "PerlInterpreter", "Icurcop")
    kind = c.read("each", "PERL_CONTEXT", "cx_u.cx_blk.blku_type")
    mask = c("CXTYPEMASK | CXp_SUB_RE_FAKE | CXp_TRY")
    # One of them, whatever comes between.
    kinds = c("CXt_FORMAT == CXt_SUB + 1 && CXt_EVAL == CXt_SUB + 2 ? "
              "3 : 0")
    last = stack("next", "si_cxix", "i")
    outer = stack("stack", "si_prev")
    return {
        "valid": f"u8[&PL_revision] == {c('PERL_REVISION')} && "
                 f"({perl_versions(c('PERL_VERSION'))})",
        "interpreter": "u64[tls(PL_current_context)]",
        "stacks": interpreter("Icurstackinfo"),
        "frame": here,
        "outer":
            f"with(found = find(each = frame - {place}, "
            f"with(stack = find(stack = stacks, {outer}, "
            f"each - {contexts('stack')} < "
            f"({stack('stack', 'si_cxix', 'i')} + 1) * {size}), "
            f"stack && each > {contexts('stack')} ? each - {size} : "
            f"with(next = find(next = stack ? {outer} : stacks, "
            f"{stack('next', 'si_prev')}, {last} + 1), "
            f"next ? {contexts('next')} + {last} * {size} : 0)), "
            f"each != frame - {place} && "
            f"({kind} & 0x{mask:x}) - {c('CXt_SUB')} < {kinds}), "
            f"found ? found + {place} : 0)",
        "statement": "u64[frame]",
        "line": c.read("statement", "COP", "cop_line"),
        "file": f"text({c.read('statement', 'COP', 'cop_file')})",
    }


def python_frames(c, of, table, size, begin):
    """Of 3.11."""
    cframe = of("PyThreadState", "cframe", "state")
    return {
        "frame": of("_PyCFrame", "current_frame", cframe),
        "outer": of("_PyInterpreterFrame", "previous", "frame"),
        "code": of("_PyInterpreterFrame", "f_code", "frame"),
        "line": f"python311_line({table}, {size}, "
                f"{of('_PyInterpreterFrame', 'prev_instr', 'frame')} - "
                f"({begin}), {of('PyCodeObject', 'co_firstlineno', 'code')})",
    }


def python(c, cframe=True):
    def of(kind, member, base="each"):
        return c.read(base, kind, member)

    def thread(base):
        first = of("PyInterpreterState", "threads.head", base)
        return (f"find({'state' if base == 'each' else 'each'} = {first}, "
                "{0}, {1} == thread)")

    def states(base, name):
        return thread(base).format(of("PyThreadState", "next", name),
                                   of("PyThreadState", "thread_id", name))

    first = of("_PyRuntimeState", "interpreters.head", "&_PyRuntime")
    after = of("PyInterpreterState", "next")
    table = c.member("table", "PyBytesObject", "ob_sval")
    size = of("PyBytesObject", "ob_base.ob_size", "table")
    begin = c.member("code", "PyCodeObject", "co_code_adaptive")
    code = of("PyCodeObject", "co_linetable", "code")
    return {
        **(python_frames(c, of, table, size, begin) if cframe else {}),
        "valid": f"(u64[&Py_Version] >> 16) == "
                 f"0x{c('PY_VERSION_HEX >> 16'):04x}",
        "interpreter": f"find(each = {first}, {after}, "
                       f"{states('each', 'state')})",
        "state": states("interpreter", "each"),
        "table": code,
        "name": of("PyCodeObject", "co_filename", "code"),
        "flags": python_bits(c, "name"),
        "file": python_text(c, "name", "flags"),
        "called": of("PyCodeObject", "co_qualname", "code") + " ?: 0",
        "kind": python_bits(c, "called") + " ?: 0",
        "function": python_text(c, "called", "kind"),
    }


def python_bits(c, text):
    return f"u32[{c.member(text, 'PyASCIIObject', 'state')}]"


def python_text(c, text, bits):
    return (f"characters({text} + ({bits} & 0x{c('ascii_bit()'):x} ? "
            f"{c('sizeof(PyASCIIObject)')} : "
            f"{c('sizeof(PyCompactUnicodeObject)')}), "
            f"{c.read(text, 'PyASCIIObject', 'length')}, "
            f"{bits} & 0x{c('compact_bit()'):x} ? "
            f"{bits} >> {c('kind_shift()')} & {c('kind_mask()')} : 0)")


def python312(c):
    cframe = c.read("state", "PyThreadState", "cframe")
    return without_c(c, c.read(cframe, "_PyCFrame", "current_frame"), "f_code",
                     "prev_instr")


def python313(c):
    first = c.read("state", "PyThreadState", "current_frame")
    return without_c(c, first, "f_executable", "instr_ptr")


def without_c(c, first, executable, instruction):
    """Those that have frames of C between those of Python."""
    def of(kind, member, base="each"):
        return c.read(base, kind, member)

    table = c.member("table", "PyBytesObject", "ob_sval")
    size = of("PyBytesObject", "ob_base.ob_size", "table")
    begin = c.member("code", "PyCodeObject", "co_code_adaptive")
    outer = of("_PyInterpreterFrame", "previous")
    runs = (f"{of('_PyInterpreterFrame', 'owner')} != "
            f"{c('FRAME_OWNED_BY_CSTACK')}")
    behind = of("_PyInterpreterFrame", "previous", "frame")
    return {
        **python(c, cframe=False),
        "frame": f"find(each = {first}, {outer}, {runs})",
        "outer": f"find(each = {behind}, {outer}, {runs})",
        "code": of("_PyInterpreterFrame", executable, "frame"),
        "line": f"python311_line({table}, {size}, "
                f"{of('_PyInterpreterFrame', instruction, 'frame')} - "
                f"({begin}), {of('PyCodeObject', 'co_firstlineno', 'code')})",
    }


PYTHON_BITS = r"""
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_frame.h>

#define STATE(member, value) ({ PyASCIIObject o = { .state.member = value }; \
	unsigned bits; memcpy(&bits, &o.state, sizeof(bits)); bits; })
#define ascii_bit() STATE(ascii, 1)
#define compact_bit() STATE(compact, 1)
#define kind_shift() __builtin_ctz(STATE(kind, 1))
#define kind_mask() (STATE(kind, -1) >> kind_shift())
"""


def choose(condition, one, other):
    return f"{condition} ? {one} : {other}"


def ruby(c):
    def control(base, member):
        return c.read(base, "rb_control_frame_t", member)

    def body(member, base="body", sign="u"):
        return c.read(base, "struct rb_iseq_constant_body", member, sign)

    size = c("sizeof(rb_control_frame_t)")
    step = f"each + {size} < end ? each + {size} : 0"
    code = c.read(control("each", "iseq"), "rb_iseq_t", "body")
    runs = (f"{control('each', 'pc')} && {control('each', 'iseq')} && "
            f"{control('each', 'pc')} > {body('iseq_encoded', code)}")
    stack = c.read("context", "rb_execution_context_t", "vm_stack")
    words = c.read("context", "rb_execution_context_t", "vm_stack_size")
    first = c.read("context", "rb_execution_context_t", "cfp")
    line = c.member(f"{body('insns_info.body')} + entry * "
                    f"{c('sizeof(struct iseq_insn_info_entry)')}",
                    "struct iseq_insn_info_entry", "line_no")
    far = c.read("path", "struct RString", "as.heap.ptr")
    length = c.read("path", "struct RString", "as.heap.len")
    ranks = body("insns_info.succ_index_table")
    embedded = c("RSTRING_EMBED_LEN_MASK >> RSTRING_EMBED_LEN_SHIFT")
    return {
        "context": "u64[tls(ruby_current_ec)]",
        "end": f"{stack} + {words} * {c('sizeof(VALUE)')}",
        # Where it begins the innermost one is at its first instruction.
        "frame": f"find(each = {first}, {step}, {runs} - "
                 f"(each + {size} < end ? 1 : 0))",
        "outer": f"find(each = frame + {size} < end ? frame + {size} : 0, "
                 f"{step}, {runs})",
        "body": c.read(control("frame", "iseq"), "rb_iseq_t", "body"),
        "next": f"({control('frame', 'pc')} - {body('iseq_encoded')}) / "
                f"{c('sizeof(VALUE)')}",
        "position": "next ? next - 1 : 0",
        "count": body("insns_info.size"),
        "entry": f"count == 1 ? 0 : ruby31_rank({ranks}, position) - 1",
        "line": f"i{c('8 * sizeof(int)')}[{line}]",
        "pair": body("location.pathobj"),
        "path": f"({c.read('pair', 'struct RBasic', 'flags')} & "
                f"0x{c('RUBY_T_MASK'):x}) == {c('RUBY_T_ARRAY')} ? "
                f"{c.read('pair', 'struct RArray', 'as.ary[0]')} : pair",
        "flags": c.read("path", "struct RBasic", "flags"),
        "far": f"flags & 0x{c('RSTRING_NOEMBED'):x}",
        "file": f"text(far ? {far} : "
                f"{c.member('path', 'struct RString', 'as.embed.ary')}, "
                f"far ? {length} : flags >> {c('RSTRING_EMBED_LEN_SHIFT')} & "
                f"0x{embedded:x})",
        "label": body("location.label") + " ?: 0",
        "kind": c.read("label", "struct RBasic", "flags") + " ?: 0",
        "function": "text(" + choose(
            f"kind & 0x{c('RSTRING_NOEMBED'):x}",
            c.read("label", "struct RString", "as.heap.ptr"),
            c.member("label", "struct RString", "as.embed.ary")) + ", " +
            choose(
            f"kind & 0x{c('RSTRING_NOEMBED'):x}",
            c.read("label", "struct RString", "as.heap.len"),
            f"kind >> {c('RSTRING_EMBED_LEN_SHIFT')} & 0x{embedded:x}") + ")",
    }


def php_flags(api):
    return [f"-I/usr/include/php/{api}/{d}"
            for d in (".", "main", "Zend", "TSRM")]


PHP = "#include <php.h>\n#include <zend_globals.h>"
PERLS = glob.glob("/usr/lib/x86_64-linux-gnu/perl/5.[0-9]*/CORE")
RUBY = "/usr/include/x86_64-linux-gnu/ruby-3.1.0/rb_mjit_min_header-3.1.2.h"
FILES = {
    "php8.2.conf": (php, PHP, php_flags("20220829")),
    "php8.4.conf": (php, PHP, php_flags("20240924")),
    "libperl.so.5.36.conf": (
        perl, "#include <EXTERN.h>\n#include <perl.h>",
        [*("-I" + folder for folder in PERLS), "-D_REENTRANT",
         "-D_GNU_SOURCE", "-D_LARGEFILE_SOURCE", "-D_FILE_OFFSET_BITS=64"]),
    "libpython3.11.so.1.0.conf": (python, PYTHON_BITS,
                                  ["-I/usr/include/python3.11"]),
    # Which Debian has in no release.
    "libpython3.12.so.1.0.conf": (
        python312, PYTHON_BITS,
        ["-I" + os.environ.get("PYTHON312", "/usr/include/python3.12")]),
    "libpython3.13.so.1.0.conf": (python313, PYTHON_BITS,
                                  ["-I/usr/include/python3.13"]),
    "libruby-3.1.so.3.1.conf": (ruby, f'#include "{RUBY}"', []),
}


# ---------------------------------------------------------------- comparing

def items_of(path):
    """{name: expression} of the script items."""
    with open(path, encoding="ascii") as file:
        text = re.sub(r"#.*", "", file.read())
    found = {}
    for match in re.finditer(r"^script (\w+) = ([^;]*);", text, re.M):
        found[match[1]] = " ".join(match[2].split())
    return found


def differences(items, wanted):
    wrong = [f"{n} = {e} isn't what the headers say:\n# {n} = {wanted[n]}"
             for n, e in items.items() if n in wanted and e != wanted[n]]
    wrong += [f"{n}: nothing is known of it"
              for n in items if n not in wanted]
    wrong += [f"{n} is missing" for n in wanted if n not in items]
    return wrong


def check_file(number, name):
    make, headers, flags = FILES[name]
    compiler = Compiler()
    make(compiler)
    problem = compiler.ask(headers, flags)
    if problem and "No such file" in problem:
        print(f"ok {number} - {name} # SKIP {problem}")
        return True
    if problem:
        print(f"not ok {number} - {name}: {problem}")
        return False
    wrong = differences(items_of(os.path.join(ETC, name)), make(compiler))
    count = len(compiler.values)
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}: "
          f"{count} numbers as in the headers")
    for each in wrong:
        print("# " + each)
    return not wrong


def main():
    if not shutil.which(truth.COMPILER):
        print(f"1..0 # SKIP {truth.COMPILER} is missing")
        return 0
    good = [check_file(i, name) for i, name in enumerate(FILES, 1)]
    print(f"1..{len(FILES)}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
