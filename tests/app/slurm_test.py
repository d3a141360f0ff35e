"""A sweep as a job array under a real slurmctld and slurmd on this machine.

    python3 tests/app/slurm_test.py path/to/attn

Needs root and Debian's packages munge, slurmctld, slurmd and slurm-client (tested with Debian 12's Slurm 22.05). It is
skipped, with a message, if they are missing or if a slurmctld is already running. The test starts its own munged,
slurmctld and slurmd; all files are in a temporary directory.

If the build includes MPI, it first trains one run with two tasks, which is notified, saves a checkpoint and resumes.
Then it submits two rows with a time limit of two minutes and a notice of 20 s, and waits for both results. The training
of the row long is paused until its time limit is near: the run must save when notified, be requeued and resume from its
checkpoint. The queue is printed whenever it changes, then the report's table.
"""
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from program import skip, small_config

ATTN = ""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "srun")

SLURM_CONF = """
ClusterName=attn
SlurmctldHost=localhost
SlurmctldPort={ctld_port}
SlurmdPort={d_port}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=20
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
MinJobAge=300
KillWait=30
NodeName=localhost CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""

BASE = {**small_config(0, steps=40, checkpoint_every=1000000), "seed": 1}



def run(*command, check=True, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **options)
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def wait_until(what, condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.5)
    raise SystemExit(f"not within {seconds} s: {what}")


def job_of(submission):
    """The number of the job array that attn submitted."""
    assert "Submitted batch job " in submission.stderr, submission.stderr
    return submission.stderr.split("Submitted batch job ")[1].split()[0]


def wait_for_record(folder):
    """Waits for the first record of the run in `folder`."""
    metrics = folder / "metrics.jsonl"
    wait_until(f"the first record of {folder}", lambda: metrics.exists() and metrics.stat().st_size > 0, 180)


@contextlib.contextmanager
def daemon(*command, **options):
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextlib.contextmanager
def cluster(path):
    """slurmctld and slurmd with a munged of their own; yields the environment that finds them."""
    (path / "state").mkdir()
    (path / "spool").mkdir()
    os.chmod(path, 0o755)
    munge = path / "munge"
    munge.mkdir(mode=0o700)
    (munge / "key").write_bytes(os.urandom(1024))
    (munge / "key").chmod(0o400)
    user = pwd.getpwnam("munge")
    for item in (munge, munge / "key"):
        os.chown(item, user.pw_uid, user.pw_gid)
    # munged requires a socket directory that all can enter but only its user can write.
    sockets = pathlib.Path(tempfile.mkdtemp(prefix="attn-munge-", dir="/run"))
    os.chown(sockets, user.pw_uid, user.pw_gid)
    os.chmod(sockets, 0o755)
    conf = path / "slurm.conf"
    text = SLURM_CONF.format(dir=path, cpus=os.cpu_count(), ctld_port=16817 + os.getpid() % 500,
                             d_port=17817 + os.getpid() % 500).replace(f"{path}/munge.socket", f"{sockets}/socket")
    conf.write_text(text)
    # By default slurmstepd's PMIx directory is /tmp/spmix_appdir_0_1.0; a leftover of a killed run makes srun fail.
    (path / "mpi.conf").write_text(f"PMIxCliTmpDirBase={path}\n")
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    become = {"user": "munge", "group": "munge", "extra_groups": []}
    try:
        with daemon("munged", "-F", f"--socket={sockets}/socket", f"--key-file={munge}/key", f"--log-file={munge}/log",
                    f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", **become):
            wait_until("munged's socket", (sockets / "socket").exists, 20)
            with daemon("slurmctld", "-D", "-c", "-f", conf, env=environment):
                with daemon("slurmd", "-D", "-f", conf, "-N", "localhost", env=environment):
                    idle = lambda: "idle" in run("sinfo", "-h", "-o", "%t", check=False, env=environment).stdout
                    wait_until("an idle node", idle, 60)
                    yield environment
    finally:
        shutil.rmtree(sockets, ignore_errors=True)


def main():
    missing = [p for p in PROGRAMS if shutil.which(p) is None]
    if missing:
        skip(f"no {', '.join(missing)} here")
    if os.geteuid() != 0:
        skip("munged and slurmd need root")
    if run("pgrep", "-x", "slurmctld", check=False).returncode == 0:
        skip("a slurmctld runs here already")
    work = pathlib.Path(tempfile.mkdtemp(prefix="attn-slurm-"))
    try:
        with cluster(work) as environment:
            check(work, environment)
    except BaseException:
        for log in (work / "slurmctld.log", work / "slurmd.log", *work.glob("a project/*/slurm-*.out")):
            if log.exists():
                print(f"--- {log.name}\n{log.read_text()[-4000:]}")
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check(work, environment):
    project = work / "a project"  # Slurm must find its way with blanks, too
    project.mkdir()
    attn = lambda *a: run(ATTN, "--threads", "1", *a, cwd=project, env=environment)
    attn("generate", "corpus", "--train", "1000", "--valid", "40", "--test", "30")
    (project / "base.json").write_text(json.dumps(BASE))
    check_two_tasks(project, attn, environment)
    check_requeueing(project, attn, environment)


def check_two_tasks(project, attn, environment):
    """A run of two tasks is started by srun, saves when notified and resumes."""
    if os.cpu_count() < 2:
        print("two tasks: not checked on one core")
        return
    sweep = {"base": "base.json", "rows": [{"name": "pair", "set": {"train": {"steps": steps_for(attn, seconds=20),
                                                                              "log_every": 10}}}],
             "slurm": {"partition": "test", "time": "10", "cpus": 1, "tasks": 2, "notice": 20}}
    (project / "pair.json").write_text(json.dumps(sweep))
    submitted = run(ATTN, "sweep", "pair.json", "--run", "paired", "--slurm", check=False, cwd=project, env=environment)
    if "this build has no MPI" in submitted.stderr:
        print("two tasks: not checked, attn was built without MPI")
        return
    job = job_of(submitted)
    folder = project / "paired/pair/seed-1"
    wait_for_record(folder)
    run("scancel", "--signal=USR1", "--batch", f"{job}_0", env=environment)
    wait_until("the end of the run of two tasks", (folder / "result.json").exists, 400)
    log = (project / "paired/pair/seed-1.log").read_text()
    assert json.loads((folder / "run.json").read_text())["processes"] == 2, log
    assert "checkpoint saved" in log and "resuming from" in log, f"it was not interrupted:\n{log[-2000:]}"
    assert "results may differ" not in log, log
    print("a run of two tasks was stopped and resumed")


def seconds_left(job, environment):
    """Of a running job's limit, as squeue reports it (1:05); None if it does not run."""
    left = run("squeue", "-h", "-t", "R", "-j", job, "-o", "%L", check=False, env=environment).stdout.strip()
    minutes, colon, seconds = left.rpartition(":")
    return 60 * int(minutes) + int(seconds) if colon else None


