#!/usr/bin/env python3
"""Every small mistake in the code that decides (cargo-mutants' kinds and a few more): the plain tests must notice each.

    scripts/mutate.py [WORD...]        files whose path contains one of the words, otherwise all
    scripts/mutate.py --list [WORD...] only names the mutants
    scripts/mutate.py --seconds N      stops after so long; the next run continues

cargo-mutants builds and tests once for each mutant, which takes a day on two cores. Here all mutants of a file are
compiled into one build, each behind a number that an environment variable chooses, so a mutant costs no compiler. A
first run of each test by itself notes which mutants it reaches; a mutant is then tried by the tests that reach it, the
quickest first, until one fails. A mutant that does not compile is left out.

The build is a copy of the last commit below target/mutants, where no corpora stand beside the checkout. Results are
kept there by the content of the crate. Mutants that no test can see are in scripts/equivalent-mutants.txt with the
reason. Exit code 1 when another one lives.
"""

import collections
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "parent" / "tree"
EQUIVALENT = ROOT / "scripts" / "equivalent-mutants.txt"
PARSER = ["tree-sitter==0.26.0", "tree-sitter-rust==0.24.2"]

# Crate, files that decide, test programs that have to notice.
CRATES = [
    ("rule", ["rule.rs", "bands.rs", "kind.rs", "verdict.rs"], ["--lib", "--tests"]),
    ("files", ["partial_folder.rs", "replace.rs", "lock.rs", "private.rs"], ["--lib"]),
    ("app", ["tokens.rs"], ["--lib"]),
    ("crawl", ["guard.rs", "scope.rs", "robots/mod.rs", "robots/directives.rs"],
     ["--lib", "--test", "guard", "--test", "addresses", "--test", "robots", "--test", "robots_rfc"]),
    ("cluster", ["walk.rs"], ["--test", "families", "--test", "stream"]),
    ("store", ["judge.rs", "families.rs"], ["--test", "model", "--test", "decisions"]),
    ("server", ["guard.rs"], ["--lib", "--test", "service"]),
]

