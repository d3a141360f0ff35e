"""The real binary: ensembles, sampling, forced decoding, the metrics of text, files in and out.

    python3 tests/app/decoding_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import gzip
import json
import math

from program import ProgramTest, main

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de",
             "vocab_size": 300, "batch_tokens": 512, "cache": "cache"},
    "model": {"layers": 1, "d_model": 32, "d_ff": 64, "heads": 2},
    "train": {"steps": 160, "schedule": "inverse_sqrt", "learning_rate": 0.005, "warmup": 10},
    "search": {"beam": 2},
}


class Decoding(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "600", "--valid", "20", "--test", "20")
        cls.write("small.json", CONFIG)
        cls.attn("train", "small.json", "--run", "one", "--set", "seed=1")
        cls.attn("train", "small.json", "--run", "two", "--set", "seed=2")
        cls.attn("train", "small.json", "--run", "gru", "--set", "model.architecture=recurrent", "model.d_model=32",
                 "model.hidden=32", "train.steps=5")
        cls.source = (cls.path / "corpus/test.en").read_text()
        cls.lines = cls.source.splitlines()

    def translate(self, *arguments, stdin=None, **options):
        return self.attn("translate", *arguments, stdin=self.source if stdin is None else stdin, **options).stdout

    def test_a_run_twice_is_the_run_and_others_are_combined(self):
        single = self.translate("one")
        self.assertEqual(self.translate("one", "one"), single)
        self.assertEqual(self.translate("one", "one", "--set", "ensemble=log_probability"), single)
        mixed = self.translate("one", "two", "gru", "--scores", threads=2)
        self.assertEqual(len(mixed.splitlines()), len(self.lines))
        evaluator = 'eval=[{"name": "valid", "kind": "loss"}]'
        loss = lambda *runs: json.loads(self.attn("eval", *runs, "--set", evaluator, "--json").stdout)["valid"]["nll"]
        one, two = loss("one"), loss("two")
        self.assertAlmostEqual(loss("one", "one"), one, places=5)
        self.assertLess(loss("one", "two"), (one + two) / 2)  # by Jensen's inequality

    def test_other_vocabularies_and_tasks_are_errors_that_name_both_runs(self):
        self.attn("train", "small.json", "--run", "other", "--set", "data.vocab_size=250", "train.steps=1")
        self.one_line("translate", "one", "other", code=2, names=["one", "other", "different source vocabulary"])

    def test_forced_decoding_scores_as_search(self):
        scored = self.translate("one", "two", "--scores")
        rows = [line.split("\t") for line in scored.splitlines()]
        self.write("out.de", "".join(row[3] + "\n" for row in rows))
        lines = self.attn("logprob", "one", "two", "--source", "corpus/test.en", "--target", "out.de", "--json").stdout
        same = 0
        for row, line in zip(rows, lines.splitlines(), strict=True):
            found = json.loads(line)
            self.assertAlmostEqual(sum(found["token_log_probs"]), found["log_prob"], places=3)
            self.assertEqual(len(found["tokens"]), len(found["token_log_probs"]))
            same += math.isclose(found["log_prob"], float(row[2]), abs_tol=1e-3)
        self.assertGreater(same, len(rows) * 0.5)  # others end at the limit, or are segmented otherwise
        self.write("short.de", "ein\n")
        self.one_line("logprob", "one", "--source", "corpus/test.en", "--target", "short.de", code=3,
                      names=["short.de", "source and target must match line by line"])
        self.write("empty", "")
        self.one_line("logprob", "one", "--source", "empty", "--target", "empty", code=3, names=["empty: empty file"])
        self.one_line("logprob", "one", "--source", "-", "--target", "out.de", code=2, names=["-: standard input"])

    def test_unknown_tokens_are_reported(self):
        self.write("unknown.en", "the 漢 sleeps .\n")
        self.write("unknown.de", "漢 漢 .\n")
        said = self.attn("translate", "one", stdin="the 漢 sleeps .\n").stderr
        self.assertRegex(said, r"warning: \d+\.\d\d % of the source tokens are unknown \(<unk>\)\n")
        self.assertNotIn("unknown", self.attn("translate", "one", stdin=self.source).stderr)
        said = self.attn("logprob", "one", "--source", "unknown.en", "--target", "unknown.de").stderr
        self.assertIn("% of the source tokens are unknown", said)
        self.assertIn("% of the target tokens are unknown", said)
        for kind, sides in {"loss": ["source", "target"], "bleu": ["source"]}.items():
            evaluator = 'eval=[{"name": "x", "kind": "%s", "data": "unknown"}]' % kind
            said = self.attn("eval", "one", "--set", evaluator).stdout
            for side in sides:
                self.assertRegex(said, r"\(warning: \d+\.\d\d % of the " + side + " tokens are unknown")
        self.assertIn("0.00 % of the source tokens are unknown (<unk>)", (self.path / "one/log.txt").read_text())

    def test_compressed_text_is_an_error_and_a_byte_order_mark_is_dropped(self):
        (self.path / "test.gz").write_bytes(gzip.compress(self.source.encode()))
        for arguments in (["translate", "one", "--input", "test.gz"], ["score", "bleu", "test.gz", "test.gz"]):
            self.one_line(*arguments, code=3, names=["test.gz: compressed (gzip"])
        text = "".join(line + "\n" for line in self.lines[:3])
        for command in (("translate", "one"), ("translate", "one", "--chunk-size", "1"), ("vocab", "one", "--encode")):
            plain = self.attn(*command, stdin=text).stdout
            self.assertEqual(self.attn(*command, stdin="\ufeff" + text.replace("\n", "\r\n")).stdout, plain)

    def test_the_output_of_a_very_long_line_stays_aligned(self):
        stdin = f"{self.lines[0]}\n{'a' * (3 << 20)}\n{self.lines[1]}\n"
        done = self.attn("translate", "one", stdin=stdin)
        expected = self.translate("one").splitlines()
        found = done.stdout.splitlines()
        self.assertEqual([found[0], *found[2:]], expected[:2])

    def test_translations_begin_with_their_prefix(self):
        # Of words: those of a subword model can be segmented otherwise than search did.
        self.attn("train", "small.json", "--run", "words", "--set", "data.tokenizer=words", "train.steps=120")
        greedy = self.translate("words", "--beam", "1").splitlines()
        words = [" ".join(line.split()[:2]) for line in greedy]
        self.write("own.de", "".join(line + "\n" for line in words))
        self.assertEqual(self.translate("words", "--beam", "1", "--prefix", "own.de").splitlines(), greedy)
        words = words[1:] + [""]
        self.write("other.de", "".join(line + "\n" for line in words))
        sample = ("--set", "method=sample", "samples=2", "seed=3")
        for how in ((), ("--set", "runtime.kernels=off"), ("--chunk-size", "3"), sample):
            lines = [line.split("\t") for line in self.translate("words", "--scores", "--prefix", "other.de", *how).splitlines()]
            for prefix, row in zip(words, lines, strict=True):
                self.assertTrue(f"{row[3]} ".startswith(f"{prefix} ".lstrip()), (prefix, row, how))
            self.write("out.de", "".join(row[3] + "\n" for row in lines))
            forced = self.attn("logprob", "words", "--source", "corpus/test.en", "--target", "out.de", "--json").stdout
            for row, line in zip(lines, forced.splitlines(), strict=True):
                found = json.loads(line)  # without EOS where the limit has cut
                whole = found["log_prob"], found["log_prob"] - found["token_log_probs"][-1]
                self.assertTrue(any(math.isclose(one, float(row[2]), abs_tol=1e-3) for one in whole), (row, found))
        words = [line.split()[0] for line in self.translate("one").splitlines()][1:] + ["Ein"]
        self.write("first.de", "".join(line + "\n" for line in words))
        self.assertEqual([line.split()[0] for line in self.translate("one", "--prefix", "first.de").splitlines()], words)
        self.write("short.de", "ein\n")
        self.one_line("translate", "words", "--input", "corpus/test.en", "--prefix", "short.de", code=3,
                      names=["short.de", "1 line", "one for each line"])

    def test_minimum_risk_chooses_among_the_hypotheses(self):
        candidates = self.translate("one", "--beam", "4", "--nbest", "4").splitlines()
        for utility in ("chrf", "bleu"):
            chosen = self.translate("one", "--beam", "4", "--set", f"mbr={utility}").splitlines()
            self.assertEqual(len(chosen), len(self.lines))
            for i, line in enumerate(chosen):
                self.assertIn(line, candidates[4 * i:4 * i + 4])
        self.one_line("translate", "one", "--set", "mbr=ter", code=2, names=["mbr", "chrf", "bleu"])

    def test_files_in_and_out_and_flags_for_common_options(self):
        out = self.translate("one", "--beam", "3", "--alpha", "1.5", "--nbest", "2")
        self.assertEqual(out, self.translate("one", "--set", "beam=3", "alpha=1.5", "nbest=2"))
        done = self.attn("translate", "one", "--input", "corpus/test.en", "--output", "file.de", "--beam", "3",
                         "--alpha", "1.5", "--nbest", "2")
        self.assertEqual(done.stdout, "")
        self.assertEqual((self.path / "file.de").read_text(), out)
        self.assertFalse((self.path / "file.de.partial").exists())
        self.assertEqual(self.translate("one", "--input", "-", "--output", "-"), self.translate("one"))
        self.assertFalse((self.path / "-").exists())
        self.one_line("translate", "one", "--input", "missing.en", code=3, names=["cannot read 'missing.en': No such file"])
        self.one_line("translate", "one", "--input", "missing.en", "--output", "none.de", code=3, names=["missing.en"])
        self.one_line("translate", "one", "--output", "no/such/folder", code=3, names=["no/such/folder.partial"])
        self.one_line("translate", "one", "--beam", "0", code=2, names=["search.beam: 0"])

    def test_contrastive_accuracy_and_ter_as_evaluators(self):
        right = (self.path / "corpus/valid.de").read_text().splitlines()
        wrong = [" ".join(line.split()[::-1]) + "\t" + line.split()[0] for line in right]  # in sum, one word may be the best
        self.write("wrong.de", "\n".join(wrong) + "\n")
        evaluators = [{"name": "pairs", "kind": "contrastive", "wrong": "wrong.de"},
                      {"name": "mean", "kind": "contrastive", "wrong": "wrong.de", "per_token": True},
                      {"name": "edits", "kind": "ter"}]
        found = json.loads(self.attn("eval", "one", "--set", "eval=" + json.dumps(evaluators), "--output", "outputs", "--json").stdout)
        self.write("all.de", "\n".join(text for line, pair in zip(right, wrong) for text in (line, *pair.split("\t"))) + "\n")
        self.write("all.en", "".join(3 * line for line in (self.path / "corpus/valid.en").read_text().splitlines(True)))
        rows = [line.split("\t") for line in self.attn("logprob", "one", "--source", "all.en", "--target", "all.de").stdout.splitlines()]
        for name, scores in (("pairs", [float(sum_) for sum_, _ in rows]), ("mean", [float(sum_) / int(tokens) for sum_, tokens in rows])):
            wins = [scores[i] > max(scores[i + 1:i + 3]) for i in range(0, len(scores), 3)]
            self.assertAlmostEqual(found[name]["contrastive"], 100 * sum(wins) / len(wins), msg=name)
        self.assertNotEqual(found["pairs"]["contrastive"], found["mean"]["contrastive"])
        scored = json.loads(self.attn("score", "ter", "outputs/edits.txt", "corpus/valid.de", "--json").stdout)
        self.assertEqual(found["edits"]["ter"], scored["score"])
        self.assertEqual(found["edits"]["signature"], scored["signature"])
        self.write("wrong.de", "\n".join(right) + "\n")
        self.one_line("eval", "one", "--set", "eval=" + json.dumps(evaluators), code=3,
                      names=["wrong.de:1", "must differ from the reference in its tokens"])

    def test_metrics_are_compared_with_a_baseline(self):
        self.write("base.de", self.translate("gru"))
        self.write("out.de", self.translate("one"))
        files = ("out.de", "corpus/test.de")
        for command, *options in (("bleu", "--tokenize", "none"), ("chrf", "--word-order", "2"), ("ter",)):
            found = json.loads(self.attn("score", command, *files, *options, "--baseline", "base.de", "--json").stdout)
            self.assertIn("p_value", found)
        same = self.attn("score", "bleu", *files, "--tokenize", "none", "--baseline", "out.de")
        self.assertIn("warning: out.de: each sentence scores as in the scored output", same.stderr)


if __name__ == "__main__":
    main()
