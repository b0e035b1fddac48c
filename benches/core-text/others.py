"""Core text extractors of Python on the pages of the comparison.

    core-text-bench FOLDER --pages pages.jsonl
    python others.py pages.jsonl found.jsonl
    core-text-bench FOLDER --found found.jsonl

Packages: trafilatura, resiliparse, newspaper4k, readability-lxml. Every tool gets the decoded page and its
address, one call a page, no network; time is CPU time of the process.
"""

import argparse
import json
import time


def trafilatura(html, url):
    import trafilatura as tool

    return tool.extract(html, url=url, include_comments=False, include_tables=True)


def trafilatura_recall(html, url):
    import trafilatura as tool

    return tool.extract(html, url=url, include_comments=True, favor_recall=True)


def resiliparse(html, url):
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(html, main_content=True, alt_texts=False)


def newspaper4k(html, url):
    from newspaper import Article

    article = Article(url or "http://example.org/", fetch_images=False)
    article.download(input_html=html)
    article.parse()
    return article.text


def readability_lxml(html, url):
    from lxml.html import fromstring
    from readability import Document

    summary = fromstring(Document(html, url=url).summary())
    return "\n".join(summary.itertext())


TOOLS = {
    "trafilatura (Python)": trafilatura,
    "trafilatura (Python), comments and recall": trafilatura_recall,
    "resiliparse": resiliparse,
    "newspaper4k": newspaper4k,
    "readability-lxml": readability_lxml,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages")
    parser.add_argument("found")
    options = parser.parse_args()
    with open(options.pages, encoding="utf-8") as lines:
        pages = [json.loads(line) for line in lines]
    with open(options.found, "w", encoding="utf-8") as out:
        for name, tool in TOOLS.items():
            tool("<p>warm</p>", None)
            failed = 0
            for page in pages:
                start = time.process_time()
                try:
                    text = tool(page["html"], page["url"]) or ""
                except Exception as error:  # A page that a tool cannot read counts as empty.
                    failed += 1
                    text = ""
                    print(f"{name}: {page['set']} {page['name']}: {error!r}"[:200])
                found = {
                    "tool": name,
                    "set": page["set"],
                    "name": page["name"],
                    "text": text,
                    "ms": (time.process_time() - start) * 1e3,
                }
                print(json.dumps(found, ensure_ascii=False), file=out)
            print(f"{name}: {len(pages)} pages, {failed} failed")


if __name__ == "__main__":
    main()
