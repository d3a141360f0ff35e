"""Training by processes of the real torchrun, without MPI: equal bits, a restart by the agent.

    python3 tests/app/torchrun_test.py path/to/attn

Skipped, with a message, without torchrun in PATH or in .venv.
"""
import os
import re
import shutil
import signal
import subprocess
import time

from distributed_test import Group
from program import ROOT, main, skip

TORCHRUN = shutil.which("torchrun", path=f"{ROOT / '.venv/bin'}:{os.environ['PATH']}")


class Torchrun(Group):
    @classmethod
    def setUpClass(cls):
        if TORCHRUN is None:
            skip("no torchrun here")
        super().setUpClass()

    def torchrun(self, *arguments, restarts=0):
        command = [TORCHRUN, "--no-python", "--nproc-per-node=2", "--standalone", f"--max-restarts={restarts}",
                   "--monitor-interval=0.1", "--", self.program, "--threads", "1", "train", "small.json", *arguments]
        return subprocess.Popen(command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_of(self, process, code=0):
        error = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, code, error[-3000:])
        return error

    def test_two_processes_have_the_weights_of_one_with_two_threads(self):
        error = self.end_of(self.torchrun("--run", "pair", "--set", "runtime.shard_optimizer=true"))
        self.assertIn("go through torchrun's store; on CPUs, mpirun is faster", error)
        self.same_weights("pair", self.reference())

    def test_the_agent_restarts_after_a_killed_process(self):
        group = self.torchrun("--run", "killed", "--resume", "--set", "train.checkpoint_every=2", restarts=2)
        checkpoints = self.path / "killed/checkpoints"
        while group.poll() is None and len(list(checkpoints.glob("step-*"))) < 3:
            time.sleep(0.05)
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environment = file.read()
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    ours = file.read().startswith(os.fsencode(self.program))
                if ours and os.readlink(f"/proc/{entry}/cwd") == str(self.path) and re.search(rb"\0RANK=1\0", environment):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue
        self.end_of(group)
        self.same_weights("killed", self.reference("every_two", "--set", "train.checkpoint_every=2"))
        self.assertIn("resum", (self.path / "killed/log.txt").read_text())

    def test_a_wrong_port_is_one_line(self):
        started = {**os.environ, "TORCHELASTIC_RUN_ID": "1", "TORCHELASTIC_RESTART_COUNT": "0", "WORLD_SIZE": "2", "RANK": "0",
                   "MASTER_ADDR": "127.0.0.1"}
        for variables, part in (({}, "MASTER_PORT is not set"), ({"MASTER_PORT": "many"}, "MASTER_PORT: many")):
            self.one_line("train", "small.json", "--run", "alone", code=2, names=[part], env=started | variables)
        self.assertFalse((self.path / "alone").exists())


if __name__ == "__main__":
    main()
