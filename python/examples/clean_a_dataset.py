# %% [markdown]
# # Clean a Hugging Face dataset
#
# Which rows are copies, what is left, and why a row went. A script and a notebook: editors and Jupytext open the cells, and
# the tests run them.

# %%
import datasets

import wonbon

# %% [markdown]
# A small dataset with copies in it; for your own: `datasets.load_dataset(…)["train"]` or `datasets.Dataset.from_json(FILE)`.

# %%
words = [f"word{number}" for number in range(300)]
texts = [" ".join(words[start : start + 60]) for start in range(0, 240, 60)]
edited = texts[0].replace("word30", "another")
data = datasets.Dataset.from_dict({"text": [*texts, edited, texts[2].upper(), ""], "split": ["a"] * 7})

# %% [markdown]
# One call decides every row: originals and rows without words are kept, copies go.

# %%
families = wonbon.dedup(data)
print(families)
for kind, count in families.summary["kinds"].items():
    print(f"  {kind:<14} {count:>8,}")

# %% [markdown]
# What is left is a dataset too: columns, features and format are untouched.

# %%
clean = families.select()
print(clean)

# %% [markdown]
# Why did the first copy go?

# %%
copies = [row["id"] for row in families.table.to_pylist() if row["kind"] == "copy"]
told = families.explain(copies[0])
print(f"row {told.id} resembles row {told.original} by {told.resemblance:.3f}")
for passage in told.comparison.diff() if told.comparison else []:
    print(f"  {passage.a!r} stands where the original has {passage.b!r}")

# %% [markdown]
# A stricter threshold costs nothing: the texts are not read again. The digest is the one that `wonbon dedup` prints for the
# same rows, so two runs are compared by one line.

# %%
print("at 0.95:", families.again(0.95))
print("digest:", families.digest)
