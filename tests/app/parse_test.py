"""The program as a parser: from generated trees to F1, unusual sentences, and errors.

    python3 tests/app/parse_test.py path/to/attn

Standard library alone, in a temporary directory.
"""
import json
import re

from program import ProgramTest, main, small_config

CONFIG = {
    "seed": 3,
    "data": {"task": "parsing", "train": "corpus/train.ptb", "valid": "corpus/valid.ptb", "tokenizer": "words",
             "shared_vocabulary": False, "min_frequency": 2, "unknown_classes": True, "batch_tokens": 512},
    "model": {"layers": 1, "d_model": 32, "d_ff": 64, "heads": 2,
              "embedding_sharing": "decoder"},
    "train": {"steps": 200, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 20, "log_every": 20,
              "checkpoint_every": 200},
    "search": {"beam": 3, "alpha": 0.3, "extra_length": 60},
    "eval": [{"name": "loss", "kind": "loss", "every": 50},
             {"name": "test", "kind": "parse", "data": "corpus/test.ptb", "every": 0}],
}


def read_tree(text):
    """A tree as nested lists; raises ValueError for anything else."""
    tokens = re.findall(r"[()]|[^ \t\r\n\f\v()]+", text)
    stack = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], list):
        raise ValueError(text)
    return stack[0][0]


def words_of(tree):
    if len(tree) == 2 and isinstance(tree[1], str):
        return [tree[1]]
    return [word for child in tree[1:] for word in words_of(child)]


