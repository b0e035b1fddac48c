"""A service, by HTTP: the same methods and answers as a store."""

from __future__ import annotations

import collections
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from . import _data
from ._answers import Backup, DecisionEntry, Document, Verdict
from ._any_store import AnyStore, checked_text
from ._progress import telling
from .errors import EnvironmentFailedError, RequestError, ServiceError, UnknownDocumentError, WonbonError
from .typing import Progress

__all__ = ["Client"]

PATHS = {"watched": "watch", "reports": "watch/report"}
"""Questions whose path is called otherwise."""

TRIES = 4
"""How often a request that may be repeated is sent."""

WAITING = {429, 503}
"""What a service answers that is busy or begins: the same request may succeed later."""


class _BrokenError(Exception):
    """A stream broke, and may be sent again after so many seconds."""

    def __init__(self, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence)
        self.wait = wait


class _Stream:
    """Rows on their way to a service: those that were taken from their source and have no verdict yet are kept."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self.waiting: collections.deque[bytes] = collections.deque()
        self.failed: BaseException | None = None
        self.answered = 0

    def take(self) -> None:
        """The oldest row has its verdict."""
        self.waiting.popleft()
        self.answered += 1

    def _lines(self) -> Iterator[bytes]:
        yield from list(self.waiting)
        while True:
            try:
                row = next(self._rows, None)
            except BaseException as error:  # told to whoever reads the verdicts
                self.failed = error
                raise
            if row is None:
                return
            line = json.dumps(row).encode() + b"\n"
            self.waiting.append(line)
            yield line

    def send(self, connection: http.client.HTTPConnection) -> None:
        """Sends what waits, and then the other rows, as the chunks of a request."""
        with contextlib.suppress(BaseException):
            try:
                for line in self._lines():
                    connection.send(b"%x\r\n%s\r\n" % (len(line), line))
                connection.send(b"0\r\n\r\n")
            except BaseException:
                # The service learns that no more comes, and the reader of the verdicts that this has ended.
                if connection.sock:
                    connection.sock.shutdown(socket.SHUT_RDWR)
                raise


class Client(AnyStore):
    """A service of `wonbon serve`.

    A request is sent again when the connection breaks or the service is busy, if nothing comes of sending it twice:
    questions, adds (a document that is known already is unchanged by being added again) and removals. Decisions are
    sent once. A client may be used by several
    threads; each of their requests has a connection of its own.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError(f"the address of a service is http://… or https://…, not {url}")
        self._parts = parts
        self._token = token
        self._timeout = timeout

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _headers(self, kind: str | None) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if kind:
            headers["Content-Type"] = kind
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _send(
        self, method: str, path: str, body: bytes | None = None, kind: str | None = None, tries: int = TRIES
    ) -> bytes:
        """One request and its answer, tried again unless it must be sent once only."""
        address = self._parts.path.rstrip("/") + path
        wait, failed = 0.1, ""
        for tried in range(tries):
            if tried:
                time.sleep(wait)
                wait *= 3
            connection = self._connection()
            try:
                connection.request(method, address, body=body, headers=self._headers(kind))
                response = connection.getresponse()
                content = response.read()
            except (OSError, http.client.HTTPException) as error:
                failed = str(error) or type(error).__name__
                continue
            finally:
                connection.close()
            if response.status in WAITING and tried + 1 < tries:
                told = response.headers.get("Retry-After", "")
                wait = min(float(told), 10.0) if told.isdigit() else wait
                continue
            if response.status >= 400:
                raise _problem(response.status, content)
            return content
        raise EnvironmentFailedError(f"{self._parts.netloc} does not answer: {failed}")

    def _json(self, method: str, path: str, body: dict[str, Any] | None = None, tries: int = TRIES) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        content = self._send(method, path, sent, "application/json" if sent else None, tries)
        return json.loads(content) if content else None

    def _ask(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        path = f"/v1/{PATHS.get(name, name)}"
        told: dict[str, Any]
        if "text" in question or "html" in question:
            told = self._json("POST", path, question)
        else:
            asked = {name: str(value).lower() if isinstance(value, bool) else value for name, value in question.items()}
            told = self._json("GET", f"{path}?{urlencode(asked)}" if asked else path)
        return told

    def _address(self, path: str, how: Mapping[str, str]) -> str:
        return f"{path}?{urlencode(how)}" if how else path

    def _add(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        told: dict[str, Any] = self._json("POST", self._address("/v1/documents", how), _data.as_json(row))
        return told

    def _add_rows(
        self, data: Any, columns: dict[str, str], how: dict[str, str], threads: int | None, progress: Progress | None
    ) -> list[dict[str, Any]]:
        # The service has its own threads: `threads` limits those of this process, which uses one.
        told: list[dict[str, Any]] = []
        with telling(progress) as tell:
            for one in self._answers(_data.as_rows(data, columns), how):
                told.append(one)
                tell("add", len(told), 0)
        return told

    def _add_stream(self, rows: Iterator[dict[str, Any]], how: dict[str, str]) -> Iterator[Verdict]:
        return map(Verdict.of, self._answers(rows, how))

    def _answers(self, rows: Iterator[dict[str, Any]], how: dict[str, str]) -> Iterator[dict[str, Any]]:
        """What the service says of rows, in their order. When the connection breaks, the rows without a verdict are
        sent again, and the others follow."""
        address = self._parts.path.rstrip("/") + self._address("/v1/documents", how)
        stream = _Stream(rows)
        wait, tries = 0.1, 0
        while True:
            before = stream.answered
            try:
                yield from self._verdicts(address, stream)
                return
            except _BrokenError as broken:
                # Only streams that get nowhere count.
                tries = 0 if stream.answered > before else tries + 1
                if tries >= TRIES:
                    sentence = f"the stream to {self._parts.netloc} broke: {broken}"
                    raise EnvironmentFailedError(sentence) from broken.__cause__
                time.sleep(broken.wait or wait * 3**tries)

    def _verdicts(self, address: str, stream: _Stream) -> Iterator[dict[str, Any]]:
        """The verdicts of what a stream still has to send, over one connection."""
        connection = self._connection()
        sender: threading.Thread | None = None
        try:
            connection.putrequest("POST", address)
            for name, value in self._headers("application/x-ndjson").items():
                connection.putheader(name, value)
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            # A sender must not open another connection when this one is closed.
            connection.auto_open = 0
            sender = threading.Thread(target=stream.send, args=(connection,), daemon=True)
            sender.start()
            response = connection.getresponse()
            if response.status in WAITING:
                told = response.headers.get("Retry-After", "")
                raise _BrokenError("the service is busy", min(float(told), 10.0) if told.isdigit() else 0.0)
            if response.status >= 400:
                raise _problem(response.status, response.read())
            for line in response:
                told = json.loads(line)
                if "summary" in told:
                    break
                if "code" in told:
                    raise _problem(told.get("status", 0), line)
                stream.take()
                yield told
            sender.join()
            if stream.failed:
                raise stream.failed
            if stream.waiting:
                raise _BrokenError("it ended before every row had a verdict")
        except GeneratorExit:
            # Nobody asks for more: the sender ends once its source has given the next row.
            sender = None
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, WonbonError):
                raise
            if stream.failed:
                raise stream.failed from None
            raise _BrokenError(str(error) or type(error).__name__) from error
        finally:
            if connection.sock:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()
            # Two threads cannot ask the same generator for its next row.
            if sender:
                sender.join()

    def _check(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        told: dict[str, Any] = self._json("POST", self._address("/v1/check", how), _data.as_json(row))
        return told

    def get(self, key: str) -> Document:
        return Document.of(self._json("GET", f"/v1/documents/{quote(checked_text('key', key), safe='')}"))

    def family(self, key: str) -> list[Document]:
        documents: list[Document] = []
        asked = {"key": checked_text("key", key), "limit": "100"}
        while True:
            told = self._json("GET", f"/v1/family?{urlencode(asked)}")
            documents.extend(Document.of(one) for one in told["documents"])
            if not told.get("next"):
                return documents
            asked["cursor"] = told["next"]

    def delete(self, key: str) -> bool:
        try:
            self._send("DELETE", f"/v1/documents/{quote(checked_text('key', key), safe='')}")
        except UnknownDocumentError:
            return False
        return True

    def watch(self, key: str) -> None:
        self._json("POST", "/v1/watch", {"key": checked_text("key", key)})

    def unwatch(self, key: str) -> None:
        self._send("DELETE", f"/v1/watch?{urlencode({'key': checked_text('key', key)})}")

    def decide(
        self, key: str, decision: str | None, *, who: str | None = None, reason: str | None = None
    ) -> DecisionEntry | None:
        if who is not None:
            raise RequestError("a service knows by the token who decides: leave out `who`")
        given: dict[str, Any] = {"key": checked_text("key", key), **({"reason": reason} if reason else {})}
        if decision is None:
            told = self._json("POST", "/v1/decisions/undo", given, tries=1)
        else:
            told = self._json("POST", "/v1/decisions", {**given, "decision": decision}, tries=1)
        return None if told is None else DecisionEntry(told)

    def backup(self, where: str) -> Backup:
        return Backup(self._json("POST", "/v1/backup", {"name": where}, tries=1))

    def close(self) -> None:
        """Nothing stays open between requests."""

    def __repr__(self) -> str:
        return f"<wonbon.Client: {self._parts.scheme}://{self._parts.netloc}>"


def _problem(status: int, content: bytes) -> ServiceError | UnknownDocumentError:
    """What a service says is wrong."""
    try:
        told = json.loads(content)
    except ValueError:
        told = {}
    code = told.get("code", "")
    sentence = told.get("detail") or told.get("title") or f"the service answered with status {status}"
    if code == "unknown_document":
        return UnknownDocumentError(sentence)
    return ServiceError(sentence, code, status)
