"""Training by several processes with the real mpirun: equal bits, resumption, killed and hanging processes, faults of
NCCL, wrong starts.

    python3 tests/app/distributed_test.py path/to/attn

Standard library alone; skipped, with a message, without mpirun or in a build without MPI. ATTN_KILLS=20 kills a process
at as many random moments (default 2).
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import ProgramTest, note_skipped, skip, small_config

CONFIG = small_config(10, steps=30, accumulate=2, clip_norm=0.5, log_every=10, checkpoint_every=7, keep_last=0)
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
SECONDS = 300


def require_mpi(program):
    if shutil.which("mpirun") is None:
        skip("no mpirun here")
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    if "Open MPI" not in said:
        skip("mpirun is not Open MPI's")
    alone = subprocess.run([program, "train", "nowhere.json"], capture_output=True, text=True, check=False,
                           env={**os.environ, "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, timeout=60)
    if "this build has no MPI" in alone.stderr:
        skip("attn was built without MPI")


class Group(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1500", "--valid", "50", "--test", "30")
        cls.write("small.json", CONFIG)

    def start_group(self, processes, *arguments, threads=1, mpirun=(), environment=None, **options):
        command = [*MPIRUN, *mpirun, "-np", str(processes), self.program, *(["--threads", str(threads)] if threads else []), *arguments]
        return subprocess.Popen(command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**ENVIRONMENT, **(environment or {})}, **options)

    def group(self, processes, *arguments, code=0, **options):
        process = self.start_group(processes, *arguments, **options)
        try:
            _, error = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
        self.assertEqual(process.returncode, code, error[-3000:])
        return error

    def messages(self, error):
        return [line for line in error.splitlines() if line.startswith("attn: ")]

    def weights(self, run):
        last = sorted((self.path / run / "checkpoints").glob("step-*"))[-1]
        return [last.name, *((last / f"{name}.safetensors").read_bytes() for name in ("model", "optimizer"))]

    def same_weights(self, run, other):
        """The same weights and moments; the time in training is not compared."""
        without_seconds = lambda content: re.sub(rb'"(seconds|interval.began)":"[^"]*"|^.{8}', b"", content, flags=re.S)
        for one, two in zip(self.weights(run), self.weights(other)):
            if isinstance(one, bytes):
                one, two = (without_seconds(content).replace(b" ", b"") for content in (one, two))
            self.assertTrue(one == two, f"{run} and {other} differ")

    def reference(self, run="reference", *settings, threads=2):
        """One process, trained once."""
        if not (self.path / run).exists():
            self.attn("train", "small.json", "--run", run, *settings, threads=threads)
        return run

    def records(self, run, kind):
        lines = (self.path / run / "metrics.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["kind"] == kind]

    def metrics(self, run):
        """The records without what time decides."""
        records = [*self.records(run, "train"), *self.records(run, "eval")]
        return [{key: value for key, value in record.items() if "second" not in key and key != "sent_bytes"} for record in records]

    def processes_of(self, group):
        """The process ids of the two ranks, in their order."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and group.poll() is None:
            ranks = {}
            for child in subprocess.run(["pgrep", "-P", str(group.pid)], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(OSError), open(f"/proc/{child}/environ", "rb") as file:
                    if rank := re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read()):
                        ranks[int(rank[1])] = int(child)
            if len(ranks) > 1:
                return [ranks[rank] for rank in sorted(ranks)]
            time.sleep(0.02)
        self.fail("the processes did not start")

    def wait_for_checkpoint(self, run, group):
        self.wait_for("the first checkpoint", group, f"{run}/checkpoints/step-*")

    def alive(self, pids):
        def runs(pid):
            try:
                with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                    return file.read().rpartition(")")[2].split()[0] not in "ZX"
            except OSError:
                return False
        return [pid for pid in pids if runs(pid)]

    def all_end(self, pids, seconds=10):
        """mpirun may end a moment before the processes that it has killed."""
        last = time.monotonic() + seconds
        while self.alive(pids) and time.monotonic() < last:
            time.sleep(0.1)
        self.assertEqual(self.alive(pids), [])


