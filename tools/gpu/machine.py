"""Commands with a time limit, and what a machine has: GPUs, LibTorch with CUDA, a python with torch."""
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INSPECT = """
import json, os, torch
found = dict(version=torch.__version__, cuda=torch.version.cuda, folder=os.path.dirname(torch.__file__))
if torch.cuda.is_available():
    found.update(gpu=torch.cuda.get_device_name())
print(json.dumps(found))
"""


class Failed(Exception):
    """A step that failed: the reason, and the output of its command."""

    def __init__(self, why, output=""):
        super().__init__(why)
        self.output = output


def call(command, limit, stdin="", of=0, **options):
    """The stdout of a command, or (1) its stderr. Failed if it fails or takes more than `limit` seconds; that ends its children, too."""
    command = [str(word) for word in command]
    # Files, not pipes: a child that outlives the command would keep a pipe open.
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin.encode())
        given.seek(0)
        try:
            process = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, start_new_session=True, **options)
        except OSError as error:
            raise Failed(f"cannot start {command[0]}: {error.strerror}") from None
        try:
            process.wait(limit)
            why = f"exit code {process.returncode}" if process.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"over its limit of {limit:.0f} s"
        finally:
            if process.returncode is None:
                end(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if why:
        raise Failed(why, f"$ {' '.join(command)}\n" + "".join(texts))
    return texts[of]


class Server:
    """A command that writes a line of JSON when it is ready, and one for each line that it reads."""

    def __init__(self, command, **options):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, start_new_session=True, **options)

    def answer(self, limit):
        """The next line. Failed without one within `limit` seconds."""
        if not select.select([self.process.stdout], [], [], limit)[0]:
            raise Failed(f"over its limit of {limit:.0f} s")
        if not (line := self.process.stdout.readline()):
            self.errors.seek(0)
            output = self.errors.read()
            raise Failed((output.strip().splitlines() or ["ended"])[-1], output)
        return json.loads(line)

    def ask(self, limit):
        with contextlib.suppress(BrokenPipeError):  # it has ended: answer() says why
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        return self.answer(limit)

    def close(self):
        self.process.terminate()  # it may keep something
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        end(self.process)


def end(process):
    """Ends the process group of a child that has one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def output_of(command):
    """The stdout of a short command, or None if it fails or is missing."""
    try:
        return call(command, 30)
    except Failed:
        return None


def gpus():
    """The GPUs with their drivers as nvidia-smi lists them, and the reason if there are none."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return [], f"CUDA_VISIBLE_DEVICES='{visible}' hides every GPU"
    if not shutil.which("nvidia-smi"):
        if Path("/dev/nvidia0").exists():
            return ["unknown (nvidia-smi is not installed)"], ""
        return [], "nvidia-smi is not installed and /dev/nvidia0 does not exist"
    listed = output_of(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    if not (listed or "").strip():
        return [], "nvidia-smi finds no GPU (is the driver loaded?)"
    return listed.strip().splitlines(), ""


def cpu_build(prebuilt):
    """Why the program has no GPU code, or None; found before anything is built."""
    if prebuilt:
        linked = output_of(["ldd", prebuilt / "app/attn"])
        if linked is not None and "libtorch_cuda" not in linked:
            return f"{prebuilt}/app/attn is linked with a LibTorch for the CPU. Build it with one for CUDA"
        return None
    prefix = (output_of(["cmake", "-P", ROOT / "cmake/LibTorchPrefix.cmake"]) or "").strip()
    if prefix and not (Path(prefix) / "lib/libtorch_cuda.so").exists():
        return f"{prefix}, the LibTorch that ./run finds, is for the CPU. Install torch with CUDA, or set Torch_DIR"
    return None


def python_with_torch(wanted):
    """The first python that imports torch, and what torch reports there."""
    for python in [wanted] if wanted else [sys.executable, ROOT / ".venv/bin/python", "python3"]:
        try:
            return python, json.loads(call([python, "-c", INSPECT], 60))
        except (Failed, ValueError):
            pass
    return None, {}


def processor():
    try:
        found = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return f"{found.group(1) if found else 'unknown'}, {os.cpu_count()} cores"
