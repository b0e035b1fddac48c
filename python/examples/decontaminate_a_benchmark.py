# %% [markdown]
# # Decontaminate a benchmark
#
# Training texts that contain, or are copies of, a benchmark's questions. Two steps, because they find different things:
# near-copies of whole questions, and questions quoted inside longer texts.

# %%
import wonbon

questions = [
    "A train leaves the station at noon and travels east at sixty kilometres an hour. When has it gone ninety?",
    "Which planet of our system has the shortest day, and roughly how many hours does that day last?",
    "If three painters need four days for a fence, how long do six painters need for two such fences?",
]
training = [
    "A loaf that rises overnight in a cold kitchen needs less yeast than any book says.",
    "A train leaves the station at noon, and travels east at sixty kilometres an hour. When has it gone ninety?!",
    "Forum, page seven. Somebody asked: which planet of our system has the shortest day, and roughly how many hours "
    "does that day last? I always forget. The answers below are mostly jokes, as usual on a Friday evening here.",
    "Fences and painters are the favourite furniture of arithmetic books, and nobody knows why that is so.",
]

# %% [markdown]
# Whole questions: what resembles one of them is a copy of it.

# %%
families = wonbon.dedup(training, against=questions, threshold=0.7)
left = families.select()
print(f"{len(training) - len(left)} of {len(training)} texts are near-copies of a question")

# %% [markdown]
# Quoted questions: half of a question's shingles inside a text are too many.

# %%
clean = []
with wonbon.Deduplicator() as seen:
    seen.add_many([{"id": f"question {at}", "text": text} for at, text in enumerate(questions)])
    for text in left:
        inside = seen.store.contains(text, min=0.5)
        for found in inside:
            print(f"{found.document.key} stands in {text[:40]!r}… ({found.containment_of_document:.0%} of it)")
        if not len(inside):
            clean.append(text)
print(f"{len(clean)} texts are clean")
