"""Who copied my blog? A store of pages, asked about each post.

    python who_copied_my_blog.py [STORE]

Without a store it makes a small one of a few pages.
"""

import sys
import tempfile

import wonbon

POST = (
    "The ferry to the island stopped running in the autumn of that year. We sold the house by the quay, packed what "
    "was left of the library into nine boxes, and learned to live with the sound of trains instead of the tide."
)


def fill(store: wonbon.Store) -> None:
    """My post, a copy of it in another frame, a page that quotes one sentence, and one that has nothing of it."""
    frame = "<html><title>{title}</title><nav><a href=/>Home</a></nav><main><p>{text}</p></main></html>"
    quoted = POST.split(". ")[0] + "."
    pages = [
        ("https://mine.example/ferry", "2024-03-01", POST),
        ("https://copies.example/123", "2024-06-11", POST.replace("nine boxes", "ten boxes")),
        ("https://news.example/island", "2024-07-02", "Somebody wrote about the island: " + quoted + " So it goes."),
        ("https://other.example/bread", "2024-01-09", "A loaf that rises overnight needs less yeast than any book says."),
    ]
    for url, date, text in pages:
        store.add(url, html=frame.format(title=url, text=text), url=url, created=date)


def main(arguments: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = arguments[0] if arguments else f"{folder}/store"
        with wonbon.Store(path) as store:
            if not len(store):
                fill(store)
            mine = [found.document for found in store.search("ferry island").results]
            print("originals that mention it:", [document.key for document in mine])
            holders = []
            for found in store.similar(POST, min=0.05):
                document = found.document
                if document.key.startswith("https://mine.example/"):
                    continue
                print(
                    f"{document.key}, {document.created[:10]}: {document.verdict}, has "
                    f"{found.containment_of_text:.0%} of the post, resemblance {found.resemblance:.2f}"
                )
                holders.append(document.key)
                before = store.get("https://mine.example/ferry").text if not arguments else POST
                for passage in wonbon.compare(before, store.get(document.key).text).diff()[:3]:
                    print(f"  mine: {passage.a[:60]!r}  theirs: {passage.b[:60]!r}")
            return holders


if __name__ == "__main__":
    main(sys.argv[1:])
