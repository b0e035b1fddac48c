# %% [markdown]
# # Who copied my blog?
#
# A store of pages, asked about a post. The store is in a temporary folder here; a crawl fills a real one
# (`wonbon crawl`), and `wonbon.Client` asks a service with the same methods.

# %%
import tempfile

import wonbon

post = (
    "The ferry to the island stopped running in the autumn of that year. We sold the house by the quay, packed what "
    "was left of the library into nine boxes, and learned to live with the sound of trains instead of the tide."
)
store = wonbon.Store(tempfile.mkdtemp() + "/store", rule="threshold=0.7")

# %% [markdown]
# My post, a copy of it in another frame, a page that quotes one sentence, and one that has nothing of it.

# %%
frame = "<html><title>{title}</title><nav><a href=/>Home</a></nav><main><p>{text}</p></main></html>"
quoted = post.split(". ")[0] + "."
pages = [
    ("https://mine.example/ferry", "2024-03-01", post),
    ("https://copies.example/123", "2024-06-11", post.replace("nine boxes", "ten boxes")),
    ("https://news.example/island", "2024-07-02", "Somebody wrote about the island: " + quoted + " So it goes."),
    ("https://other.example/bread", "2024-01-09", "A loaf that rises overnight needs less yeast than any book says."),
]
for url, date, text in pages:
    verdict = store.add(url, html=frame.format(title=url, text=text), url=url, created=date)
    print(verdict.key, verdict.verdict, verdict.original or "")

# %% [markdown]
# Search finds originals; each comes with its copies.

# %%
found = store.search("ferry island", copies=True)
print([(one.document.key, [copy.key for copy in one.copies or []]) for one in found.results])

# %% [markdown]
# Who has something of the post, how much, and what is different there?

# %%
holders = []
for match in store.similar(post, min=0.05):
    document = match.document
    if document.key.startswith("https://mine.example/"):
        continue
    print(
        f"{document.key}, {document.created[:10]}: {document.verdict}, has {match.containment_of_text:.0%} of the post, "
        f"resemblance {match.resemblance:.2f}"
    )
    holders.append(document.key)
    for passage in wonbon.compare(post, store.get(document.key).text or "").diff()[:3]:
        print(f"  mine: {passage.a[:60]!r}  theirs: {passage.b[:60]!r}")

# %%
store.close()