class Equality(Group):
    def test_two_processes_of_one_thread_train_as_one_process_of_two_threads(self):
        self.reference()
        self.group(2, "train", "small.json", "--run", "two")
        self.same_weights("two", "reference")
        self.assertEqual(self.metrics("two"), self.metrics("reference"))
        parameters = json.loads((self.path / "two/run.json").read_text())["parameters"]
        for record in self.records("two", "train"):  # half of the gradients to the other, and the sum of the own half
            self.assertGreater(record["sent_bytes"], 4 * parameters)
            self.assertLess(record["sent_bytes"], 4.5 * parameters)
            self.assertGreater(record["communication_seconds"], 0)

    def test_a_process_with_one_part_of_a_batch_computes_it_with_one_thread(self):
        # Two short sentences a batch, so that each process of two threads has one part; pre-norm's gains and ByteNet use
        # operations of LibTorch whose sums depend on the number of threads.
        for name, model in (("pre", {**CONFIG["model"], "norm": "pre"}), ("bytenet", {"architecture": "bytenet", "d_model": 16})):
            self.write(f"{name}.json", {**CONFIG, "model": model, "data": {**CONFIG["data"], "batch_tokens": 40, "max_length": 20},
                                        "train": {**CONFIG["train"], "steps": 6}, "eval": []})
            self.attn("train", f"{name}.json", "--run", f"one_{name}", threads=4)
            self.group(2, "train", f"{name}.json", "--run", f"two_{name}", threads=2)
            self.same_weights(f"two_{name}", f"one_{name}")

    def test_a_run_goes_on_with_any_number_of_processes(self):
        self.reference()
        self.group(2, "train", "small.json", "--run", "changing", "--set", "train.steps=14", "--set", "runtime.shard_optimizer=true")
        # The same parts: the same bits.
        error = self.group(1, "train", "small.json", "--run", "changing", "--resume", threads=2)
        self.assertIn("started with 2 processes of 1 thread, resuming with 1 process of 2 threads", error)
        self.same_weights("changing", "reference")
        self.group(2, "train", "small.json", "--run", "alone", "--set", "train.steps=14")
        error = self.group(3, "train", "small.json", "--run", "alone", "--resume")
        for part in ("started with 2 processes of 1 thread, resuming with", "results may differ from those", "finished at step 30"):
            self.assertIn(part, error)