class Parse(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1200", "--valid", "40", "--test", "40")
        cls.write("parse.json", CONFIG)
        cls.training = cls.attn("train", "parse.json", "--run", "tags").stderr
        cls.write("xx.json", {"base": "parse.json", "data": {"tree_form": "xx", "tokenizer": "bpe", "vocab_size": 300}})
        cls.attn("train", "xx.json", "--run", "xx", "--set", "train.steps=10", "--set", "eval=[]")
        cls.attn("train", "parse.json", "--run", "words", "--set", "train.steps=30", "--set", "model.word_positions=true",
                 "--set", "model.deterministic_attention=true", "--set", 'eval=[{"name": "loss", "kind": "loss", "every": 10}]')

    def test_a_tree_that_is_too_long_is_named_by_its_line_of_the_encoded_text(self):
        said = self.attn("train", "parse.json", "--run", "short", "--set", "train.steps=1", "eval=[]", "data.max_length=30").stderr
        line = next(line for line in said.splitlines() if "overlong" in line)
        places = re.findall(r"(\S+/trees-\w+\.(?:words|symbols)):(\d+)", line)
        self.assertEqual(len(places), 3, line)
        for text, number in places:
            tokens = (self.path / text).read_text(encoding="utf8").splitlines()[int(number) - 1].split()
            self.assertGreater(len(tokens) + 1, 30, line)

    def test_known_words_keep_to_the_tags_they_had_in_training(self):
        known = {}
        for line in (self.path / "tags/tags.txt").read_text(encoding="utf8").splitlines():
            word, tags = line.split("\t")
            known[word] = [tag.rsplit(":", 1)[0].lstrip("=") for tag in tags.split()]
        self.assertGreater(len(known), 50)
        # Unconstrained, the first checkpoint of a short run would output malformed trees.
        trees = self.attn("parse", "tags", "--set", "known_tags=1", "--set", "beam=1",
                          stdin="".join(line + "\n" for line in self.sentences())).stdout
        leaves = re.findall(r"\(([^ ()]+) ([^ ()]+)\)", trees)
        self.assertGreater(len(leaves), 100)
        for tag, word in leaves:
            self.assertIn(tag, known.get(word, [tag]), word)

    def test_known_tags_without_the_tags_is_said(self):
        newest = sorted((self.path / "tags/checkpoints").glob("step-*"))[-1]
        bare = self.path / "bare"
        bare.mkdir()
        for file in newest.iterdir():
            if file.name != "tags.txt":
                (bare / file.name).write_bytes(file.read_bytes())
        self.one_line("parse", "bare", "--set", "known_tags=1", code=3, names=["known_tags", "tags.txt"])

    def sentences(self):
        return (self.path / "corpus/test.en").read_text().splitlines()

    def test_training_writes_scores_and_trees(self):
        metrics = [json.loads(line) for line in (self.path / "tags/metrics.jsonl").read_text().splitlines()]
        loss = [m["ppl"] for m in metrics if m.get("name") == "loss"]
        self.assertLess(loss[-1], loss[0])
        last = [m for m in metrics if m.get("name") == "test"][-1]
        self.assertEqual(last["repaired"], 0)
        self.assertLess(last["errors"], 40)  # EVALB finds commas by their tags, which may be wrong
        self.assertGreater(last["f1"], 20)
        self.assertGreater(last["f1"], last["strict_f1"])
        trees = (self.path / "tags/eval/test-200.txt").read_text().splitlines()
        self.assertEqual([" ".join(words_of(read_tree(t))) for t in trees], self.sentences())
        score = json.loads(self.attn("score", "parse", "corpus/test.ptb", "tags/eval/test-200.txt", "--json").stdout)
        for name in ("f1", "strict_f1", "recall", "precision", "complete", "tagging", "errors"):
            self.assertAlmostEqual(score[name], last[name], places=6)
        self.assertIn("attn parse tags", self.training)
        self.write("others.ptb", "(S (A other) (B words))\n" * len(trees))
        done = self.attn("score", "parse", "corpus/test.ptb", "others.ptb", code=3)
        self.assertIn("no sentence could be scored", done.stderr)

    def test_trees_keep_order_words_and_lines_whatever_the_sentences(self):
        odd = ["", "  ", "word " * 700, "(a) [b] \\ / -LRB- <unk> <s> \u00e4\u00a0\ufffd", "f(x) a\tb\u000bc", "x" * 3000, "/S S /S", "."]
        lines = self.sentences()[:4] + odd + self.sentences()[4:6]
        for run in ("tags", "xx", "words"):
            for assignments in ([], ["--set", "constrained=false"], ["--set", "beam=1", "--set", "extra_length=3"]):
                with self.subTest(run=run, assignments=assignments):
                    done = self.attn("parse", run, *assignments, stdin="\n".join(lines) + "\n")
                    trees = done.stdout.split("\n")[:-1]
                    self.assertEqual(len(trees), len(lines))
                    for line, tree in zip(lines, trees):
                        wanted = line.replace("(", "-LRB-").replace(")", "-RRB-")
                        wanted = [w for w in re.split("[ \t\r\f\v]+", wanted) if w]
                        self.assertEqual(words_of(read_tree(tree)) if wanted else tree, wanted or "()")
                    self.assertRegex(done.stderr, r"1 line longer than \d+ words \(first: line 7\)")
                    self.assertTrue("cut at the length limit" in done.stderr or "extra_length=3" not in assignments or run == "xx")
                    if not assignments:
                        self.assertNotIn("repaired", done.stderr)

    def test_a_loaded_model_counts_words_as_the_trained_one_did(self):
        metrics = [json.loads(line) for line in (self.path / "words/metrics.jsonl").read_text().splitlines()]
        trained = [m["ppl"] for m in metrics if m.get("name") == "loss"][-1]
        loaded = json.loads(self.attn("eval", "words/checkpoints/step-00000030", "--json").stdout)
        self.assertAlmostEqual(loaded["loss"]["ppl"], trained, places=4)

    def test_malformed_output_is_counted(self):
        # An untrained model without the constraint writes no trees.
        done = self.attn("parse", "xx", "--set", "constrained=false", "--set", "beam=1", stdin="\n".join(self.sentences()) + "\n")
        self.assertRegex(done.stderr, r"\d+ of 40 outputs repaired: not well-formed trees")
        self.assertRegex(done.stderr, r"\d+ of 40 outputs cut at the length limit \(search.extra_length")

    def test_chunks_and_n_best_lists(self):
        line = self.sentences()[0] + "\n"
        alone = self.attn("parse", "tags", "--chunk-size", "1", stdin=line).stdout
        together = self.attn("parse", "tags", stdin=line + line).stdout
        self.assertEqual(together, alone + alone)
        rows = [r.split("\t") for r in self.attn("parse", "tags", "--scores", "--set", "nbest=3", stdin=line).stdout.splitlines()]
        self.assertEqual(len(rows), 3)
        self.assertEqual(sorted((float(r[1]) for r in rows), reverse=True), [float(r[1]) for r in rows])
        self.assertEqual(len({r[3] for r in rows}), 3)

    def test_the_tree_of_highest_expected_f1_has_the_words_of_its_line(self):
        lines = (self.path / "corpus/test.ptb").read_text().splitlines()[:20]
        words = [words_of(read_tree(line)) for line in lines]
        text = "".join(" ".join(sentence) + "\n" for sentence in words) + "\n"
        rows = [row.split("\t") for row in self.attn("parse", "tags", "--scores", "--beam", "8", "--set", "mbr=f1",
                                                     stdin=text).stdout.splitlines()]
        self.assertEqual([words_of(read_tree(row[3])) for row in rows], [*words, []])
        self.assertTrue(all(0 < float(row[1]) <= 100 for row in rows[:-1]))
        self.one_line("parse", "tags", "--set", "mbr=f1", "nbest=2", code=2, names=["nbest", "mbr=f1"], stdin=text)
        self.one_line("parse", "tags", "--set", "mbr=chrf", code=2, names=["mbr", "data.task=translation"], stdin=text)

    def test_sampled_trees_have_equal_weights_in_the_fused_one(self):
        text = "".join(" ".join(words_of(read_tree(line))) + "\n" for line in (self.path / "corpus/test.ptb").read_text().splitlines()[:10])
        sample = ["--set", "method=sample", "samples=7", "temperature=1.5"]
        fused = self.attn("parse", "tags", "--scores", *sample, "mbr=f1", stdin=text).stdout.splitlines()
        lists = self.attn("parse", "tags", "--nbest-list", *sample, "nbest=7", stdin=text).stdout
        self.write("samples.nbest", lists)
        self.write("equal.nbest", re.sub(r"logp= \S+", "logp= 0", lists))
        expected = self.attn("fuse", "equal.nbest", "--scores").stdout.splitlines()
        self.assertEqual(self.attn("fuse", "samples.nbest", "--samples", "--scores").stdout.splitlines(), expected)
        columns = lambda rows, *places: [[row.split("\t")[i] for i in places] for row in rows]
        self.assertEqual(columns(fused, 0, 1, 3), columns(expected, 0, 1, 2))
        self.assertGreater(len(set(lists.splitlines())), 30)

    def test_plain_text_can_be_tokenized(self):
        for mark in ("", "\ufeff"):  # a byte order mark is no part of the first word
            tree = self.attn("parse", "tags", "--tokenize", stdin=mark + 'The dog doesn\'t sleep (now).\n').stdout
            self.assertEqual(words_of(read_tree(tree)), ["The", "dog", "does", "n't", "sleep", "-LRB-", "now", "-RRB-", "."])

    def test_own_parses_are_silver_for_the_next_training(self):
        self.write("silver.ptb", self.attn("parse", "tags", stdin="\n".join(self.sentences()) + "\n").stdout)
        said = self.attn("train", "parse.json", "--run", "silver", "--set", "train.steps=2", "--set", "eval=[]",
                         "--set", 'data.silver=["silver.ptb"]', "--set", "data.silver_ratio=0.5").stderr
        self.assertIn("silver.ptb: 40 trees", said)
        self.assertIn("sentence of silver.ptb is used 15.0", said)

    def test_the_wrong_command_or_config_is_one_clear_line(self):
        self.write("translation.json", {**small_config(0, steps=1), "eval": []})
        self.attn("train", "translation.json", "--run", "translator")
        self.write("broken.ptb", "(S (NN a))\n(S (NN b)\n")
        for arguments, code, names in (
                (("parse", "translator"), 2, ["translator", "attn translate"]), (("translate", "tags"), 2, ["tags", "attn parse"]),
                (("train", "translation.json", "--set", 'eval=[{"kind": "parse"}]'), 2, ["eval[0].kind", "data.task"]),
                (("train", "parse.json", "--set", "data.train=broken.ptb"), 3, ["broken.ptb:2:1"]),
                *((("train", "parse.json", "--set", assignment), 2, names) for assignment, names in (
                    ("model.embedding_sharing=all", ["model.embedding_sharing", "decoder"]),
                    ("data.shared_vocabulary=true", ["data.shared_vocabulary", "parsing"]),
                    ('eval=[{"kind": "bleu"}]', ["eval[0].kind", "parse"])))):
            with self.subTest(arguments=arguments):
                self.one_line(*arguments, *(("--run", "bad") if arguments[0] == "train" else ()), code=code, names=names)


if __name__ == "__main__":
    main()
