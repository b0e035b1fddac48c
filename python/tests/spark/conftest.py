"""A real cluster on loopback: a standalone master and two workers, started and stopped here.

Executors are processes of their own with a heap of 600 MB, so they can be lost. `WONBON_SPARK_LONG=1` takes
more corpora. Needs Java and PySpark: scripts/spark.sh sees to both.
"""

import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed here; scripts/spark.sh runs these")

from pyspark.sql import SparkSession  # noqa: E402

LONG = os.environ.get("WONBON_SPARK_LONG") == "1"
#: What starting a process of Spark may take on a busy machine.
SECONDS = 180


class Cluster:
    """A master, two workers with one core each, and what they wrote."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.home = pathlib.Path(pyspark.__file__).parent
        self.processes = []
        try:
            self.url = self.start("master.Master", r"Starting Spark master at (\S+)", "--port", "0")
            for number in range(2):
                work = folder / f"worker-{number}"
                self.start(
                    "worker.Worker",
                    r"Successfully registered with master",
                    *("--cores", "1", "--memory", "1g", "--work-dir", str(work), self.url),
                )
        except BaseException:
            self.stop()
            raise

    def start(self, name: str, ready: str, *arguments: str) -> str:
        """Starts a process and waits until it says that it is ready."""
        log = self.folder / f"{name}-{len(self.processes)}.log"
        command = [
            str(self.home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{name}",
            *("--host", "127.0.0.1", "--webui-port", "0"),
            *arguments,
        ]
        environment = {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1"}
        # A test kills executors, one for each step.
        environment["SPARK_MASTER_OPTS"] = "-Dspark.deploy.maxExecutorRetries=-1"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        self.processes.append(process)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and process.poll() is None:
            found = re.search(ready, log.read_text(errors="replace"))
            if found:
                return found.group(1) if found.groups() else ""
            time.sleep(0.05)
        raise RuntimeError(f"{name} did not start:\n{log.read_text(errors='replace')[-3000:]}")

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def spark(cluster, tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master(cluster.url)
        .appName("wonbon tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "600m")
        .config("spark.executor.cores", "1")
        .config("spark.driver.memory", "800m")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.local.dir", str(tmp_path_factory.mktemp("local")))
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