class Faults(Group):
    def test_a_killed_process_ends_all_and_the_run_resumes_to_the_bit(self):
        """Before its first checkpoint or after it."""
        self.reference()
        rng = random.Random(7)
        for attempt in range(int(os.environ.get("ATTN_KILLS", "2"))):
            rank, run = attempt % 2, f"killed-{attempt}"
            with self.subTest(attempt=attempt):
                group = self.start_group(2, "train", "small.json", "--run", run)
                pids = self.processes_of(group)
                if attempt % 4 in (0, 3):
                    self.wait_for_checkpoint(run, group)
                time.sleep(rng.uniform(0.0, 0.5))
                killed = bool(self.alive(pids[rank:rank + 1]))
                if killed:
                    os.kill(pids[rank], signal.SIGKILL)
                began = time.monotonic()
                group.communicate(timeout=60)
                self.assertLess(time.monotonic() - began, 30 if killed else 60)
                self.all_end(pids)
                if killed and group.returncode == 0:
                    self.assertTrue((self.path / run / "result.json").exists())
                self.group(2, "train", "small.json", "--run", run, "--resume")
                self.same_weights(run, "reference")

    def test_a_process_that_is_stopped_is_noticed(self):
        for rank in range(2):
            with self.subTest(rank=rank):
                run = f"hanging-{rank}"
                group = self.start_group(2, "train", "small.json", "--run", run, "--set", "runtime.timeout=3",
                                         "--set", "train.steps=100000", "--set", "train.keep_last=2")
                pids = self.processes_of(group)
                self.wait_for_checkpoint(run, group)
                os.kill(pids[rank], signal.SIGSTOP)
                began = time.monotonic()
                _, error = group.communicate(timeout=60)
                self.assertLess(time.monotonic() - began, 30)
                self.assertNotEqual(group.returncode, 0)
                self.all_end(pids)
                self.assertIn(f"process {rank} has not responded for 3 s (runtime.timeout)", error)

    def test_others_wait_for_a_long_evaluation_without_a_core_and_do_not_take_it_for_a_hanging_process(self):
        script = ("import os, subprocess, sys, resource\n"
                  "code = subprocess.run(sys.argv[1:]).returncode\n"
                  "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
                  "open('cpu-' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write(str(used.ru_utime + used.ru_stime))\n"
                  "sys.exit(code)\n")
        self.write("measure.py", script)
        for suffix in ("en", "de"):
            self.write(f"long.{suffix}", (self.path / f"corpus/valid.{suffix}").read_text() * 20)
        evaluator = json.dumps([{"name": "long", "kind": "bleu", "data": "long", "every": 1, "search": {"beam": 16}, "tokenize": "none"}])
        command = [*MPIRUN, "-np", "2", sys.executable, "measure.py", self.program, "--threads", "1", "train", "small.json",
                   "--run", "patient", "--set", "train.steps=1", "runtime.timeout=1", f"eval={evaluator}"]
        subprocess.run(command, cwd=self.path, env=ENVIRONMENT, check=True, capture_output=True, timeout=SECONDS)
        self.assertGreater(max(record["eval_seconds"] for record in self.records("patient", "eval")), 1.5)
        first, other = (float((self.path / f"cpu-{rank}").read_text()) for rank in range(2))
        # Processor time, not wall time: other programs may use the cores. Busy waiting would take as much as evaluation.
        self.assertLess(other, 0.5 * first)

    def test_a_full_disk_ends_all_with_one_line(self):
        self.reference()
        limited = self.start_group(2, "train", "small.json", "--run", "full", "--set", "train.steps=14")
        limited.communicate(timeout=SECONDS)
        # A file of the next checkpoint may not be larger than this: write() fails as on a full disk.
        command = f"ulimit -f 20; trap '' XFSZ; exec \"$@\""
        group = subprocess.Popen([*MPIRUN, "-np", "2", "bash", "-c", command, "bash", self.program, "--threads", "1", "train",
                                  "full", "--resume", "--set", "train.steps=30"], cwd=self.path, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env={**ENVIRONMENT, "OMPI_MCA_btl": "self,tcp"})
        _, error = group.communicate(timeout=SECONDS)
        self.assertEqual(group.returncode, 3, error)
        self.assertEqual(len(self.messages(error)), 1, error)
        self.assertIn("full/checkpoints/step-", self.messages(error)[0])
        self.group(2, "train", "full", "--resume", "--set", "train.steps=30")
        self.same_weights("full", "reference")

    def test_a_signal_to_mpirun_saves(self):
        # Within the default of a second a busy machine may not save.
        patient = ["--mca", "odls_base_sigkill_timeout", "5"]
        group = self.start_group(2, "train", "small.json", "--run", "stopped", "--set", "train.steps=100000",
                                 "--set", "train.keep_last=2", mpirun=patient)
        self.wait_for_checkpoint("stopped", group)
        group.send_signal(signal.SIGTERM)
        _, error = group.communicate(timeout=60)
        self.assertIn("checkpoint saved; resume with: attn train stopped --resume", error)
        self.assertNotEqual(group.returncode, 0)
        last = max(int(path.name[5:]) for path in (self.path / "stopped/checkpoints").glob("step-*"))
        error = self.group(2, "train", "stopped", "--resume", "--set", f"train.steps={last + 5}")
        self.assertIn(f"finished at step {last + 5}", error)


