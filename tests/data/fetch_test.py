"""data/fetch against a web server on this machine's loopback address: no network is needed."""

import contextlib
import dataclasses
import gzip
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import unittest.mock
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_script():
    """data/fetch as a module: its name has no .py."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("fetch", str(ROOT / "data" / "fetch"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch", loader))
    sys.modules["fetch"] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


fetch = load_script()


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` ({path: bytes}). `cut` ends that many answers half way; `ranges` says if Range is understood."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cut, self.ranges, self.requests = {}, 0, True, []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, start = self.server, 0
        wanted = self.headers["Range"]
        server.requests.append((self.path, wanted))
        body = server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        if wanted and server.ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        rest = body[start:]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if server.cut:
            server.cut -= 1
            rest = rest[:len(rest) // 2]
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


def archive(members):
    """A .tgz of {name: bytes}."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as out:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return packed.getvalue()


class FetchTest(unittest.TestCase):
    def setUp(self):
        os.environ.update(no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
        self.server = Server()
        thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.into = Path(folder.name)
        self.talk = io.StringIO()
        silence = contextlib.redirect_stderr(self.talk)
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def source(self, name, body, **changes):
        """Serves the body and returns its description, checksum and all."""
        self.server.files["/" + name] = body
        facts = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest(), **changes}
        return fetch.Source(name, (self.url(name),), **facts)

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def download(self, source):
        return fetch.download(source, self.into / "d", timeout=5, pause=0.01)

    def make(self, corpus):
        fetch.fetch("toy", corpus, self.into, timeout=5, pause=0.01)
        return self.into / "toy"

    def toy(self, english=b"one\ntwo\n", german=b"eins\nzwei\n", **changes):
        sources = (self.source("t.en.gz", gzip.compress(english)), self.source("t.de", german))
        splits = {"train": {"en": (fetch.Part("t.en.gz", (), "gzip"),), "de": (fetch.Part("t.de"),)}}
        return fetch.Corpus(**{"about": "a toy", "terms": "none", "sources": sources, "splits": splits, "lines": {"train": 2}, **changes})


class Download(FetchTest):
    def test_a_file_arrives_whole_and_is_not_fetched_again(self):
        """Nor is one that was put there by hand."""
        body = bytes(range(256)) * 5000
        for name, requests in (("a", 1), ("by-hand", 1)):
            source = self.source(name, body)
            if name == "by-hand":
                (self.into / "d" / name).write_bytes(body)
            for _ in range(2):
                self.assertEqual(self.download(source).read_bytes(), body)
            self.assertEqual(len(self.server.requests), requests)

    def test_a_cut_connection_is_resumed_where_it_broke_off(self):
        body = bytes(range(256)) * 4000
        self.server.cut = 2
        self.assertEqual(self.download(self.source("a", body)).read_bytes(), body)
        half = len(body) // 2
        self.assertEqual([wanted for _, wanted in self.server.requests], [None, f"bytes={half}-", f"bytes={half + half // 2}-"])

    def test_a_download_stopped_in_an_earlier_run_is_resumed(self):
        """Also from a server that ignores Range; a part longer than the file, or of another file, is no part of it."""
        source = self.source("a", b"0123456789")
        (self.into / "d").mkdir()
        for part, ranges, wanted in ((b"0123", True, [4]), (b"0123", False, [4]), (b"0123456789abcdef", True, [16, None]),
                                     (b"wxyz", True, [4, None]), (b"0123456789", True, [])):
            self.server.ranges, self.server.requests = ranges, []
            (self.into / "d" / "a").unlink(missing_ok=True)
            (self.into / "d" / "a.part").write_bytes(part)
            self.assertEqual(self.download(source).read_bytes(), b"0123456789")
            self.assertEqual(self.server.requests, [("/a", start and f"bytes={start}-") for start in wanted])

    def test_a_wrong_checksum_or_size_is_rejected_and_nothing_of_it_kept(self):
        for changes, reason in (({"sha256": "0" * 64}, "SHA-256"), ({"size": 5}, "has 4 bytes, expected 5")):
            with self.assertRaisesRegex(fetch.FetchError, reason):
                self.download(self.source("a", b"text", **changes))
            self.assertEqual(list((self.into / "d").iterdir()), [])

    def test_without_a_network_one_line_says_what_to_do(self):
        source = fetch.Source("a", ("http://127.0.0.1:1/a",))  # nobody listens there
        with self.assertRaises(fetch.FetchError) as caught:
            self.download(source)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        self.assertIn("http://127.0.0.1:1/a", message)
        self.assertIn("Check the network", message)
        self.assertIn(str(self.into / "d"), message)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_is_not_taken_for_a_missing_network(self):
        source = self.source("a", b"text")
        (self.into / "d").mkdir()
        (self.into / "d" / "a.part").symlink_to("/dev/full")
        with self.assertRaisesRegex(fetch.FetchError, "a.part: No space left on device") as caught:
            self.download(source)
        self.assertNotIn("network", str(caught.exception))
        self.assertEqual(len(self.server.requests), 1)

    def test_the_second_address_serves_when_the_first_has_nothing_or_a_broken_archive(self):
        for broken in (None, b"<html>moved</html>", archive({"x": b"y"})[:20], b"\xfd7zXZ\x00\x00\x04cut", b"BZh91AY&SYcut"):
            page = fetch.Source("a.tgz", (self.url("broken"), self.url("a.tgz")))
            self.server.files = {"/a.tgz": archive({"x": b"y"})} | ({"/broken": broken} if broken else {})
            path = self.download(page)
            self.assertEqual(path.read_bytes(), self.server.files["/a.tgz"])
            path.unlink()


