#!/usr/bin/env python3
"""Hand-made mutants of the code that decides: each is a small mistake, and the plain tests must notice it.

    scripts/mutants.py [NAME...]     those whose name contains one of these words, otherwise all
    scripts/mutants.py --check       only whether every mutant still applies (seconds; in scripts/test.sh)

Every mutant is made in a copy of the last commit below target/mutants, where no corpora stand beside the checkout, so a test that
needs them catches nothing. Results are kept there by commit: an interrupted run continues. Exit code 1 when a
mutant lives. Mutants that change nothing that can be seen are in EQUIVALENT with the reason.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "parent" / "tree"

RULE = ("crates/rule/src/rule.rs", ["-p", "wonbon-rule"])
JUDGE = ("crates/store/src/judge.rs", ["-p", "wonbon-store", "--test", "model", "--test", "decisions"])
FAMILIES = ("crates/store/src/families.rs", ["-p", "wonbon-store", "--test", "model", "--test", "threads"])
WALK = ("crates/cluster/src/walk.rs", ["-p", "wonbon-cluster"])
TOKENS = ("crates/app/src/tokens.rs", ["-p", "wonbon-app", "--lib"])
GUARD = ("crates/server/src/guard.rs", ["-p", "wonbon-server", "--lib", "--test", "service"])
ADDRESSES = ("crates/crawl/src/guard.rs", ["-p", "wonbon-crawl", "--test", "guard"])
ROBOTS = ("crates/crawl/src/robots/mod.rs", ["-p", "wonbon-crawl", "--test", "robots", "--test", "robots_rfc"])
SCOPE = ("crates/crawl/src/scope.rs", ["-p", "wonbon-crawl", "--test", "addresses"])

# Name, where, what it was, what it becomes. The text must stand in the file exactly once.
MUTANTS = [
    ("rule: above the threshold only", RULE, "Rule::Threshold(threshold) => resemblance >= threshold,",
     "Rule::Threshold(threshold) => resemblance > threshold,"),
    ("rule: one feature more", RULE, "features_equal >= needed && resemblance >= floor",
     "features_equal > needed && resemblance >= floor"),
    ("rule: no floor", RULE, "features_equal >= needed && resemblance >= floor", "features_equal >= needed"),
    ("rule: a threshold of zero", RULE, "threshold > 0.0 && threshold <= 1.0", "threshold >= 0.0 && threshold <= 1.0"),
    ("judge: originals after it count", JUDGE, "if order > asked.order {", "if false && order > asked.order {"),
    ("judge: copies count as originals", JUDGE, "if original.standing.kind != Kind::Original {",
     "if false && original.standing.kind != Kind::Original {"),
    ("judge: the latest of equals", JUDGE, "(likeness, Reverse(order)) > best", "(likeness, Reverse(order)) >= best"),
    ("judge: the least like", JUDGE, "best.is_none_or(|best| (likeness, Reverse(order)) > best)",
     "best.is_none_or(|best| (likeness, Reverse(order)) < best)"),
    ("judge: decisions are ignored", JUDGE, "if asked.decision.is_some() && order < asked.order {",
     "if false && asked.decision.is_some() && order < asked.order {"),
    ("judge: later ones are forgotten", JUDGE, "judgement.later.push(order);", "let _ = order;"),
    ("families: copies of a lost original stay", FAMILIES, "self.judge_family_again(record.row, None)?;\n            }\n            Kind::Empty => {}",
     "}\n            Kind::Empty => {}"),
    ("families: later originals stay", FAMILIES, "self.again.extend(judgement.later);", "drop(judgement.later);"),
    ("families: late documents suit no copies", FAMILIES, "latest < record.created", "latest >= record.created"),
    ("families: judged once", FAMILIES, "while let Some(order) = self.again.pop_first() {",
     "if let Some(order) = self.again.pop_first() {"),
    ("walk: every other pair", WALK, "self.starts[row + 1] as usize]", "self.starts[row + 1] as usize - usize::from(self.starts[row + 1] > self.starts[row] + 1)]"),
    ("tokens: for reading is for all", TOKENS, "self.scopes.iter().any(|held| *held >= scope)", "!self.scopes.is_empty() || scope == Scope::Read"),
    ("tokens: they never end", TOKENS, "is_ok_and(|expires| expires > now)", "is_ok_and(|expires| expires > now || true)"),
    ("tokens: no lock", TOKENS, "let _lock = wonbon_files::lock::wait(Path::new(&lock)).map_err(io(\"lock\"))?;", "let _ = (lock, io);"),
    ("guard: any host", GUARD, "name.eq_ignore_ascii_case(\"localhost\")", "!name.is_empty() || name.eq_ignore_ascii_case(\"localhost\")"),
    ("guard: any origin", GUARD, "if of_origin != Some(host) {", "if of_origin.is_none() {"),
    ("guard: scopes are not asked", GUARD, "if !token.allows(scope) {", "if false && !token.allows(scope) {"),
    ("guard: failed tokens cost nothing", GUARD, "take_from_bucket(service, || client_ip(request.extensions()).to_string())?;\n                Err(problem)", "Err(problem)"),
    ("guard: two hosts", GUARD, "|| named.any(|other| other != first)", ""),
    ("addresses: a private network", ADDRESSES, "([172, 16, 0, 0], 12, Reason::Private)", "([172, 16, 0, 0], 16, Reason::Private)"),
    ("addresses: shared by a provider", ADDRESSES, "([100, 64, 0, 0], 10, Reason::SharedByProvider)", "([100, 64, 0, 0], 16, Reason::SharedByProvider)"),
    ("addresses: unique local", ADDRESSES, "([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Reason::UniqueLocal)", "([0xfc00, 0, 0, 0, 0, 0, 0, 0], 8, Reason::UniqueLocal)"),
    ("robots: disallow first", ROBOTS, "std::cmp::Reverse(rule.pattern.length()), !rule.allow)", "std::cmp::Reverse(rule.pattern.length()), rule.allow)"),
    ("robots: the shortest rule", ROBOTS, "(std::cmp::Reverse(rule.pattern.length()), !rule.allow)", "(rule.pattern.length(), !rule.allow)"),
    ("robots: the star beside the name", ROBOTS, "if is_named { named } else { star }", "if is_named && star.rules.is_empty() { named } else { star }"),
    ("robots: comments are rules", ROBOTS, "byte == b'#'", "byte == b'\\0'"),
    ("scope: one link too far", SCOPE, "depth > limit", "depth > limit + 1"),
    ("scope: exclusions lose", SCOPE, "return Err(OutOfScope::Excluded { pattern: written.text.clone() });", "let _ = written;"),
    ("scope: no seeds, everything", SCOPE, "return !self.nowhere;", "return true;"),
]

# Name and why no test can see it.
EQUIVALENT = [
    ("judge: the latest of equals", "no two documents have the same order: rows differ"),
]


def replaced(text, name, old, new):
    """The text with the mistake in it."""
    if text.count(old) != 1:
        sys.exit(f"error: {name}: `{old}` stands in the file {text.count(old)} times")
    return text.replace(old, new)


def check():
    for name, (path, _), old, new in MUTANTS:
        replaced((ROOT / path).read_text(), name, old, new)
    print(f"{len(MUTANTS)} mutants apply")


def main():
    words = sys.argv[1:]
    if words == ["--check"]:
        return check()
    check()
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    results = WORK / f"{commit}.txt"
    WORK.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--touch"], cwd=TREE, input=archive, check=True)
    known = dict(line.rsplit("|", 1) for line in results.read_text().splitlines()) if results.exists() else {}
    equivalent = dict(EQUIVALENT)
    environment = dict(os.environ, CARGO_TARGET_DIR=str(WORK / "target"), PROPTEST_RNG_SEED="1997")
    lived = []
    for name, (path, arguments), old, new in MUTANTS:
        if words and not any(word in name for word in words):
            continue
        if name in known:
            fate = known[name]
        else:
            file = TREE / path
            whole = file.read_text()
            start = time.monotonic()
            file.write_text(replaced(whole, name, old, new))
            try:
                built = subprocess.run(["cargo", "test", "--quiet", "--no-run", *arguments], cwd=TREE, env=environment, capture_output=True, text=True)
                if built.returncode != 0:
                    fate = "does not compile"
                    print(built.stderr[-2000:])
                else:
                    try:
                        tested = subprocess.run(["cargo", "test", "--quiet", *arguments], cwd=TREE, env=environment, capture_output=True, timeout=900)
                        fate = "caught" if tested.returncode else "LIVES"
                    except subprocess.TimeoutExpired:
                        fate = "caught"
            finally:
                file.write_text(whole)
            if fate == "LIVES" and name in equivalent:
                fate = "equivalent"
            with results.open("a") as kept:
                kept.write(f"{name}|{fate}\n")
            print(f"{time.monotonic() - start:6.0f} s ", end="")
        print(f"{fate:<10} {name}" + (f" ({equivalent[name]})" if fate == "equivalent" else ""), flush=True)
        if fate not in ("caught", "equivalent"):
            lived.append(name)
    if lived:
        sys.exit(f"{len(lived)} not caught: {', '.join(lived)}")


if __name__ == "__main__":
    main()
