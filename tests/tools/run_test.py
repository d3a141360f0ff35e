"""The script `run` in a clone of its own, with stand-ins for apt-get, pip, CMake and Ninja: no network is needed.

    tests/tools/run_test.py [path/to/attn]    with the program, its commands are compared with those that `run` knows
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else None
TOOLS = """basename bash cat chmod cksum cp cut date dirname env flock grep head ln ls mkdir mktemp mv nproc paste
           rm sed sh sleep sort tail touch tr uname uniq""".split()
LIBRARIES = ("libtorch.so", "libtorch_cpu.so", "libc10.so")

# Each stand-in notes its call in $CALLS. CMake is the real one except for configuring.
FAKES = {
    **dict.fromkeys(("c++", "ccache", "ctest"), "exit 0"),
    "nvidia-smi": "exit 1",
    "id": "echo 0",
    "dpkg": """ case $2 in ninja-build) [ -e "$FAKE/ninja" ] ;; cmake | python3 | ccache) [ -e "$FAKE/$2" ] ;; *) exit 0 ;; esac """,
    "apt-get": """
        echo "apt-get $*" >>"$CALLS"
        case "$*" in
          *\\ install\\ *)
            [ "${APT:-works}" = works ] || exit 100
            for package in "$@"; do
              case $package in ccache) cp "$FAKE/c++" "$FAKE/ccache" ;; esac
            done ;;
        esac""",
    "cmake": """
        case "$*" in
          *--preset*) touch "$CLONE/build/${ATTN_PRESET:-release}/build.ninja" ;;
          *) exec "$CMAKE" "$@" ;;
        esac""",
    "ninja": """
        folder=$2
        [ "$3" != -n ] || { echo '[1/1] link'; exit 0; }
        mkdir -p "$folder/app"
        printf '#!/bin/sh\\necho "attn $*"\\n' >"$folder/app/attn"
        chmod +x "$folder/app/attn"
        echo "ninja $*" >>"$CALLS" """,
    # $TORCH is the torch package that the user's own python3 has.
    "python3": """
        case "$*" in
          *find_spec*) echo "${TORCH:-}" ;;
          *ensurepip*) exit 0 ;;
          *tools/export.py*) echo "$*" ;;
          *-m\\ venv*)
            for folder in "$@"; do :; done
            mkdir -p "$folder/bin" && cp "$FAKE/pip" "$folder/bin/python" ;;
        esac""",
    # The python of a virtual environment, asked for pip. PIP: works, fails or killed (and ./run with it).
    "pip": """
        site=${0%/bin/python}/lib/python3.11/site-packages
        [ "$3" = install ] || exit 0
        echo "pip $*" >>"$CALLS"
        mkdir "$CLONE/pip-runs" || echo "two pips at once" >>"$CALLS"
        sleep "${PIP_TIME:-0}"
        rmdir "$CLONE/pip-runs"
        case ${PIP:-works} in
          fails) exit 1 ;;
          killed) mkdir -p "$site" && cp -R "$CLONE/torch" "$site" && kill -KILL $PPID ;;
          *) mkdir -p "$site/torch-2.13.0.dist-info" && cp -R "$CLONE/torch" "$site" && touch "$site/torch-2.13.0.dist-info/RECORD" ;;
        esac""",
}


def make_torch(folder, libraries=LIBRARIES):
    """What `run` and CMake look at in a LibTorch."""
    headers = folder / "include" / "torch"
    (headers / "csrc/api/include/torch").mkdir(parents=True)
    (headers / "csrc/api/include/torch/torch.h").touch()
    (headers / "headeronly").mkdir()
    (headers / "headeronly/version.h").write_text("".join(
        f"#define TORCH_VERSION_{part} {number}\n" for part, number in (("MAJOR", 2), ("MINOR", 13), ("PATCH", 0))))
    (folder / "lib").mkdir()
    for name in libraries:
        (folder / "lib" / name).write_text("a library")
    return folder


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = Path(folder.name).resolve() / "clone"
        self.fake = self.clone.parent / "bin"
        self.calls = self.clone.parent / "calls"
        self.calls.touch()
        self.fake.mkdir()
        (self.clone / "cmake").mkdir(parents=True)
        for name in ("run", "CMakePresets.json", "cmake/LibTorchPrefix.cmake"):
            shutil.copy(ROOT / name, self.clone / name)
        make_torch(self.clone / "torch")
        for name in TOOLS + ["rmdir"]:
            if found := shutil.which(name):
                (self.fake / name).symlink_to(found)
        for name, text in FAKES.items():
            self.command(name, text)
        self.environment = {"PATH": str(self.fake), "CALLS": str(self.calls), "FAKE": str(self.fake),
                            "CLONE": str(self.clone), "CMAKE": shutil.which("cmake") or "", "HOME": folder.name}

    def command(self, name, text):
        (self.fake / name).write_text("#!/bin/bash\n" + text + "\n")
        (self.fake / name).chmod(0o755)

    def start(self, *arguments, stderr=subprocess.PIPE, **environment):
        return subprocess.Popen([self.clone / "run", *arguments], env={**self.environment, **environment},
                                stdout=subprocess.PIPE, stderr=stderr, stdin=subprocess.DEVNULL, text=True)

    def run_script(self, *arguments, **environment):
        """(exit code, stdout, stderr)"""
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def assert_works(self, **environment):
        code, out, err = self.run_script("train", "x.json", **environment)
        self.assertEqual((code, out), (0, "attn train x.json\n"), err)
        return err

    def called(self, what):
        # The name of a temporary folder is random: it may contain "pip".
        calls = self.calls.read_text().replace(str(self.clone), "CLONE")
        return [line for line in calls.splitlines() if what in line]

    def site(self, *parts):
        return self.clone.joinpath(".venv/lib/python3.11/site-packages", *parts)


@unittest.skipUnless(shutil.which("cmake"), "needs cmake")
class LibTorch(RunTest):
    def test_the_first_call_installs_it_once_and_later_ones_build_only(self):
        self.assert_works()
        self.assert_works()
        self.assertEqual(len(self.called("pip")), 1)
        self.assertEqual(self.called("apt-get"), [])
        self.assertTrue(self.site("torch/lib/libtorch_cpu.so").exists())

    def test_a_failed_pip_is_one_line_and_the_next_call_tries_again_as_after_an_interrupted_one(self):
        code, _, err = self.run_script("train", PIP="fails")
        self.assertEqual(code, 1)
        self.assertIn("pip could not install", err.splitlines()[-1])
        self.assertNotEqual(self.run_script("train", PIP="killed")[0], 0)
        self.assertTrue(self.site("torch/lib/libtorch_cpu.so").exists())
        self.assert_works()
        self.assertEqual(len(self.called("pip")), 3, self.calls.read_text())

    def test_one_that_loses_a_library_after_the_build_is_looked_for_again(self):
        self.assert_works()
        self.site("torch/lib/libc10.so").unlink()
        self.assert_works()
        self.assertIn("--ignore-installed", self.called("pip")[1])  # pip would change nothing

    def test_the_users_own_is_used_where_it_is_complete_and_passed_over_where_a_library_is_missing(self):
        for missing in (None, *LIBRARIES):
            own = make_torch(self.clone.parent / "own", [name for name in LIBRARIES if name != missing])
            self.assert_works(TORCH=str(own))
            self.assertEqual((self.clone / ".venv").exists(), missing is not None)
            shutil.rmtree(own)

    def test_a_folder_called_venv_that_is_somebody_elses_is_left_alone(self):
        (self.clone / ".venv").mkdir()
        (self.clone / ".venv/mine.txt").write_text("mine")
        code, _, err = self.run_script("train")
        self.assertEqual(code, 1)
        self.assertIn(".venv", err.splitlines()[-1])
        self.assertEqual([path.name for path in (self.clone / ".venv").iterdir()], ["mine.txt"])


@unittest.skipUnless(shutil.which("cmake"), "needs cmake")
class Tools(RunTest):
    def test_a_missing_ccache_is_installed_once_and_stops_nothing(self):
        (self.fake / "ccache").unlink()
        self.assertIn("ccache", self.assert_works(APT="fails"))
        self.assert_works(APT="fails")
        self.assertEqual(len(self.called("install ccache")), 1)  # not tried at each call
        shutil.rmtree(self.clone / "build")
        self.assert_works()
        self.assertTrue((self.fake / "ccache").exists())
        for tool in ("apt-get", "ccache"):
            (self.fake / tool).unlink()
        shutil.rmtree(self.clone / "build")
        self.assert_works()

    def test_what_is_needed_and_cannot_be_installed_is_one_line(self):
        (self.fake / "ninja").unlink()
        code, _, err = self.run_script("train", APT="fails", TORCH=str(self.clone / "torch"))
        self.assertEqual(code, 1)
        self.assertRegex(err.splitlines()[-1], "apt-get could not install ninja-build .*run this again")

    def test_without_cmake_and_python_these_are_installed(self):
        for name in ("cmake", "python3", "ninja"):
            (self.fake / name).rename(self.fake / (name + ".later"))
        self.command("apt-get", """
            echo "apt-get $*" >>"$CALLS"
            case "$*" in
              *\\ install\\ *) for name in cmake python3 ninja; do
                case "$*" in *$name*) mv "$FAKE/$name.later" "$FAKE/$name" ;; esac
              done ;;
            esac""")
        self.assert_works()
        self.assertEqual([line.partition(" install ")[2] for line in self.called(" install ") if "apt-get" in line],
                         ["cmake ninja-build python3"])

    def test_ninja_gets_the_terminal_where_it_rewrites_one_line_and_stdout_stays_the_programs(self):
        self.command("ninja", FAKES["ninja"] + """
            [ ! -t 1 ] || echo "on a terminal" >>"$CALLS" """)
        self.assert_works()
        self.assertEqual(self.called("on a terminal"), [])
        for end in (ends := os.openpty()):
            self.addCleanup(os.close, end)
        out, _ = self.start("train", stderr=ends[1]).communicate(timeout=60)
        self.assertEqual((out, len(self.called("on a terminal"))), ("attn train\n", 1))

    def test_the_tests_begin_with_how_long_they_take(self):
        code, _, err = self.run_script("test", ATTN_JOBS="1")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, "(?s)^attn: .*10 to 30 minutes.*configuring")


class Usage(RunTest):
    def assert_at_once(self, *arguments):
        """(exit code, stdout, stderr) of a call that sets nothing up and builds nothing."""
        result = self.run_script(*arguments)
        self.assertEqual(self.called(""), [])
        self.assertFalse((self.clone / "build").exists())
        return result

    def test_help_answers_before_anything_is_built(self):
        for arguments in (["--help"], ["-h"], ["help"], ["demo", "--help"], ["test", "--help"], ["build", "-h"], ["--threads", "4", "-h"]):
            code, out, err = self.assert_at_once(*arguments)
            self.assertEqual((code, err), (0, ""), arguments)
            self.assertIn("usage: ./run demo", out)
            self.assertIn("translate", out)

    def test_no_command_gets_the_usage_and_an_unknown_one_the_list(self):
        code, out, err = self.assert_at_once()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("usage: ./run demo", err)
        for arguments in (["trian", "x.json"], ["experiments/multi30k/tiny.json"], ["--threads", "4"],
                          *(["--threads", "2", word] for word in ("demo", "test", "build", "export"))):
            code, out, err = self.assert_at_once(*arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, f"^attn: {' '.join(arguments)}: no command: begin with demo, build, .*train.*\n$")

    def test_the_demo_gets_a_folder_and_no_option(self):
        for arguments in (["demo", "--run", "X"], ["demo", "--run"], ["demo", "a", "b"]):
            code, out, err = self.assert_at_once(*arguments)
            self.assertEqual((code, out, err), (1, "", f"attn: {' '.join(arguments)}: give the folder alone: ./run demo FOLDER\n"))
        (self.clone / "tools").mkdir()
        self.command("demo", 'echo "folder: ${2:-none}"')
        (self.fake / "demo").rename(self.clone / "tools/demo")
        for arguments in ([], ["my runs"]):
            code, out, err = self.run_script("demo", *arguments)
            self.assertEqual((code, out), (0, f"folder: {' '.join(arguments) or 'none'}\n"), err)

    def test_options_before_a_command_reach_the_program(self):
        for arguments in (["--threads", "2", "train", "x"], ["--device=cpu", "train"], ["--version"]):
            code, out, err = self.run_script(*arguments)
            self.assertEqual((code, out), (0, f"attn {' '.join(arguments)}\n"), err)

    def test_a_build_is_of_the_program_unless_targets_are_named(self):
        for targets, built in (([], "attn"), (["test_base_text", "model/all"], "test_base_text model/all")):
            self.run_script("build", *targets)
            self.assertTrue(self.called("ninja")[-1].endswith(f" {built}"), built)

    def test_export_is_a_tool_that_gets_the_program(self):
        code, out, err = self.run_script("export", "runs/tiny", "--to", "ctranslate2")
        call = f"-B {self.clone}/tools/export.py --attn {self.clone}/build/release/app/attn runs/tiny --to ctranslate2\n"
        self.assertEqual((code, out), (0, call), err)

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_the_commands_are_the_programs(self):
        text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        listed = re.findall(r"(?m)^  ([a-z]+) ", text.partition("ubcommands:")[2] or text.partition("UBCOMMANDS:")[2])
        self.assertIn("train", listed)
        known = subprocess.run(["bash", "-c", 'source ./run && printf "%s\\n" "${attn_commands[@]}"'], cwd=self.clone,
                               capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(known, listed)


@unittest.skipUnless(shutil.which("cmake") and shutil.which("flock"), "needs cmake and flock")
class Together(RunTest):
    def test_a_script_that_changes_while_it_runs_is_not_read_on(self):
        self.command("ninja", (self.fake / "ninja").read_text() + """
            printf '(%.0s\\n' {1..3000} >>"$CLONE/run" """)
        code, _, err = self.run_script("build")
        self.assertEqual(code, 0, err)

    def test_two_presets_first_builds_do_not_set_up_at_once(self):
        calls = [self.start("train", ATTN_PRESET=preset, PIP_TIME="0.7") for preset in ("release", "dev")]
        for call in calls:
            out, err = call.communicate(timeout=60)
            self.assertEqual((call.returncode, out), (0, "attn train\n"), err)
        self.assertEqual(len(self.called("pip")), 1)
        self.assertEqual(self.called("two pips at once"), [])


if __name__ == "__main__":
    unittest.main()
