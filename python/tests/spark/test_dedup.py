"""Families from a cluster are those of `wonbon dedup`, document by document."""

import json
import os
import pathlib
import subprocess

import pytest
from conftest import LONG
from corpora import COLUMNS, collected, corpus, dedup_files, frame_of, write_table

from wonbon.errors import ColumnError, EnvironmentFailedError, RequestError
from wonbon.spark import dedup, digest, select, summary

METHODS = [
    ({}, ()),
    ({"threshold": 0.9, "family": "linked"}, ("--threshold", "0.9", "--family", "linked")),
    ({"rule": "2of6"}, ("--rule", "2of6")),
    ({"threshold": 0.5}, ("--threshold", "0.5")),
    ({"family": "linked"}, ("--family", "linked")),
]
SHARED = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data"
CORPORA = ["en-reuters21578", "en-usenet20news", "en-win32-api-docs", "ko-precedents", "ko-petitions"]


@pytest.fixture
def settings(spark):
    """Settings of the session for one test."""
    changed = []

    def change(**values):
        for name, value in values.items():
            name = f"spark.sql.{name.replace('_', '.')}"
            spark.conf.set(name, value)
            changed.append(name)

    yield change
    for name in changed:
        spark.conf.unset(name)


@pytest.mark.parametrize("seed", range(200 if LONG else 4))
def test_random_corpora(spark, settings, tmp_path, monkeypatch, seed):
    """Everything that must not change the result changes with the seed."""
    from wonbon.spark import _dedup, _peel

    options, flags = METHODS[seed % 5]
    engine = ["features", "features", "features", "auto", "exact", "features", "auto"][seed % 7]
    if engine == "exact" and "rule" in options:
        engine = "features"
    partitions = [7, 2, 1][seed % 3]
    adaptive = seed % 2 == 0
    settings(adaptive_enabled=str(adaptive).lower())
    if seed % 4 == 1:
        settings(autoBroadcastJoinThreshold="-1")
        monkeypatch.setattr(_dedup, "BROADCAST_ROWS", 0)
    rows = corpus(seed, documents=[60, 200, 30][seed % 3])
    against = None
    if seed % 4 == 2:
        against = corpus(1000 + seed)[:40] + rows[::9]
        # Rows of a DataFrame come by their ids where dates are equal, lines of a file as they stand there.
        against = [(f"o{number:03}", *row) for number, (_, *row) in enumerate(against)]
    largest = 2_000_000
    if seed % 5 in (0, 2):
        # Every group of three is too large for one task.
        largest = 2
        monkeypatch.setattr(_peel, "PREFIXES", (1, 3, 1 << 40))
    expected, local = dedup_files(tmp_path / "local", rows, "--engine", engine, *flags, against=against)
    found = dedup(
        frame_of(spark, rows, partitions, shuffled=seed),
        order="created",
        engine=engine,
        partitions=partitions if seed % 2 else None,
        checkpoint=str(tmp_path / "steps"),
        against=frame_of(spark, against, 2, shuffled=seed) if against else None,
        largest_group=largest,
        **options,
    )
    assert collected(found) == expected
    assert found.columns == list(COLUMNS)
    assert digest(found) == local["digest"]


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not beside the checkout")
@pytest.mark.parametrize("name", CORPORA)
def test_shared_corpora(spark, tmp_path, name):
    call = ["zstd", "-dcq", "--long=27", str(SHARED / f"{name}.jsonl.zst")]
    lines = subprocess.run(call, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    rows = [(row["id"], row.get("created"), row["text"]) for row in found]
    _, local = dedup_files(tmp_path / "local", sorted(rows), "--engine", "features")
    source = tmp_path / "in.parquet"
    write_table(source, rows)
    # Some groups are decided in rounds.
    options = {"order": "created", "engine": "features", "largest_group": 100}
    families = dedup(spark.read.parquet(str(source)), checkpoint=str(tmp_path / "steps"), **options)
    assert digest(families) == local["digest"]


@pytest.mark.long
def test_many_candidates_are_joined_without_broadcast(spark, tmp_path, monkeypatch):
    from wonbon.spark import _dedup

    monkeypatch.setattr(_dedup, "BROADCAST_ROWS", 0)
    rows = corpus(9, documents=200)
    expected, _ = dedup_files(tmp_path / "local", rows, "--engine", "features")
    place = str(tmp_path / "steps")
    frame = frame_of(spark, rows)
    assert collected(dedup(frame, order="created", engine="features", checkpoint=place)) == expected


@pytest.mark.long
@pytest.mark.parametrize("rule", ["threshold=0.8", "threshold=0.5", "2of6"])
def test_large_groups_are_decided_in_rounds(spark, tmp_path, monkeypatch, rule):
    from wonbon.spark import _peel

    monkeypatch.setattr(_peel, "PREFIXES", (1, 3, 1 << 40))
    rows = corpus(41, documents=200)
    expected, _ = dedup_files(tmp_path / "local", rows, "--engine", "features", "--rule", rule)
    place = str(tmp_path / "steps")
    options = {"order": "created", "engine": "features", "rule": rule, "checkpoint": place}
    found = dedup(frame_of(spark, rows), largest_group=1, **options)
    assert collected(found) == expected
    assert spark.read.parquet(f"{place}/giants").count() > 50


@pytest.mark.long
@pytest.mark.parametrize("keep", ["earliest", "longest", "first", "last"])
def test_what_is_kept(spark, tmp_path, keep):
    rows = corpus(11)
    expected, _ = dedup_files(tmp_path / "local", rows, "--engine", "features", "--keep", keep)
    numbered = [(*row, number) for number, row in enumerate(rows)]
    frame = spark.createDataFrame(numbered, "id string, created string, text string, number int")
    place = str(tmp_path / "steps")
    found = dedup(
        frame, order="created", position="number", keep=keep, engine="features", checkpoint=place
    )
    assert collected(found) == expected


@pytest.mark.long
def test_what_occurs_in_another_corpus_is_dropped(spark, tmp_path):
    rows = corpus(13)
    ours, others = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    flags = ("--engine", "features")
    expected, _ = dedup_files(tmp_path / "local", ours, *flags, against=others)
    found = dedup(
        frame_of(spark, ours),
        order="created",
        engine="features",
        against=frame_of(spark, others),
        checkpoint=str(tmp_path / "steps"),
    )
    assert collected(found) == expected
    assert {row[3] for row in expected} & {name for name, *_ in others}


def test_an_executor_that_is_killed_in_every_step_changes_nothing(spark, tmp_path, monkeypatch):
    """Each step kills, the first time it runs, the executor that runs it."""
    from wonbon.spark import _dedup
    from wonbon.spark._stepping import mapped, named

    flags = tmp_path / "killed"
    flags.mkdir()

    def deadly(frame, step, schema, by_partition=None, **options):
        flag, call = str(flags / step), named(step)

        def killing(reader, **chosen):
            import os
            import signal

            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return call(reader, **chosen)
            # This process was forked by the daemon of the executor.
            daemon = os.getppid()
            with open(f"/proc/{daemon}/stat") as stat:
                executor = int(stat.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            raise RuntimeError("the executor is gone")

        return mapped(frame, killing, schema, by_partition, options)

    monkeypatch.setattr(_dedup, "through", deadly)
    rows = corpus(17, documents=150)
    expected, _ = dedup_files(tmp_path / "local", rows, "--engine", "features")
    place = str(tmp_path / "steps")
    frame = frame_of(spark, rows)
    assert collected(dedup(frame, order="created", engine="features", checkpoint=place)) == expected
    assert len(os.listdir(flags)) == 8, os.listdir(flags)


@pytest.mark.connect
def test_the_same_call_continues_and_another_is_refused(spark, tmp_path, monkeypatch):
    from wonbon.spark import _dedup

    rows = corpus(19)
    expected, _ = dedup_files(tmp_path / "local", rows, "--engine", "features")
    frame = frame_of(spark, rows)
    place = str(tmp_path / "steps")
    options = {"order": "created", "engine": "features", "checkpoint": place}
    done = []

    class Stopped(Exception):
        pass

    step = _dedup.Checkpoint.step

    def until(last):
        def counted(self, name, make, **sums):
            def noted():
                if name == last:
                    raise Stopped
                done.append(name)
                return make()

            return step(self, name, noted, **sums)

        return counted

    names = ["members", "pairs", "groups", "assigned", "originals", "families", None]
    for last in names:
        monkeypatch.setattr(_dedup.Checkpoint, "step", until(last))
        if last is None:
            assert collected(dedup(frame, **options)) == expected
        else:
            with pytest.raises(Stopped):
                dedup(frame, **options)
    assert done == ["sketches", *names[:-1]], "a finished step was repeated"
    with pytest.raises(RequestError, match="another rule: 'threshold=0.8' there, 'threshold=0.7' now"):
        dedup(frame, threshold=0.7, **options)


def test_pairs_are_those_of_the_local_run(spark, tmp_path):
    rows = corpus(23)
    pairs = tmp_path / "pairs.tsv"
    dedup_files(tmp_path / "local", rows, "--engine", "features", "--pairs", str(pairs))
    expected = [line.split("\t") for line in pairs.read_text().splitlines()]
    place = str(tmp_path / "found-pairs")
    options = {"order": "created", "engine": "features", "checkpoint": str(tmp_path / "steps")}
    dedup(frame_of(spark, rows), pairs=place, **options)
    found = [
        (frozenset([row.earlier, row.later]), f"{row.resemblance:.6f}")
        for row in spark.read.parquet(place).collect()
    ]
    assert sorted((sorted(two), r) for two, r in found) == sorted(
        (sorted([one, two]), r) for one, two, r in expected
    )
    assert len(expected) > 20


@pytest.mark.connect
def test_rows_that_stay_and_totals(spark, tmp_path):
    rows = corpus(29)
    expected, local = dedup_files(tmp_path / "local", rows)
    frame = frame_of(spark, rows)
    families = dedup(frame, order="created", checkpoint=str(tmp_path / "steps"))
    kept = {row.id for row in select(frame, families).collect()}
    assert kept == {row[0] for row in expected if row[1] in ("original", "empty")}
    told = summary(families)
    assert told["documents"] == len(rows) and told["kept"] == len(kept)
    assert told["families"] == local["families"]
    assert digest(families) == local["digest"]


@pytest.mark.connect
def test_bad_input_is_one_sentence(spark, tmp_path):
    frame = frame_of(spark, corpus(31, documents=5))

    def refused(error, match, frame=frame, checkpoint=str(tmp_path / "steps"), **options):
        with pytest.raises(error, match=match):
            dedup(frame, checkpoint=checkpoint, **options)

    refused(ColumnError, "no column `body`; it has id, created, text", text="body")
    refused(ColumnError, "column `text` of the DataFrame must hold strings, not int", text="text",
            frame=frame.withColumn("text", frame.id.substr(2, 5).cast("int")))
    refused(ColumnError, "column `created` of the DataFrame must hold times", order="created",
            frame=frame.selectExpr("id", "text", "array(created) as created"))
    refused(RequestError, "checkpoint= is missing", checkpoint=None)
    refused(RequestError, "`rule`: write threshold=0.8", threshold=1.5)
    refused(RequestError, "keep='last' needs position=", keep="last")
    refused(RequestError, "`family`: write star or linked", family="round")
    refused(RequestError, "must be a DataFrame of Spark, not list", frame=[1])
    (tmp_path / "file").write_text("")
    refused(EnvironmentFailedError, "cannot (read|write) the checkpoint",
            checkpoint=str(tmp_path / "file" / "steps"))
    refused(ColumnError, "ids are not unique: 'd00000'", frame=frame.union(frame),
            checkpoint=str(tmp_path / "twice"))
    refused(ColumnError, "null in 1 rows", checkpoint=str(tmp_path / "nulls"),
            frame=frame.union(spark.createDataFrame([(None, None, "x")], frame.schema)))