SWAPS = {
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "<": ["==", ">", "<="], ">": ["==", "<", ">="], "<=": [">"], ">=": ["<"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "|=": ["&="], "&=": ["|="],
}  # fmt: skip

# Where no function can be called.
CONSTANT = {"const_item", "static_item", "array_type", "attribute_item", "inner_attribute_item", "enum_variant", "const_block"}

SWITCH = """
/// Which mutant is on: the number in WONBON_MUTANT. The numbers that were asked for are noted in WONBON_REACHED.
#[doc(hidden)]
#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub)]
pub mod wonbon_mutants {
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ON: OnceLock<(usize, Option<std::ffi::OsString>)> = OnceLock::new();
    static SEEN: [AtomicBool; 10_000] = [const { AtomicBool::new(false) }; 10_000];
    pub fn is(number: usize) -> bool {
        let (on, reached) = ON.get_or_init(|| {
            let on = std::env::var("WONBON_MUTANT").ok().and_then(|text| text.parse().ok());
            (on.unwrap_or(0), std::env::var_os("WONBON_REACHED"))
        });
        if let Some(path) = reached {
            if !SEEN[number].swap(true, Ordering::Relaxed) {
                let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
                let _ = file.and_then(|mut file| file.write_all(format!("{number}\\n").as_bytes()));
            }
        }
        *on == number
    }
}
"""


def parser():
    """A parser of Rust, fetched where it is missing."""
    python = WORK / "python"
    if not list(python.glob("lib/python*/site-packages/tree_sitter_rust")):
        subprocess.run([sys.executable, "-m", "venv", python], check=True)
        subprocess.run([python / "bin" / "pip", "install", "--quiet", *PARSER], check=True)
    sys.path += [str(path) for path in python.glob("lib/python*/site-packages")]
    import tree_sitter
    import tree_sitter_rust

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def values(kind):
    """What a function that returns this could return instead."""
    kind = kind.strip()
    inside = re.fullmatch(r"(?:\w+::)*(Result|Option|Vec|Arc|Box)<(.*)>", kind, re.S)
    if inside:
        outer, rest = inside.groups()
        first, depth = "", 0
        for letter in rest:
            depth += (letter in "<([") - (letter in ">)]")
            if letter == "," and depth == 0:
                break
            first += letter
        if outer == "Result":
            return [f"Ok({value})" for value in values(first)]
        return ["None"] + [f"Some({value})" for value in values(first)] if outer == "Option" else ["Default::default()"]
    if kind in ("u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "u128"):
        return ["0", "1"]
    if kind in ("f32", "f64"):
        return ["0.0", "1.0"]
    if kind in ("&str", "&'static str"):
        return ['""', '"xyzzy"']
    if kind == "bool":
        return ["true", "false"]
    if kind == "()":
        return ["()"]
    if kind == "String":
        return ["String::new()", '"xyzzy".to_owned()']
    return [] if kind.startswith(("&", "impl", "Self", "(", "dyn", "!")) else ["Default::default()"]


class Mutated:
    """A file with all its mutants, each behind a number."""

    def __init__(self, parse, path, text, first, left_out):
        self.path, self.source, self.left_out = path, text.encode(), left_out
        self.names, self.next = {}, first
        self.seen = collections.Counter()
        self.function = []
        self.text = self.emit(parse.parse(self.source).root_node).decode()

    def old(self, node):
        return self.source[node.start_byte : node.end_byte]

    def number(self, what, old, new):
        """The number of a new mutant, or nothing if it is left out."""
        def brief(code):
            code = re.sub(r"\s+", " ", code.decode() if isinstance(code, bytes) else code)
            return code if len(code) <= 70 else code[:67] + "..."

        name = f"{self.path}: {'::'.join(self.function)}: {what} `{brief(old)}`" + (f" -> `{brief(new)}`" if new else "")
        self.seen[name] += 1
        if self.seen[name] > 1:
            name += f" ({self.seen[name]})"
        if name in self.left_out:
            return None
        self.names[self.next] = name
        self.next += 1
        return self.next - 1

    @staticmethod
    def asks(number):
        return f"crate::wonbon_mutants::is({number})".encode()

    def children(self, node):
        out, at = b"", node.start_byte
        for child in node.children:
            out += self.source[at : child.start_byte] + self.emit(child)
            at = child.end_byte
        return out + self.source[at : node.end_byte]

    def emit(self, node):
        kind = node.type
        if kind in CONSTANT or kind in ("token_tree", "macro_definition", "use_declaration"):
            return self.old(node)
        if kind in ("mod_item", "function_item") and self.is_test(node):
            return self.old(node)
        if kind == "function_item":
            return self.emit_function(node)
        if kind == "impl_item":
            self.function.append(self.old(node.child_by_field_name("type")).decode())
            out = self.children(node)
            self.function.pop()
            return out
        if kind == "binary_expression":
            return self.emit_swap(node, brackets=True)
        if kind == "compound_assignment_expr" and node.parent.type == "expression_statement":
            return self.emit_swap(node, brackets=False)
        if kind == "unary_expression" and node.children[0].type == "!":
            number = self.number("without !", self.old(node), "")
            inner = self.old(node.children[1])
            whole = self.children(node)
            return b"(if " + self.asks(number) + b" { " + inner + b" } else { " + whole + b" })" if number else whole
        if kind == "match_arm":
            return self.emit_arm(node)
        if kind == "expression_statement" and self.can_be_left_out(node):
            number = self.number("without", self.old(node), "")
            whole = self.children(node)
            return b"if !" + self.asks(number) + b" { " + whole + b" }" if number else whole
        return self.children(node)

    def is_test(self, node):
        before = node.prev_named_sibling
        while before is not None and before.type in ("attribute_item", "line_comment"):
            if re.search(rb"\btest\b", self.old(before)) and before.type == "attribute_item":
                return True
            before = before.prev_named_sibling
        return False

    def emit_function(self, node):
        body, returns = node.child_by_field_name("body"), node.child_by_field_name("return_type")
        modifiers = next((self.old(child) for child in node.children if child.type == "function_modifiers"), b"")
        if b"const" in modifiers or body is None:
            return self.old(node)
        self.function.append(self.old(node.child_by_field_name("name")).decode())
        result = self.old(returns).decode() if returns else "()"
        early = b""
        # An empty body is its own mutant.
        if body.named_child_count:
            for value in values(result):
                number = self.number("returns", value, "")
                if number:
                    early += b" if " + self.asks(number) + b" { return " + value.encode() + b"; }"
        inner = self.children(body)
        self.function.pop()
        return self.source[node.start_byte : body.start_byte] + b"{" + early + inner[1:]

    def emit_swap(self, node, brackets):
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign, out = self.old(operator).decode(), b""
        for other in SWAPS.get(sign, []):
            new = self.old(left) + b" " + other.encode() + b" " + self.old(right)
            number = self.number("swap", self.old(node), new)
            if number:
                out += b"if " + self.asks(number) + b" { " + new + b" } else "
        whole = self.children(node)
        if not out:
            return whole
        out += b"{ " + whole + b" }"
        return b"(" + out + b")" if brackets else out

    def emit_arm(self, node):
        pattern = node.child_by_field_name("pattern")
        guard = pattern.child_by_field_name("condition")
        arms = [child for child in node.parent.children if child.type == "match_arm"]
        catches_all = self.old(arms[-1].child_by_field_name("pattern")) == b"_"
        before = self.source[node.start_byte : pattern.start_byte]
        rest = b"".join(
            self.source[(child.prev_sibling.end_byte) : child.start_byte] + self.emit(child)
            for child in node.children
            if child.start_byte >= pattern.end_byte
        )
        if guard is None:
            plain = self.old(pattern)
            if not catches_all or node.id == arms[-1].id:
                return before + plain + rest
            number = self.number("without arm", plain, "")
            return before + plain + (b" if !" + self.asks(number) if number else b"") + rest
        if guard.type in ("let_chain", "let_condition"):
            return before + self.old(pattern) + rest
        always = self.number("guard", self.old(guard), "true")
        never = self.number("guard", self.old(guard), "false")
        said = b"(" + self.emit(guard) + b")"
        if always:
            said = b"(" + self.asks(always) + b" || " + said + b")"
        if never:
            said = b"!" + self.asks(never) + b" && " + said
        return before + self.source[pattern.start_byte : guard.start_byte] + said + rest

    def can_be_left_out(self, node):
        inner = node.named_children[0]
        while inner.type == "try_expression" or inner.type == "await_expression":
            inner = inner.named_children[0]
        block = node.parent
        diverges = block.parent is not None and block.parent.type == "let_declaration"
        kinds = ("call_expression", "assignment_expression", "return_expression", "continue_expression", "break_expression")
        return inner.type in kinds and not diverges and self.old(node).endswith(b";")


def copy_commit():
    """The last commit's files in TREE; those that are right stay as they are, so that cargo builds little again."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    wanted = set()
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            if member.isfile():
                path, content = TREE / member.name, files.extractfile(member).read()
                wanted.add(path)
                if not path.exists() or path.read_bytes() != content:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                    path.chmod(member.mode)
    for path in TREE.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def compiled(crate, files, arguments, parse):
    """Builds the crate with all its mutants: names by number, and the test programs."""
    folder = TREE / "crates" / crate
    left_out = set()
    originals = {file: (folder / "src" / file).read_text() for file in ["lib.rs", *files]}
    environment = dict(os.environ, CARGO_TARGET_DIR=str(ROOT / "target"))
    messages = ["--message-format=json", "--quiet"]
    for _ in range(12):
        names, first = {}, 1
        for file in files:
            mutated = Mutated(parse, f"{crate}/{file}", originals[file], first, left_out)
            (folder / "src" / file).write_text(mutated.text)
            names.update(mutated.names)
            first = mutated.next
        (folder / "src" / "lib.rs").write_text(originals["lib.rs"] + SWITCH)
        # With the features of the whole workspace, so that dependencies are those of scripts/test.sh.
        which = ["-p", f"wonbon-{crate}"] if "--lib" in arguments else ["--workspace"]
        command = ["cargo", "test", "--no-run", *which, *arguments, *messages]
        checked = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
        if checked.returncode == 0:
            break
        before = len(left_out)
        for line in checked.stdout.splitlines():
            message = json.loads(line)
            if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
                continue
            for span in message["message"]["spans"]:
                if span["is_primary"]:
                    text = (TREE / span["file_name"]).read_bytes()[: span["byte_start"]]
                    asked = re.findall(rb"wonbon_mutants::is\((\d+)\)", text)
                    if asked and int(asked[-1]) in names:
                        left_out.add(names[int(asked[-1])])
        if len(left_out) == before:
            sys.exit(f"error: {crate} does not compile\n{checked.stdout[-3000:]}{checked.stderr[-3000:]}")
    else:
        sys.exit(f"error: {crate} does not compile")
    programs = []
    for line in checked.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            programs.append(message["executable"])
    return names, sorted(set(programs)), len(left_out)


def run(folder, program, test, seconds, **variables):
    """Whether a test passes, and how long it takes."""
    environment = dict(
        os.environ, CARGO_MANIFEST_DIR=str(folder), PROPTEST_RNG_SEED="1997", PROPTEST_MAX_SHRINK_ITERS="0",
        PROPTEST_FAILURE_PERSISTENCE="off", RUST_BACKTRACE="0", INSTA_UPDATE="no", **variables,
    )  # fmt: skip
    start = time.monotonic()
    child = subprocess.Popen(
        [program, test, "--exact", "--quiet"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        passes = child.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        passes = False
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return passes, time.monotonic() - start


def explored(folder, programs):
    """Which tests reach which mutants, the quickest first."""
    reached = WORK / "reached"
    found = collections.defaultdict(list)
    for program in programs:
        listed = subprocess.run([program, "--list", "--format=terse"], cwd=folder, capture_output=True, text=True).stdout
        ignored = subprocess.run(
            [program, "--list", "--ignored", "--format=terse"], cwd=folder, capture_output=True, text=True
        ).stdout.splitlines()
        for line in listed.splitlines():
            test, _, kind = line.rpartition(": ")
            if kind != "test" or line in ignored:
                continue
            reached.unlink(missing_ok=True)
            passes, seconds = run(folder, program, test, 300, WONBON_REACHED=str(reached))
            if not passes:
                print(f"   left out, it fails by itself: {test}", flush=True)
                continue
            for number in set(reached.read_text().split()) if reached.exists() else ():
                found[int(number)].append((seconds, program, test))
    return {number: sorted(tests) for number, tests in found.items()}


def main():
    words, only_list, until = [], False, None
    arguments = iter(sys.argv[1:])
    for word in arguments:
        if word == "--list":
            only_list = True
        elif word == "--seconds":
            until = time.monotonic() + float(next(arguments))
        else:
            words.append(word)
    parse = parser()
    equivalent = dict(line.split(" | ", 1) for line in EQUIVALENT.read_text().splitlines() if " | " in line)
    wanted = [
        (crate, files, tests) for crate, files, tests in CRATES
        if not words or any(word in f"{crate}/{file}" for word in words for file in files)
    ]  # fmt: skip
    if only_list:
        for crate, files, _ in wanted:
            for file in files:
                text = (ROOT / "crates" / crate / "src" / file).read_text()
                print("\n".join(Mutated(parse, f"{crate}/{file}", text, 1, set()).names.values()))
        return
    copy_commit()
    lived, table, unfinished = [], [], False
    for crate, files, tests in wanted:
        folder = TREE / "crates" / crate
        # The fates hold for these files and tests.
        content = hashlib.sha256()
        for path in sorted([*folder.rglob("*.rs"), ROOT / "scripts" / "mutate.py"]):
            content.update(path.read_bytes())
        kept = WORK / f"{crate}-{content.hexdigest()[:16]}.txt"
        fates = dict(line.rsplit(" | ", 1) for line in kept.read_text().splitlines()) if kept.exists() else {}
        if fates.pop("all", None) is None:
            start = time.monotonic()
            names, programs, left_out = compiled(crate, files, tests, parse)
            copy_commit()
            built = time.monotonic() - start
            reached = explored(folder, programs)
            print(f"{crate}: {len(names)} mutants, {left_out} do not compile, {built:.0f} s to build, "
                  f"{time.monotonic() - start - built:.0f} s to see what tests reach", flush=True)  # fmt: skip
            for number, name in names.items():
                if name in fates:
                    continue
                if until and time.monotonic() > until:
                    unfinished = True
                    break
                fate = "LIVES" if number in reached else "NOT REACHED"
                for seconds, program, test in reached.get(number, []):
                    passes, _ = run(folder, program, test, 20 + 5 * seconds, WONBON_MUTANT=str(number))
                    if not passes:
                        fate = "caught"
                        break
                fates[name] = fate
                with kept.open("a") as file:
                    file.write(f"{name} | {fate}\n")
            else:
                with kept.open("a") as file:
                    file.write("all | tried\n")
        count = collections.Counter()
        for name, fate in fates.items():
            if fate != "caught" and name in equivalent:
                fate = "equivalent"
            count[fate] += 1
            if fate not in ("caught", "equivalent"):
                lived.append(name)
                print(f"{fate:<11} {name}", flush=True)
        table.append((crate, count))
    print("\n| crate | mutants | caught | equivalent | live |\n|---|---|---|---|---|")
    for crate, count in table:
        live = count["LIVES"] + count["NOT REACHED"]
        print(f"| {crate} | {count.total()} | {count['caught']} | {count['equivalent']} | {live} |")
    if unfinished:
        print("not finished: run it again")
    sys.exit(1 if lived or unfinished else 0)


if __name__ == "__main__":
    main()
