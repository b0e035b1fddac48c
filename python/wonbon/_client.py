"""A service, by HTTP: the same methods and answers as a store."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from . import _data
from ._answers import Answer, Document, Verdict
from ._store import Questions, one_row
from .errors import EnvironmentFailedError, RequestError, ServiceError, UnknownDocumentError

__all__ = ["Client"]

PATHS = {"watched": "watch", "reports": "watch/report"}
"""Questions whose path is called otherwise."""

TRIES = 4
"""How often a request that may be repeated is sent."""

WAITING = {429, 503}
"""What a service answers that is busy or begins: the same request may succeed later."""


class Client(Questions):
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

    def add(
        self,
        key: str | None = None,
        text: str | None = None,
        *,
        html: str | None = None,
        sweep: str | None = None,
        **described: Any,
    ) -> Verdict:
        """Adds a document, and says whether it copies an earlier one. It is durable when this returns."""
        parameters = f"?{urlencode({'sweep': sweep})}" if sweep else ""
        return Verdict.of(self._json("POST", f"/v1/documents{parameters}", one_row(key, text, html, described)))

    def add_many(
        self,
        data: Any,
        *,
        text: str | None = None,
        id: str | None = None,
        order: str | None = None,
        html: str | None = None,
        url: str | None = None,
        sweep: str | None = None,
    ) -> Iterator[Verdict]:
        """Adds the rows of a table as a stream: verdicts come in their order, each as soon as its document is
        durable.

        `data` is a table of any kind, or dictionaries that may come while verdicts go out. A row has an `id` or a
        `url`, a `text` or an `html`, and what else docs/formats.md names; columns that are called otherwise are named
        here. The stream is not sent again when it breaks: the rows without a verdict can be given again.
        """
        named = {"text": text, "id": id, "created": order, "html": html, "url": url}
        rows = _data.as_rows(data, {name: column for name, column in named.items() if column is not None})
        parameters = f"?{urlencode({'sweep': sweep})}" if sweep else ""
        address = f"{self._parts.path.rstrip('/')}/v1/documents{parameters}"
        connection = self._connection()
        failed: list[BaseException] = []

        def lines() -> Iterator[bytes]:
            for row in rows:
                line = json.dumps(row).encode() + b"\n"
                yield b"%x\r\n%s\r\n" % (len(line), line)
            yield b"0\r\n\r\n"

        def send() -> None:
            try:
                for line in lines():
                    connection.send(line)
            except BaseException as error:  # told to whoever reads the verdicts
                failed.append(error)
                # The service learns that no more comes.
                if connection.sock:
                    connection.sock.shutdown(socket.SHUT_RDWR)

        try:
            connection.putrequest("POST", address)
            for name, value in self._headers("application/x-ndjson").items():
                connection.putheader(name, value)
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            sender = threading.Thread(target=send, daemon=True)
            sender.start()
            response = connection.getresponse()
            if response.status >= 400:
                raise _problem(response.status, response.read())
            for line in response:
                told = json.loads(line)
                if "summary" in told:
                    break
                if "code" in told:
                    raise _problem(told.get("status", 0), line)
                yield Verdict.of(told)
            sender.join()
            if failed:
                raise failed[0]
        except (OSError, http.client.HTTPException) as error:
            if failed and not isinstance(failed[0], OSError):
                raise failed[0] from None
            raise EnvironmentFailedError(f"the stream to {self._parts.netloc} broke: {error}") from error
        finally:
            connection.close()

    def check(
        self, text: str | None = None, *, key: str | None = None, html: str | None = None, **described: Any
    ) -> Verdict:
        """What would be said of a document; nothing is stored."""
        told = self._json("POST", "/v1/check", one_row(key or "unnamed", text, html, described))
        return Verdict.of({"key": key or "", **told})

    def get(self, key: str) -> Document:
        """A stored document. `UnknownDocumentError` if there is none."""
        return Document.of(self._json("GET", f"/v1/documents/{quote(key, safe='')}"))

    def family(self, key: str) -> list[Document]:
        """A document's original and all its copies."""
        documents: list[Document] = []
        asked = {"key": key, "limit": "100"}
        while True:
            told = self._json("GET", f"/v1/family?{urlencode(asked)}")
            documents.extend(Document.of(one) for one in told["documents"])
            if not told.get("next"):
                return documents
            asked["cursor"] = told["next"]

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self.get(key)
        except UnknownDocumentError:
            return False
        return True

    def __len__(self) -> int:
        count: int = self.status()["documents"]
        return count

    def delete(self, key: str) -> bool:
        """Removes a document with all its versions; whether it was there."""
        try:
            self._send("DELETE", f"/v1/documents/{quote(key, safe='')}")
        except UnknownDocumentError:
            return False
        return True

    def watch(self, key: str) -> None:
        """Watches a document for copies that differ by a little."""
        self._json("POST", "/v1/watch", {"key": key})

    def unwatch(self, key: str) -> None:
        """Watches a document no more."""
        self._send("DELETE", f"/v1/watch?{urlencode({'key': key})}")

    def decide(self, key: str, decision: str | None, *, reason: str | None = None) -> Answer | None:
        """A person's decision: `original`, `not-a-copy`, or None to take the last one back. Who decides is who
        the token belongs to."""
        given: dict[str, Any] = {"key": key, **({"reason": reason} if reason else {})}
        if decision is None:
            told = self._json("POST", "/v1/decisions/undo", given, tries=1)
        else:
            told = self._json("POST", "/v1/decisions", {**given, "decision": decision}, tries=1)
        return None if told is None else Answer(told)

    def status(self) -> Answer:
        """How many documents there are, what decides, and what the store takes."""
        return Answer(self._json("GET", "/v1/status"))

    def backup(self, name: str) -> Answer:
        """Writes a copy of the store under a name, in the directory that the service was started with
        (`--backups`), as of one moment, while others read and write."""
        return Answer(self._json("POST", "/v1/backup", {"name": name}, tries=1))

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