class Unpack(FetchTest):
    def test_sides_come_out_as_plain_lines_and_a_second_call_does_nothing(self):
        folder = self.make(self.toy())
        before = len(self.server.requests)
        self.make(self.toy())
        self.assertEqual(len(self.server.requests), before)
        self.assertEqual((folder / "train.en").read_bytes(), b"one\ntwo\n")
        self.assertEqual((folder / "train.de").read_bytes(), b"eins\nzwei\n")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["ABOUT.txt", "train.de", "train.en"])
        self.assertEqual([path.name for path in (self.into / ".downloads").iterdir()], [])

    def test_ends_of_line_are_made_one_kind_and_others_do_not_split_a_sentence(self):
        text = "one\u2028half\x0b\r\ntwo".encode()
        folder = self.make(self.toy(english=text, german=b"eins\nzwei"))
        self.assertEqual((folder / "train.en").read_bytes(), text.replace(b"\r", b"") + b"\n")
        self.assertEqual((folder / "train.de").read_bytes(), b"eins\nzwei\n")

    def test_other_line_counts_are_rejected_and_only_downloads_are_left(self):
        for changes, reason in (({"german": b"eins\n"}, "expected 2 lines, got 2 in en, 1 in de"), ({"lines": {"train": 3}}, "expected 3 lines")):
            with self.assertRaisesRegex(fetch.FetchError, reason):
                self.make(self.toy(**changes))
            self.assertEqual([path.name for path in self.into.iterdir()], [".downloads"])
            self.assertEqual(sorted(path.name for path in (self.into / ".downloads" / "toy").iterdir()), ["t.de", "t.en.gz"])
            fetch.shutil.rmtree(self.into / ".downloads")

    def test_every_nth_pair_is_moved_on_both_sides(self):
        corpus = self.toy(b"1\n2\n3\n4\n5\n", b"a\nb\nc\nd\ne\n", lines={}, every_nth_to={"train": (2, "valid")})
        folder = self.make(corpus)
        self.assertEqual((folder / "train.en").read_bytes(), b"1\n3\n5\n")
        self.assertEqual((folder / "valid.en").read_bytes(), b"2\n4\n")
        self.assertEqual((folder / "valid.de").read_bytes(), b"b\nd\n")

    def german(self, source, *parts):
        """The text of one side that is made of these parts."""
        corpus = self.toy(sources=(source,), splits={"train": {"de": tuple(fetch.Part(source.name, *part) for part in parts)}}, lines={})
        return (self.make(corpus) / "train.de").read_bytes()

    def test_archive_members_are_joined_in_the_recipes_order(self):
        source = self.source("a.tgz", archive({"x/2.de": b"zwei\n", "x/1.de": b"eins\n", "other": b"no\n"}))
        self.assertEqual(self.german(source, (("x/1.de",),), (("x/2.de",),)), b"eins\nzwei\n")

    def test_the_first_of_a_parts_members_is_taken_whatever_the_archives_order(self):
        source = self.source("a.tgz", archive({"second": b"zwei\n", "first": b"eins\n", "third": b"drei\n"}))
        self.assertEqual(self.german(source, (("missing", "first", "second", "third"),)), b"eins\n")

    def test_a_file_that_is_no_archive_is_read_in_its_form(self):
        source = self.source("a.sgm", b"<doc>\n<seg>one</seg>\n<seg>two</seg>\n</doc>\n")
        self.assertEqual(self.german(source, ((), "seg")), b"one\ntwo\n")

    def test_an_unknown_form_is_an_error_of_the_recipes(self):
        corpora = json.loads((ROOT / "data" / "corpora.json").read_text(encoding="utf-8"))
        next(iter(next(iter(corpora["multi30k"]["splits"].values())).values()))[0]["form"] = "sgm"
        path = self.into / "corpora.json"
        path.write_text(json.dumps(corpora), encoding="utf-8")
        with self.assertRaisesRegex(fetch.FetchError, "multi30k: form 'sgm'"):
            fetch.load(path)

    def test_a_member_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(fetch.FetchError, "contains no wanted or otherwise"):
            self.german(self.source("a.tgz", archive({"x": b"y\n"})), (("wanted", "otherwise"),))

    def test_an_archive_cannot_write_outside_its_folder(self):
        self.german(self.source("a.tgz", archive({"../../evil": b"evil\n", "x": b"y\nz\n"})), (("x",),))
        self.assertEqual([path for path in self.into.rglob("evil*")], [])

    def test_segments_of_a_test_set_are_read(self):
        text = b'<doc id="1">\n<p>\n<seg id="1"> A &amp; B  &lt;c&gt; </seg>\n<seg id="2">two\nlines</seg>\n</doc>'
        self.assertEqual(list(fetch.sentences(io.BytesIO(text), "seg")), [b"A & B <c>", b"two lines"])

    def test_a_talk_is_read_without_what_describes_it(self):
        text = (b"<url>http://x</url>\n<keywords>k</keywords>\n<talkid>1</talkid>\n<title>The title</title>\n"
                b"<description>What it is</description>\nA sentence .\n<reviewer href=x>r</reviewer>\nx < y\n")
        self.assertEqual(list(fetch.sentences(io.BytesIO(text), "ted")), [b"The title", b"What it is", b"A sentence .", b"x < y"])


    def test_what_somebody_else_made_stays_and_nothing_is_fetched(self):
        corpus, place = self.toy(), self.into / "toy"

        def folder_of(name, text):
            place.mkdir()
            (place / name).write_text(text)

        for make in (place.touch, lambda: place.symlink_to("nowhere"), place.mkdir, lambda: folder_of("mine.txt", "mine"),
                     lambda: folder_of("ABOUT.txt", "my own notes")):
            make()
            before = [path.read_text() for path in place.glob("*")]
            with self.assertRaisesRegex(fetch.FetchError, "^[^\n]*toy exists and was not made by data/fetch: [^\n]*--into[^\n]*$"):
                self.make(corpus)
            self.assertEqual([path.read_text() for path in place.glob("*")], before)
            self.assertTrue(os.path.lexists(place))
            self.assertEqual([path.name for path in self.into.iterdir()], ["toy"])
            fetch.shutil.rmtree(place) if place.is_dir() else place.unlink()
        self.assertEqual(self.server.requests, [])

    def test_a_folder_that_appears_meanwhile_stays(self):
        corpus, assemble = self.toy(), fetch.assemble

        def slow(*arguments):
            (self.into / "toy").mkdir()
            (self.into / "toy" / "mine.txt").write_text("mine")
            return assemble(*arguments)

        with unittest.mock.patch.object(fetch, "assemble", slow):
            with self.assertRaisesRegex(fetch.FetchError, "was not made by data/fetch"):
                self.make(corpus)
        self.assertEqual([path.name for path in (self.into / "toy").iterdir()], ["mine.txt"])
        self.assertEqual(sorted(path.name for path in self.into.iterdir()), [".downloads", "toy"])

    def test_other_files_beside_the_corpus_and_the_downloads_stay(self):
        for folder in (".toy.new", ".downloads/toy/own"):
            (self.into / folder).mkdir(parents=True)
            (self.into / folder / "mine.txt").write_text("mine")
        self.make(self.toy())
        self.assertTrue((self.into / ".toy.new" / "mine.txt").exists())
        self.assertEqual([path.name for path in (self.into / ".downloads" / "toy").iterdir()], ["own"])
        self.assertTrue((self.into / ".downloads" / "toy" / "own" / "mine.txt").exists())

    def test_a_corpus_can_be_read_by_whom_the_umask_lets(self):
        self.addCleanup(os.umask, os.umask(0o022))
        self.assertEqual(self.make(self.toy()).stat().st_mode & 0o777, 0o755)


