"""A real cluster on loopback: a standalone master and two workers, started and stopped here.

Executors are processes of their own with a heap of 600 MB, so they can be lost. `WONBON_SPARK_LONG=1` takes
the long forms. `WONBON_SPARK_CONNECT=1` talks to the cluster over Connect, in the short form only in tests that are
marked with it. Needs Java and PySpark: scripts/spark.sh sees to both.
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
CONNECT = os.environ.get("WONBON_SPARK_CONNECT") == "1"
#: What starting a process of Spark may take on a busy machine.
SECONDS = 900
HEAP = "600m"
#: Processes here live for seconds: what a second compiler and a parallel collector do for them never pays.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def pytest_configure(config):
    config.addinivalue_line("markers", "connect: in the short form too over Connect")
    config.addinivalue_line("markers", "long: only with WONBON_SPARK_LONG=1")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("long") and not LONG:
            item.add_marker(pytest.mark.skip(reason="a long form: WONBON_SPARK_LONG=1"))
        elif CONNECT and not LONG and not item.get_closest_marker("connect"):
            item.add_marker(pytest.mark.skip(reason="over Connect a long form: WONBON_SPARK_LONG=1"))


def settings(folder: pathlib.Path):
    """The configuration of a driver, classic or the server of Connect."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        # A process that waits for a processor is not lost; one that is killed is seen at once.
        "spark.network.timeout": "900s",
        "spark.executor.memory": HEAP,
        "spark.executor.cores": "1",
        "spark.driver.memory": "800m",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.executor.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "4",
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }


class Cluster:
    """A master, two workers with one core each, and what they wrote."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.home = pathlib.Path(pyspark.__file__).parent
        self.processes = []
        try:
            self.url = self.start_part("master.Master", r"Starting Spark master at (\S+)", "--port", "0")
            for number in range(2):
                work = folder / f"worker-{number}"
                self.start_part(
                    "worker.Worker",
                    r"Successfully registered with master",
                    *("--cores", "1", "--memory", "1g", "--work-dir", str(work), self.url),
                )
        except BaseException:
            self.stop()
            raise

    def start_part(self, name: str, ready: str, *arguments: str) -> str:
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        return self.start("spark-class", ready, f"org.apache.spark.deploy.{name}", *place, *arguments)

    def start_connect(self) -> str:
        """The server of Connect as a driver of this cluster; its address."""
        configured = [f"--conf={name}={value}" for name, value in settings(self.folder).items()]
        configured += ["--conf=spark.connect.grpc.binding.address=127.0.0.1"]
        configured += ["--conf=spark.connect.grpc.binding.port=0"]
        return "sc://127.0.0.1:" + self.start(
            "spark-submit",
            r"Spark Connect server started at: \S+?:(\d+)",
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", self.url),
            *configured,
            "spark-internal",
        )

    def start(self, program: str, ready: str, *arguments: str) -> str:
        """Starts a process and waits until it says that it is ready."""
        log = self.folder / f"{program}-{len(self.processes)}.log"
        command = [str(self.home / "bin" / program), *arguments]
        environment = {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment["SPARK_DAEMON_JAVA_OPTS"] = JAVA
        # A test kills executors, one for each step.
        environment["SPARK_MASTER_OPTS"] = "-Dspark.deploy.maxExecutorRetries=-1 -Dspark.worker.timeout=900"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        self.processes.append(process)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and process.poll() is None:
            found = re.search(ready, log.read_text(errors="replace"))
            if found:
                return found.group(1) if found.groups() else ""
            time.sleep(0.05)
        raise RuntimeError(f"{command[:2]} did not start:\n{log.read_text(errors='replace')[-3000:]}")

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
def spark(cluster):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    if CONNECT:
        session = SparkSession.builder.remote(cluster.start_connect()).getOrCreate()
    else:
        builder = SparkSession.builder.master(cluster.url).appName("wonbon tests")
        for name, value in settings(cluster.folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