def pause_until_limit(job, folder, environment):
    """Stops the training of a job after its first record, without using a core, until the notice has been sent."""
    wait_for_record(folder)
    training = run("pgrep", "-f", "--", "train .*--run swept/long/seed-1").stdout.split()
    for process in training:
        os.kill(int(process), signal.SIGSTOP)
    # Of a limit of two minutes and a notice of 20 seconds; Slurm sends it up to a minute early.
    wait_until("the job's limit", lambda: (seconds_left(job, environment) or 0) < 16, 150)
    for process in training:
        os.kill(int(process), signal.SIGCONT)


def check_requeueing(project, attn, environment):
    steps = steps_for(attn, seconds=30)
    sweep = {"base": "base.json",
             "rows": [{"name": "base"}, {"name": "long", "set": {"train": {"steps": steps, "log_every": 10}}}],
             "slurm": {"partition": "test", "time": "2", "cpus": 1, "notice": 20}}
    (project / "sweep.json").write_text(json.dumps(sweep))
    answer = attn("sweep", "sweep.json", "--run", "swept", "--slurm")
    print(answer.stderr.strip())
    pause_until_limit(f"{job_of(answer)}_1", project / "swept/long/seed-1", environment)
    queue = lambda: run("squeue", "-h", "-o", "%i %t", check=False, env=environment).stdout.strip()
    results = [project / f"swept/{name}/seed-1/result.json" for name in ("base", "long")]
    deadline, last, seen = time.monotonic() + 900, None, time.monotonic()
    # A job on its way back into the queue is not in it for a moment.
    while not all(r.exists() for r in results) and time.monotonic() < min(deadline, seen + 60):
        states = " | ".join(queue().splitlines())
        if states:
            seen = time.monotonic()
        if states != last:
            print(time.strftime("%H:%M:%S"), states or "-", flush=True)
        last = states
        time.sleep(1)
    for name in ("base", "long"):
        log = (project / f"swept/{name}/seed-1.log").read_text()
        assert (project / f"swept/{name}/seed-1/result.json").exists(), f"{name} did not finish\n{log[-1000:]}"
    log = (project / "swept/long/seed-1.log").read_text()
    assert "checkpoint saved" in log and "resuming from" in log, f"it was not interrupted:\n{log[-2000:]}"
    print(f"the row long took {1 + log.count('resuming from')} jobs")
    report = attn("report", "swept").stdout
    print("\n".join(line for line in report.splitlines() if line.startswith("|"))[:1200])
    assert "| long" in report and "not run" not in report


def steps_for(attn, seconds):
    """Updates that take so many seconds here, by a short measurement."""
    cost = json.loads(attn("bench", "step", "base.json", "--json", "--seconds", "2").stdout)
    return max(100, int(seconds / cost["seconds_per_update"]))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ATTN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    main()