class Broken(FetchTest):
    """Files that have the right checksum or none, and cannot be unpacked."""

    def run_main(self, corpus, into=None):
        """data/fetch's exit code and the last line of what it wrote."""
        with unittest.mock.patch.object(fetch, "load", lambda *_: {"toy": corpus}):
            code = fetch.main(["toy", "--into", str(into or self.into)])
        return code, self.talk.getvalue().splitlines()[-1]

    def assert_one_line(self, corpus, name):
        code, line = self.run_main(corpus)
        self.assertEqual(code, 3)
        self.assertRegex(line, f"^data/fetch: .*{name}: cannot be unpacked \\(.*\\); remove it, then run this again$")
        self.assertFalse((self.into / "toy").exists())

    def gzip_corpus(self, body):
        corpus = self.toy()
        return dataclasses.replace(corpus, sources=(self.source("t.en.gz", body), corpus.sources[1]))

    def archive_corpus(self, body):
        part = fetch.Part("a.tgz", ("x",))
        return self.toy(sources=(self.source("a.tgz", body),), splits={"train": {"de": (part,)}}, lines={})

    def test_a_broken_gzip_is_one_line(self):
        packed = gzip.compress(os.urandom(5000))
        flipped = bytearray(packed)
        flipped[10:40] = b"\xff" * 30
        for body in (b"no gzip at all", packed[:2000], packed[:-4], bytes(flipped), packed + b"more"):
            self.assert_one_line(self.gzip_corpus(body), "t.en.gz")
            (self.into / ".downloads" / "toy" / "t.en.gz").unlink()

    def test_a_broken_archive_is_one_line(self):
        self.assert_one_line(self.archive_corpus(b"PK\x03\x04" + bytes(200)), "a.tgz")
        (self.into / ".downloads" / "toy" / "a.tgz").unlink()
        for kind in ("gz", "bz2", "xz", ""):
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode=f"w:{kind}") as out:
                info = tarfile.TarInfo("x")
                info.size = 50000
                out.addfile(info, io.BytesIO(os.urandom(50000)))
            whole = packed.getvalue()
            broken = [whole[:20], whole[:len(whole) // 2]]
            if kind:
                broken.append(whole[:20000] + bytes(10000) + whole[30000:])
            for body in broken:
                self.assert_one_line(self.archive_corpus(body), "a.tgz")
                (self.into / ".downloads" / "toy" / "a.tgz").unlink()

    def test_another_encoding_is_read_without_an_error(self):
        for text in ("Stra\u00dfe\n".encode("latin-1"), "one\ntwo\n".encode("utf-16"), b"\xff\xfe\x00\n"):
            for form in ("seg", "ted", "text"):
                list(fetch.sentences(io.BytesIO(b"<seg>" + text + b"</seg>"), form))

    def test_a_disk_that_is_full_while_unpacking_is_one_line(self):
        (limit, hard), body = resource.getrlimit(resource.RLIMIT_FSIZE), b"a long line\n" * 50000
        corpus = self.gzip_corpus(gzip.compress(body))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, hard))
        code, line = self.run_main(corpus)
        self.assertEqual(code, 3)
        self.assertRegex(line, "^data/fetch: .*: File too large. Free some space, then run this again$")
        self.assertEqual([path.name for path in self.into.iterdir()], [".downloads"])

    def test_an_output_folder_that_cannot_be_made_is_one_line(self):
        (self.into / "file").touch()
        code, line = self.run_main(self.toy(), self.into / "file")
        self.assertEqual(code, 3)
        self.assertRegex(line, r"^data/fetch: .*file.*: Not a directory\b.*$")


