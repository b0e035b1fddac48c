"""Single texts: core text of pages, comparisons."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _html
from ._wonbon import compare_json, extract_json

__all__ = ["Comparison", "Difference", "Link", "MovedBlock", "Page", "compare", "extract"]


@dataclass(frozen=True)
class Link:
    """A link of a page."""

    url: str
    text: str


@dataclass(frozen=True)
class Page:
    """What a page says, without menus, sidebars, advertisements and footers, and what it says of itself."""

    text: str
    title: str | None
    language: str | None
    published: str | None
    canonical: str | None
    charset: str
    is_html: bool
    malformed: bool
    links: list[Link] = field(repr=False)

    def _repr_html_(self) -> str:
        rows = [(name, getattr(self, name)) for name in ("title", "language", "published", "canonical")]
        return _html.pairs([*rows, ("text", self.text[:600])])


def extract(page: str | bytes, url: str | None = None) -> Page:
    """The core text of a page. Bytes may be in any charset; a text that is no HTML is left as it is.

    >>> page = extract("<title>Spring</title><nav><a href=/>Home</a></nav><main><p>It rained.</p></main>")
    >>> page.text, page.title
    ('It rained.', 'Spring')
    """
    told = json.loads(extract_json(page, url))
    links = [Link(**link) for link in told.pop("links")]
    return Page(links=links, **told)


@dataclass(frozen=True)
class Difference:
    """A passage that differs: what A has there and what B has there; either may be empty."""

    a: str
    b: str
    words_a: tuple[int, int]
    words_b: tuple[int, int]


@dataclass(frozen=True)
class MovedBlock:
    """A block that stands at one place of A and at another of B."""

    text: str
    words_a: tuple[int, int]
    words_b: tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    """How much two texts share: exactly, and as their sketches see it."""

    resemblance: float
    containment_a_in_b: float
    containment_b_in_a: float
    verdict: str
    shingles_a: int
    shingles_b: int
    shingles_shared: int
    features_equal: int
    features: int
    estimate: dict[str, float] = field(repr=False)
    _texts: tuple[str, str] = field(repr=False, compare=False)
    _options: dict[str, Any] = field(repr=False, compare=False)

    def _differences(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(compare_json(*self._texts, diff=True, **self._options))
        return told

    def diff(self) -> list[Difference]:
        """Where the two differ, passage by passage."""

        def passage(one: dict[str, Any]) -> Difference:
            return Difference(one["a"], one["b"], tuple(one["words_a"]), tuple(one["words_b"]))

        return [passage(one) for one in self._differences()["differences"]]

    def moved(self) -> list[MovedBlock]:
        """Blocks that stand elsewhere in the other text."""

        def block(one: dict[str, Any]) -> MovedBlock:
            return MovedBlock(one["a"], tuple(one["words_a"]), tuple(one["words_b"]))

        return [block(one) for one in self._differences()["moved"]]

    def _repr_html_(self) -> str:
        shared = [
            ("verdict", self.verdict),
            ("resemblance", f"{self.resemblance:.4f}"),
            ("A inside B", f"{self.containment_a_in_b:.4f}"),
            ("B inside A", f"{self.containment_b_in_a:.4f}"),
        ]
        return _html.pairs(shared)


def compare(
    a: str,
    b: str,
    *,
    shingle: int = 5,
    rule: str | None = None,
    seed: int | bytes | None = None,
) -> Comparison:
    """Compares two texts; `rule` says what makes a copy (`threshold=0.8`, `2of6`).

    >>> found = compare("a rose is a rose is a rose", "a rose is a rose was a rose", shingle=2)
    >>> found.resemblance, found.verdict
    (0.6, 'partly contained')
    >>> found.diff()
    [Difference(a='is', b='was', words_a=(5, 6), words_b=(5, 6))]
    """
    options: dict[str, Any] = {"shingle": shingle, "rule": rule, "seed": seed}
    told = json.loads(compare_json(a, b, **options))
    del told["a"], told["b"]
    return Comparison(_texts=(a, b), _options=options, **told)
