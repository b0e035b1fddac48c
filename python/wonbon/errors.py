"""What can go wrong, in three classes under one base: the request is wrong, the environment failed, or data
of ours is broken. Every error is one sentence, the one that the program prints."""

from __future__ import annotations

__all__ = [
    "ColumnError",
    "DamagedError",
    "EnvironmentFailedError",
    "RequestError",
    "ServiceError",
    "UnknownDocumentError",
    "WonbonError",
]


class WonbonError(Exception):
    """Anything that Wonbon could not do."""


class RequestError(WonbonError, ValueError):
    """What was asked for is wrong: ask for something else."""


class ColumnError(RequestError):
    """A column is missing, or holds something else than it should. The sentence names it."""


class UnknownDocumentError(RequestError, LookupError):
    """There is no such document."""


class EnvironmentFailedError(WonbonError, OSError):
    """A file, a disk, memory or a network failed: the same may work later."""


class DamagedError(WonbonError):
    """Data that Wonbon wrote is not what it wrote."""


class ServiceError(WonbonError):
    """The service refused. `code` is its stable name for the reason, `status` the HTTP status."""

    def __init__(self, sentence: str, code: str = "", status: int = 0) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status
