"""Stores, services and streams: the same answers from all three."""

import datetime
import inspect
import json
import os
import re
import socket
import subprocess
import sys
import threading

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wonbon

FERRY = "One morning the old ferry did not come, and the whole village stood on the quay with baskets and bicycles."
BREAD = "A loaf that rises overnight in a cold kitchen needs less yeast than any book says and more patience."
ROWS = [
    {"id": "ferry", "url": "https://a.example/ferry", "created": "2024-05-01", "text": FERRY, "title": "The ferry"},
    {"id": "bread", "url": "https://a.example/bread", "created": "2024-05-02", "text": BREAD},
    {"id": "copy", "url": "https://b.example/ferry", "created": "2024-05-03", "text": FERRY + " Really."},
    {"id": "same", "url": "https://c.example/ferry", "created": "2024-05-04", "text": FERRY.upper()},
    {"id": "empty", "created": "2024-05-05", "text": "…"},
]


@pytest.fixture
def store(tmp_path):
    with wonbon.Store(tmp_path / "store") as store:
        yield store


@pytest.fixture
def service(tmp_path):
    """A real service on a free port of this machine, and a client of it."""
    command = [sys.executable, "-m", "wonbon", "serve", "--store", str(tmp_path / "served"), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = None
        for line in process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                address = found.group()
                break
        assert address, "the service did not say where it listens"
        # What it says later must not fill the pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield wonbon.Client(address)
    finally:
        process.terminate()
        process.wait(timeout=60)


def facts(verdict):
    return verdict.key, verdict.verdict, verdict.original, verdict.change


WANTED = [
    ("ferry", "original", None, "new"),
    ("bread", "original", None, "new"),
    ("copy", "copy", "ferry", "new"),
    ("same", "same-text", "ferry", "new"),
    ("empty", "empty", None, "new"),
]


def questions(one):
    """What any of the two answers, without what is of the moment."""
    return [
        [(match.document.key, match.resemblance) for match in one.similar(FERRY, min=0.1)],
        [match.document.key for match in one.within("the whole village stood on the quay", min=0.5)],
        sorted(match.document.key for match in one.contains(FERRY + " " + BREAD, min=0.5)),
        [(source.document.key, source.words) for source in one.sources(FERRY + " and then " + BREAD).sources],
        [match.document.key for match in one.similar(key="ferry", min=0.5)],
        [found.document.key for found in one.search("ferry")],
        [document.key for document in one.family("copy")],
        one.get("ferry").text,
        one.get("copy").original,
        len(one),
        "bread" in one,
        "nothing" in one,
        one.check(FERRY).original,
        [(site.site, [holder.place.key for holder in site.copies]) for site in one.copies("ferry").sites],
        [(one.moved("ferry").status, other.place.key) for other in one.moved("ferry").also],
        [(version.version, version.words) for version in one.changes("ferry").versions],
    ]


def test_a_store_decides_and_answers(store):
    assert [facts(verdict) for verdict in store.add_many(ROWS)] == WANTED
    told = questions(store)
    assert told[0][0][0] == "ferry" and sorted(told[2]) == ["bread", "copy", "ferry", "same"]
    assert told[5] == ["ferry"] and told[7] == FERRY and told[9] == 5
    assert facts(store.add("ferry", FERRY, created="2024-05-01"))[3] == "unchanged"
    assert "5 documents" in repr(store)
    assert len(told[13]) == 2 and told[15]
    answers = (store.get("ferry"), store.similar(FERRY), store.sources(FERRY), store.search("ferry"), store.status())
    for answer in (*answers, store.copies("ferry"), store.moved("ferry"), store.changes("ferry"), store.reports()):
        assert "<table>" in answer._repr_html_()
    assert "<script>" not in store.add("<script>", FERRY)._repr_html_()
    assert "<script>" not in store.copies("ferry")._repr_html_()
    with pytest.raises(AttributeError):
        store.status().nothing


def test_a_document_without_a_name_is_refused_and_can_be_checked(store):
    for add in (lambda: store.add(text=FERRY), lambda: store.add_many([{"text": FERRY}, {"id": "", "text": FERRY}])):
        with pytest.raises(wonbon.RequestError, match="row:0 has neither a field `id` nor a field `url`"):
            add()
    store.add("0", FERRY)
    assert store.check(FERRY).original == "0"
    assert store.check(FERRY, key="0").original is None


def test_a_store_and_a_client_have_the_same_methods():
    shared = [name for name in dir(wonbon.AnyStore) if not name.startswith("_")]
    assert len(shared) > 20
    for name in shared:
        documented = inspect.getdoc(getattr(wonbon.AnyStore, name))
        for kind in (wonbon.Store, wonbon.Client):
            assert inspect.getdoc(getattr(kind, name)), (kind, name)
            told = [inspect.signature(getattr(one, name)).parameters for one in (kind, wonbon.AnyStore)]
            assert list(told[0]) == list(told[1]) and documented, (kind, name)
    only = {name for name in dir(wonbon.Store) if not name.startswith("_")} - set(shared)
    assert only == {"restore"}


def test_a_store_that_was_forked_is_refused_and_left_alone(store):
    store.add("ferry", FERRY)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                store.add("bread", BREAD)
            except wonbon.RequestError as error:
                code = 0 if "before this process was forked" in str(error) else 2
            # Neither waits for threads that are not here.
            store.close()
            store.__dict__.clear()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store.add("copy", FERRY + " Really.").original == "ferry" and len(store) == 2


def test_a_redirect_is_noted_with_its_sweep(store):
    led = [{"url": "https://a.example/old", "redirect": "https://a.example/new"}]
    with pytest.raises(wonbon.RequestError, match="redirects are noted with a sweep"):
        store.add_many(led)
    (told,) = store.add_many(led, sweep="2024-05-01")
    assert (told.key, told.verdict) == ("https://a.example/old", "redirect")


def test_a_table_of_any_kind_is_added_in_order(store):
    columns = {name: [row.get(name) for row in ROWS] for name in ("id", "created", "text")}
    told = store.add_many(pa.table(columns), threads=3)
    assert [facts(verdict) for verdict in told] == WANTED


def test_what_a_store_says_is_what_the_program_says(tmp_path):
    with wonbon.Store(tmp_path / "store", rule="threshold=0.8") as store:
        store.add_many(ROWS)
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))

    def program(*arguments):
        command = [sys.executable, "-m", "wonbon", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    theirs = tmp_path / "theirs"
    program("add", "--store", theirs, tmp_path / "rows.jsonl")
    exported = [program("export", "--store", one).splitlines() for one in (tmp_path / "store", theirs)]
    ours, wanted = ([{**json.loads(line), "stored": None, "features_equal": None} for line in lines] for lines in exported)
    assert ours == wanted and len(ours) == 5


def test_decisions_watching_deleting_backups(store, tmp_path):
    store.add_many(ROWS)
    entry = store.decide("copy", "not-a-copy", who="ann", reason="a translation")
    assert entry.key == "copy" and store.get("copy").verdict == "original"
    assert store.decisions("copy").decisions[0]["reason"] == "a translation"
    assert store.decide("copy", None).undoes == entry.entry and store.get("copy").original == "ferry"
    store.watch("ferry")
    assert [one["place"]["key"] for one in store.watched().watched] == ["ferry"]
    assert len(store.reports().reports[0]["differing"]) == 1
    store.unwatch("ferry")
    store.backup(tmp_path / "backup")
    assert store.delete("ferry") and not store.delete("ferry")
    assert store.get("copy").verdict == "original" and len(store) == 4
    assert wonbon.Store.restore(tmp_path / "backup", tmp_path / "restored") is None
    with wonbon.Store(tmp_path / "restored", create=False) as restored:
        assert len(restored) == 5
    assert store.changes("bread").versions[0]["version"] == 1


def test_bad_requests_to_a_store(store, tmp_path):
    with pytest.raises(wonbon.UnknownDocumentError, match="there is no document `nothing`"):
        store.get("nothing")
    with pytest.raises(LookupError):
        store.similar(key="nothing")
    with pytest.raises(wonbon.RequestError, match="one of `key`, `text` and `html` says what is asked about"):
        store.similar()
    with pytest.raises(wonbon.RequestError, match="`min` is from 0 to 1, not 7"):
        store.similar(FERRY, min=7)
    with pytest.raises(TypeError, match="a document has no `colour`"):
        store.add("a", "text", colour="red")
    with pytest.raises(wonbon.EnvironmentFailedError):
        wonbon.Store(tmp_path / "store")
    with pytest.raises(wonbon.RequestError, match="there is no store at"):
        wonbon.Store(tmp_path / "none", create=False)
    store.close()
    with pytest.raises(wonbon.RequestError, match="the store is closed"):
        store.add("a", "text")
    with pytest.raises(wonbon.RequestError, match="`rule` is threshold=0.5, but the store in"):
        wonbon.Store(tmp_path / "store", rule="threshold=0.5")


def test_ten_threads_use_one_store(store):
    failed = []

    def work(number):
        try:
            for at in range(10):
                store.add(f"{number}-{at}", f"{FERRY} {number} {at}")
                assert store.check(FERRY).verdict != "empty"
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(store) == 100
    # Whatever the order: one family, whose original is the earliest stored.
    assert sum(store.get(f"{number}-{at}").original is None for number in range(10) for at in range(10)) == 1


def test_a_stream_is_decided_as_a_store_decides():
    with wonbon.Deduplicator(threshold=0.7) as seen:
        told = [seen.add(row["id"], row["text"], created=row["created"]) for row in ROWS]
        assert [facts(verdict) for verdict in told] == WANTED
        assert seen.check(FERRY).original == "ferry" and len(seen) == 5
        folder = seen._folder.name
        assert os.path.exists(folder)
    assert not os.path.exists(folder)


def test_without_files_in_memory_a_stream_is_decided_on_disk(monkeypatch):
    monkeypatch.setattr(wonbon._store, "IN_MEMORY", "/no/such/folder")
    rows = [{"id": "0", "text": FERRY}, {"id": "1", "text": FERRY + " Really."}]
    with wonbon.Deduplicator() as seen:
        assert [verdict.original for verdict in seen.add_many(rows)] == [None, "0"]


def test_a_service_answers_as_a_store(service, store):
    assert [facts(verdict) for verdict in service.add_many(iter(ROWS))] == WANTED
    store.add_many(ROWS)
    # The index of a service follows its database.
    while service.status()["search_behind"] > 0:
        pass
    assert questions(service) == questions(store)
    assert facts(service.add("ferry", FERRY, created="2024-05-01"))[3] == "unchanged"
    service.decide("copy", "not-a-copy")
    assert service.get("copy").original is None
    service.decide("copy", None)
    assert service.get("copy").original == "ferry"
    service.watch("ferry")
    assert [one["place"]["key"] for one in service.watched().watched] == ["ferry"]
    service.unwatch("ferry")
    assert service.delete("ferry") and not service.delete("ferry")


def test_a_table_of_any_kind_is_added_to_a_service(service):
    columns = {"name": [row["id"] for row in ROWS], "body": [row["text"] for row in ROWS]}
    days = [datetime.datetime.fromisoformat(row["created"]) for row in ROWS]
    tables = [
        pa.table({**columns, "day": days}),
        pd.DataFrame({**columns, "day": days}),
        pl.DataFrame({**columns, "day": days}),
        {**columns, "day": [row["created"] for row in ROWS]},
        iter([dict(zip(columns, row)) | {"day": "2024-05-01"} for row in zip(*columns.values())]),
    ]
    for at, table in enumerate(tables):
        verdicts = list(service.add_many(table, text="body", id="name", order="day"))
        assert [facts(verdict)[:3] for verdict in verdicts] == [one[:3] for one in WANTED], at
    with pytest.raises(wonbon.ColumnError, match="there is no column `day` for `created` in row 0"):
        list(service.add_many(columns, text="body", id="name", order="day"))
    with pytest.raises(wonbon.RequestError, match="row 1 is no dictionary but int"):
        list(service.add_many([ROWS[0], 7]))


def test_pages_in_any_charset_are_the_same_for_both(service, store):
    page = f"<html><meta charset=euc-kr><title>배</title><nav><a href=/>처음</a></nav><main><p>{'나루의 배 ' * 20}</p></main>"
    given = page.encode("euc-kr")
    for one in (service, store):
        assert one.add("a", html=given).verdict == "original"
        assert [verdict.original for verdict in one.add_many([{"id": "b", "html": given}])] == ["a"]
        assert [verdict.original for verdict in one.add_stream(iter([{"id": "c", "html": given}]))] == ["a"]
        assert one.check(html=given).original == "a" and one.check(html=given).key == "(unnamed)"
        assert one.get("a").text == ("나루의 배 " * 20).strip() and one.get("a").title == "배"
    while service.status()["search_behind"] > 0:
        pass
    assert len(service.similar(html=given)) == len(store.similar(html=given)) == 3
    for one in (service, store):
        assert one.add_many([{"id": "d", "text": b"some bytes"}])[0].verdict == "original"
        with pytest.raises(wonbon.RequestError, match="`text`"):
            one.add_many([{"id": "e", "text": b"\x89PNG\r\n\x1a\n" + bytes(100)}])
    with pytest.raises(wonbon.RequestError, match="a service knows by the token who decides"):
        service.decide("a", "original", who="ann")


def test_progress_of_adds_is_told_by_both(service, store):
    for one in (service, store):
        told = []
        one.add_many([{"id": str(at), "text": f"{FERRY} {at}"} for at in range(50)], progress=lambda *at: told.append(at))
        assert all(phase == "add" for phase, _, _ in told)
    assert told is not None and len(service) == len(store) == 50


def test_a_large_family_comes_as_a_whole(service):
    list(service.add_many({"id": f"{at:03}", "text": f"{FERRY} {at}"} for at in range(130)))
    assert len(service.family("000")) == 130


def test_verdicts_come_while_rows_are_sent(service):
    sent = threading.Event()

    def rows():
        yield ROWS[0]
        # Goes on only when the first verdict has come.
        assert sent.wait(30)
        yield ROWS[2]

    verdicts = service.add_stream(rows())
    assert next(verdicts).key == "ferry"
    sent.set()
    assert next(verdicts).original == "ferry"
    assert list(verdicts) == []


class Cutting:
    """Stands before a service and cuts each of the first connections once so many bytes of the answer have passed."""

    def __init__(self, client, after):
        self.service = (client._parts.hostname, client._parts.port)
        self.after = list(after)
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            far = socket.create_connection(self.service)
            left = self.after.pop(0) if self.after else None
            threading.Thread(target=self.pass_on, args=(near, far, None), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near, left), daemon=True).start()

    def pass_on(self, source, target, left):
        try:
            while left is None or left > 0:
                taken = source.recv(4096 if left is None else min(left, 4096))
                if not taken:
                    break
                left = left - len(taken) if left is not None else None
                target.sendall(taken)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def test_a_stream_that_breaks_is_sent_on(service):
    cutting = Cutting(service, [0, 700, 2500])
    client = wonbon.Client("http://127.0.0.1:%d" % cutting.server.getsockname()[1])
    rows = ({"id": str(at), "text": f"{at} {BREAD} {at}"} for at in range(300))
    verdicts = list(client.add_many(rows))
    assert [verdict.key for verdict in verdicts] == [str(at) for at in range(300)]
    assert cutting.after == [] and len(service) == 300
    # Rows that were stored before the connection broke are unchanged by coming again.
    assert {verdict.change for verdict in verdicts} <= {"new", "unchanged"}
    cutting.after = [0] * 10
    with pytest.raises(wonbon.EnvironmentFailedError, match="the stream to 127.0.0.1:[0-9]+ broke"):
        list(client.add_many(ROWS))
    cutting.server.close()


def test_bad_requests_to_a_service(service):
    with pytest.raises(wonbon.UnknownDocumentError):
        service.get("nothing")
    with pytest.raises(wonbon.ServiceError) as caught:
        service.similar("a", min=7)
    assert caught.value.code == "bad_parameter" and caught.value.status == 400

    def rows():
        yield ROWS[0]
        raise LookupError("the source broke")

    with pytest.raises(LookupError, match="the source broke"):
        list(service.add_many(rows()))
    with pytest.raises(wonbon.EnvironmentFailedError, match="does not answer"):
        wonbon.Client("http://127.0.0.1:9").status()
    with pytest.raises(wonbon.RequestError, match="the address of a service"):
        wonbon.Client("localhost")