class Nccl(Group):
    """Gradients over a stand-in for NCCL (tests/support/nccl_stub.cpp), by a GPU's path on CPUs."""

    FOLDER = os.environ.get("ATTN_NCCL_FOLDER")  # of the stand-in, if not beside the program
    HANGING = "a process is hanging or was stopped; resume with --resume"
    FAULTS = {"init_hangs:1": HANGING, "stalls:0:3": HANGING, "dies:1:3": "NCCL: remote process exited"}

    def train(self, run, *arguments, fault="", code=0):
        environment = {"ATTN_DEVICE_PATH": "gpu", "LD_LIBRARY_PATH": str(self.FOLDER), "ATTN_NCCL_STUB": fault}
        return self.group(2, "train", "nccl.json", "--run", run, "--set", "runtime.timeout=2", *arguments, code=code,
                          environment=environment)

    def test_a_fault_ends_all_within_the_timeout_and_the_run_goes_on_to_the_bit(self):
        self.FOLDER = self.FOLDER or pathlib.Path(self.program).parents[1] / "tests/nccl"
        linked = subprocess.run(["ldd", self.program], capture_output=True, text=True, check=False).stdout
        if not (pathlib.Path(self.FOLDER) / "libnccl.so.2").exists() or "libnccl" in linked:
            note_skipped("training over the stub of NCCL: it was not built, or this LibTorch has the real one")
            return
        self.write("nccl.json", {**CONFIG, "eval": [], "train": {**CONFIG["train"], "steps": 8, "checkpoint_every": 100}})
        began = time.monotonic()
        self.train("undisturbed")
        undisturbed = time.monotonic() - began
        self.train("disturbed", "--set", "train.steps=2")
        for fault, reason in self.FAULTS.items():
            with self.subTest(fault=fault):
                began = time.monotonic()
                messages = self.messages(self.train("disturbed", "--resume", fault=fault, code=1))
                self.assertLess(time.monotonic() - began, undisturbed + 2 + 10)
                self.assertIn(len(messages), (1, 2), messages)  # one of each process that was not killed first
                for message in messages:
                    self.assertTrue(reason in message or self.HANGING in message, message)
        self.train("disturbed", "--resume", fault="slow:1")  # for longer than the timeout in all
        self.same_weights("disturbed", "undisturbed")


class WrongStarts(Group):
    def one_message(self, error, *names):
        self.assertEqual(len(self.messages(error)), 1, error)
        for name in names:
            self.assertIn(name, error)

    def test_a_mistake_in_the_config_is_one_line_for_all(self):
        self.one_message(self.group(3, "train", "small.json", "--run", "bad", "--set", "model.heds=3", code=2), "model.heds")
        self.assertFalse((self.path / "bad").exists())
        self.one_message(self.group(2, "train", "small.json", "--run", "bad", "--set", "data.train=gone", code=3), "gone")

    def test_processes_with_other_configs_or_texts_are_an_error(self):
        self.write("other.py", "import os, sys\nrank = os.environ['OMPI_COMM_WORLD_RANK']\n"
                               "os.execv(sys.argv[1], [sys.argv[1], *(word.replace('RANK', rank) for word in sys.argv[2:])])\n")
        differing = ["--run", "differing", "--set"]
        run = lambda *words: subprocess.run([*MPIRUN, "-np", "2", sys.executable, "other.py", self.program, "--threads", "1",
                                             "train", *words], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True,
                                            timeout=SECONDS, check=False)
        done = run("small.json", *differing, "seed=RANK")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.one_message(done.stderr, "process 1 on", "different config")
        # Each process has another text under one name.
        for rank in range(2):
            folder = self.path / f"place{rank}"
            shutil.copytree(self.path / "corpus", folder / "corpus")
            shutil.copy(self.path / "small.json", folder)
            with open(folder / "corpus/train.en", "a", encoding="utf8") as file:
                file.write("" if rank == 0 else "one more\n")
        self.write("other.py", "import os, sys\nos.chdir('place' + os.environ['OMPI_COMM_WORLD_RANK'])\n"
                               "os.execv(sys.argv[1], sys.argv[1:])\n")
        done = run("small.json", "--run", "texts")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.one_message(done.stderr, "process 1 on", "different training text")

    def test_processes_bound_to_fewer_cores_than_threads_are_told(self):
        bound = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        done = subprocess.run([*MPIRUN, "-np", "2", *bound, self.program, "--threads", "2", "train", "small.json", "--run",
                               "bound", "--set", "train.steps=1"], cwd=self.path, env=ENVIRONMENT, capture_output=True,
                              text=True, timeout=SECONDS, check=True)
        self.assertIn("process 0 is bound to 1 cores and has 2 threads; start with mpirun --bind-to none", done.stderr)


if __name__ == "__main__":
    ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    require_mpi(ProgramTest.program)
    unittest.main()
