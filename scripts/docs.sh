#!/usr/bin/env bash
# Builds the documentation as a site: target/book/index.html. mdBook is built into target/tools when it is not
# installed; that takes some minutes once. Links are checked by scripts/test.sh
# (crates/cli/tests/documentation.rs), and once more here on the finished pages.
#
#     scripts/docs.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v mdbook >/dev/null; then
  [ -x target/tools/cargo/bin/mdbook ] ||
    cargo install mdbook --version '^0.5' --no-default-features --features search --locked --quiet --root target/tools/cargo
  PATH="$PWD/target/tools/cargo/bin:$PATH"
fi
rm -rf target/book
mdbook build docs --dest-dir "$PWD/target/book"

python3 - <<'END'
"""Every relative link of the site leads to a file of it."""
import html.parser
import pathlib
import sys
import urllib.parse

book = pathlib.Path("target/book").resolve()
wrong = []


class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name not in ("href", "src") or not value or "://" in value or value.startswith(("#", "mailto:", "data:")):
                continue
            path = urllib.parse.unquote(value.split("#")[0].split("?")[0])
            target = (self.page.parent / path).resolve()
            # Sources beside the book are linked from pages; on the site they lead to the checkout.
            if book in target.parents and not target.exists():
                wrong.append(f"{self.page.relative_to(book)}: {value}")


for page in book.rglob("*.html"):
    if page.name in ("print.html", "404.html", "toc.html"):
        continue
    parser = Links()
    parser.page = page
    parser.feed(page.read_text())
sys.exit("links that lead nowhere:\n" + "\n".join(wrong) if wrong else 0)
END
echo "target/book/index.html"