class Treebanks(FetchTest):
    def make(self, name, files, test=False, **listed):
        """Fetches a treebank of {split: {file: bytes}}; returns {file: text}."""
        hashes = {split: {file: hashlib.sha256(body).hexdigest() for file, body in of_split.items()} for split, of_split in files.items()}
        self.server.files.update({"/" + file: body for of_split in files.values() for file, body in of_split.items()})
        entry = {"about": "toy", "terms": "none", "lines": {}, "citation": "Somebody 2000"}
        corpus = fetch.load_treebank(entry, {"base": self.url(""), "files": hashes, **listed}, test)
        fetch.fetch(name, corpus, self.into, timeout=5, pause=0.01)
        return {path.name: path.read_text(encoding="utf-8") for path in (self.into / name).iterdir() if path.suffix == ".ptb"}

    def test_traces_and_function_tags_are_removed_and_each_tree_is_one_line(self):
        body = b"( (S (NP-SBJ-1 (NNP Ann) )\n  (ADVP|PRT (RB back))\n (VP (-LRB- -LRB-) (NP=2 (-NONE- *T*-1)))) )\n(NP (NN a b))(X (-NONE- 0))"
        made = self.make("toy", {"train": {"b/one": body, "two": b"(ROOT (NP (NN\tsea)))"}, "dev": {"three": b"(NP (NN\xc2\xa0 x))"}})
        self.assertEqual(made, {"train.ptb": "(TOP (S (NP (NNP Ann)) (ADVP (RB back)) (VP (-LRB- -LRB-))))\n(TOP (NP (NN sea)))\n",
                                "dev.ptb": "(TOP (NP (NN x)))\n"})
        self.assertIn("please cite Somebody 2000", self.talk.getvalue())

    def test_a_test_set_is_written_only_when_asked_for(self):
        files = {"train": {"one": b"(NP (NN a))"}, "test": {"two": b"(NP (NN b))"}}
        self.assertEqual(list(self.make("toy", files, suffix=".silver.ptb")), ["train.silver.ptb"])
        self.assertNotIn("/two", [path for path, _ in self.server.requests])
        with self.assertRaisesRegex(fetch.FetchError, "made without --test: remove the folder"):
            self.make("toy", files, test=True)
        self.assertEqual(self.make("other", files, test=True)["test.ptb"], "(TOP (NP (NN b)))\n")

    def test_a_broken_tree_is_one_line_with_its_place(self):
        for body, reason in ((b"(NP (NN a))\n(NP (NN b)", "one:2: a tree begins here that is not complete"), (b"(NP\n(NN a)))", r"one:2: '\)' outside"),
                             (b"(A " * 100_000, "one:1: more than 400"), (b"(NP (NN \xff))", "UnicodeDecodeError")):
            with self.assertRaisesRegex(fetch.FetchError, f"(?s)^[^\n]*{reason}[^\n]*$"):
                self.make("toy", {"train": {"one": body}})
            self.assertFalse((self.into / "toy").exists())
            fetch.shutil.rmtree(self.into / ".downloads")

    def test_a_treebank_of_ones_own_may_have_any_layout_and_encoding(self):
        trees, made = "( (NP-SBJ-1 (NN é)\r\n (X (-NONE- *))))\n(VROOT (Y z))(Y z)", "(TOP (NP (NN é)))\n(TOP (Y z))\n(TOP (Y z))\n"
        for body, options, printed in ((b"\xef\xbb\xbf" + trees.encode(), [], made), (trees.encode("latin-1"), ["--encoding=latin-1"], made),
                                       (b"(S (A a) stray)", [], "own:1: the word stray has no tag of its own\n"), (b"(TOP z)", [], "own:1: the word z has no tag of its own\n"),
                                       (b"(A (B c d))\n(Y z)", [], "(TOP (Y z))\nown: trees left out because a word has a blank inside: 1\n"),
                                       (b"(Y\n(-LRB- ()))", [], "own:2: a bracket without a tag and a word (); round brackets are written as -LRB- and -RRB-\n"),
                                       (b"(Y \xe9)", [], "own: not utf-8 at byte 3; give --encoding, such as latin-1\n")):
            (self.into / "own").write_bytes(body)
            done = subprocess.run([sys.executable, ROOT / "data/treebanks.py", *options, "own"], cwd=self.into, capture_output=True, check=False)
            self.assertEqual((done.stdout + done.stderr).decode(), printed)

    def test_genia_is_made_from_its_abstracts_and_its_division(self):
        abstract = (b'<A><sentence><cons cat="S"><cons cat="NP" null="NONE"/><tok cat="LQT">"</tok><tok cat="NN">a (b</tok>'
                    b'<tok cat="PERIOD">.</tok></cons></sentence></A>')
        train = {"trees.tgz": archive({"GENIA_treebank_v1/17.xml": abstract}), "ids": b"00017\n"}
        made = self.make("genia", {"train": train, "dev": {"trees": b"(S1 (S (NP (NN -LSB-x&lt;))))"}})
        self.assertEqual(made, {"train.ptb": "(TOP (S (S (`` ``) (NN a-LRB-b) (. .))))\n", "dev.ptb": "(TOP (S (NP (NN [x<))))\n"})
        with self.assertRaisesRegex(fetch.FetchError, "contains no GENIA_treebank_v1/18.xml"):
            fetch.shutil.rmtree(self.into / "genia")
            self.make("genia", {"train": train | {"ids": b"018"}})

    def test_the_wsj_sample_is_divided_by_file(self):
        with zipfile.ZipFile(packed := io.BytesIO(), "w") as out:
            for number in range(1, 161):
                out.writestr(f"treebank/combined/wsj_{number:04d}.mrg", f"( (NP (CD {number})) )")
        made = self.make("wsj-sample", {split: {"treebank.zip": packed.getvalue()} for split in ("train", "dev", "test")})
        self.assertEqual({name: (len(text.split("\n")) - 1, text.split("\n")[0]) for name, text in made.items()},
                         {"train.ptb": (130, "(TOP (NP (CD 1)))"), "dev.ptb": (30, "(TOP (NP (CD 131)))")})


class Recipes(unittest.TestCase):
    def test_parts_and_sources_splits_addresses_and_checksums_are_consistent(self):
        for name, corpus in fetch.load(ROOT / "data" / "corpora.json").items():
            used = {part.source for sides in corpus.splits.values() for parts in sides.values() for part in parts}
            used |= {source for sources in corpus.trees.values() for source in sources}
            self.assertEqual(used, {source.name for source in corpus.sources}, name)
            for split, sides in corpus.splits.items():
                self.assertEqual([len(sides), len({len(parts) for parts in sides.values()})], [2, 1], (name, split))
            for source in corpus.sources:
                self.assertTrue(source.urls and all(url.startswith("https://") for url in source.urls), source)
                self.assertRegex(source.sha256 + source.md5, "^([0-9a-f]{64}|[0-9a-f]{32})$", source)


class CommandLine(FetchTest):
    def test_no_corpus_or_an_unknown_one_is_a_mistake_of_usage(self):
        for arguments in (["nonsense"], []):
            with self.assertRaises(SystemExit) as caught:
                fetch.main(arguments)
            self.assertEqual(caught.exception.code, 2)
        self.assertIn("multi30k", self.talk.getvalue())


if __name__ == "__main__":
    unittest.main()
