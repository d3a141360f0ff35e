"""Parsers of several treebanks: tags, word features and dropout, fine-tuning, agreement, broken treebanks.

    python3 tests/app/parse_mixture_test.py path/to/attn

Standard library alone, in a temporary directory.
"""
import json

from program import ProgramTest, main

CONFIG = {
    "seed": 3,
    "data": {"task": "parsing", "train": "corpus/train.ptb", "valid": "corpus/valid.ptb", "tokenizer": "words",
             "shared_vocabulary": False, "unknown_classes": True, "word_classes": True, "word_pieces": 200,
             "word_dropout": 0.8, "tag": "one", "batch_tokens": 400, "tree_form": "in_order",
             "sources": [{"text": "more/train.ptb", "tag": "two", "ratio": 0.5}]},
    "model": {"layers": 1, "d_model": 16, "d_ff": 32, "heads": 2, "word_positions": True,
              "embedding_sharing": "decoder"},
    "train": {"steps": 30, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 10, "log_every": 10,
              "checkpoint_every": 15},
    "search": {"beam": 2, "extra_length": 60, "known_tags": 1},
    "eval": [{"name": "one", "kind": "loss", "every": 15},
             {"name": "two", "kind": "loss", "every": 15, "tag": "two"}],
}


class ParseMixture(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for folder, seed in (("corpus", 1), ("more", 2)):
            cls.attn("generate", folder, "--train", "300", "--valid", "20", "--test", "20", "--seed", str(seed))
        cls.write("mixture.json", CONFIG)
        cls.said = cls.attn("train", "mixture.json", "--run", "whole").stderr

    def weights(self, run, step=30):
        return (self.path / run / f"checkpoints/step-{step:08d}/model.safetensors").read_bytes()

    def sentences(self):
        return (self.path / "corpus/test.en").read_text()

    def test_texts_come_in_their_ratio_and_tags_are_chosen_by_name(self):
        self.assertIn("sentence of corpus/train.ptb is used 2.0", self.said)
        metrics = [json.loads(line) for line in (self.path / "whole/metrics.jsonl").read_text().splitlines()]
        values = {m["name"]: m["ppl"] for m in metrics if m["kind"] == "eval" and m["step"] == 30}
        self.assertNotEqual(values["one"], values["two"])
        trees = {tag: self.attn("parse", "whole@last", *tag, "--scores", stdin=self.sentences()).stdout
                 for tag in ((), ("--tag", "one"), ("--tag", "two"))}
        self.assertEqual(trees[()], trees[("--tag", "one")])
        self.assertNotEqual(trees[()], trees[("--tag", "two")])
        self.one_line("parse", "whole@last", "--tag", "three", code=2, names=["--tag", "three", "one, two"])
        self.one_line("train", "mixture.json", "--run", "bad", "--set", "data.tag=", code=2, names=["data.sources[0].tag", "data.tag"])
        self.one_line("train", "mixture.json", "--run", "bad", "--set", 'data.sources=[{"text": "more/train.ptb"}]',
                      code=2, names=["data.sources[0].tag", "data.tag"])

    def test_a_dry_run_without_measurement_does_not_know_the_parameters_of_a_parser(self):
        self.write("parsers.json", {"base": "mixture.json", "rows": [{"name": "base"}]})
        out = self.attn("sweep", "parsers.json", "--dry-run", "--no-measure").stdout
        self.assertRegex(out, r"(?m)^\| base +\| +\? ")

    def test_a_run_that_was_stopped_ends_with_the_same_bits(self):
        self.attn("train", "mixture.json", "--run", "halved", "--set", "train.steps=15")
        self.attn("train", "halved", "--resume", "--set", "train.steps=30")
        self.assertEqual(self.weights("halved"), self.weights("whole"))

    def test_fine_tuning_starts_from_the_weights_and_says_what_did_not_fit(self):
        said = self.attn("train", "mixture.json", "--run", "tuned", "--set", "train.init_from=whole@last",
                         "--set", "train.steps=1", "--set", "train.learning_rate=1e-9",
                         "--set", 'data.sources=[{"text": "more/train.ptb", "tag": "web"}]').stderr
        self.assertIn("feature_weight: the first", said)
        loss = [m["ppl"] for m in map(json.loads, (self.path / "tuned/metrics.jsonl").read_text().splitlines()) if m["kind"] == "train"]
        first = [m["ppl"] for m in map(json.loads, (self.path / "whole/metrics.jsonl").read_text().splitlines()) if m["kind"] == "train"][0]
        self.assertLess(loss[0], first / 2)
        said = self.attn("train", "mixture.json", "--run", "wider", "--set", "train.init_from=whole",
                         "--set", "train.steps=1", "--set", "model.d_ff=40").stderr
        self.assertIn("feed_forward.inner.weight: [32, 16] in the checkpoint, [40, 16] here", said)
        self.one_line("train", "mixture.json", "--run", "bad", "--set", "train.init_from=whole", "--set",
                      "data.tree_form=tags", code=2, names=["train.init_from", "data.tree_form"])
        self.one_line("train", "mixture.json", "--run", "bad", "--set", "train.init_from=nowhere", code=3, names=["nowhere"])

    def test_attention_reads_what_the_parser_reads_features_too(self):
        self.write("brackets", "( the dog )\n")
        tree = self.attn("parse", "whole@last", stdin="( the dog )\n").stdout
        self.write("brackets.ptb", tree)
        for target in ((), ("--target", "brackets.ptb")):
            self.attn("attention", "whole@last", "--source", "brackets", *target, "--json", "a.json")
            maps = json.loads((self.path / "a.json").read_text())
            self.assertEqual(maps[0]["left_text"][1:3], ["the", "dog"])
            self.assertEqual(len(maps[0]["left_text"]), 5)  # with EOS
        self.attn("heads", "whole@last", "--data", "corpus/test.ptb", "--lines", "5")
        (self.path / "latin1").write_bytes(b"the dog\ncaf\xe9\n")
        self.one_line("attention", "whole@last", "--source", "latin1", "--json", "b.json", code=3, names=["latin1:2", "UTF-8"])

    def test_trees_on_which_two_parses_agree_are_kept(self):
        one = self.attn("parse", "whole@last", stdin=self.sentences()).stdout
        two = self.attn("parse", "whole@last", "--set", "beam=5", "--tag", "two", stdin=self.sentences()).stdout
        self.write("one.ptb", one)
        self.write("two.ptb", two)
        done = self.attn("agree", "one.ptb", "two.ptb")
        equal = [a for a, b in zip(one.splitlines(), two.splitlines()) if a == b]
        self.assertEqual(done.stdout.splitlines(), equal)
        self.assertIn(f"kept {len(equal)} of 20 sentences", done.stderr)
        self.assertEqual(self.attn("agree", "one.ptb", "two.ptb", "--min-f1", "0").stdout, one)
        # Outer brackets differ between treebanks and do not count.
        self.write("root.ptb", one.replace("(TOP ", "(ROOT "))
        self.assertEqual(self.attn("agree", "one.ptb", "root.ptb").stdout, one)
        self.write("shorter.ptb", "".join(one.splitlines(keepends=True)[:-1]))
        self.one_line("agree", "one.ptb", "shorter.ptb", code=3, names=["one.ptb 20", "shorter.ptb 19"])

    def test_parses_of_several_parsers_are_fused(self):
        parse = ["parse", "whole@last", "--set", "beam=8"]
        one = self.attn(*parse, "--nbest", "8", "--nbest-list", stdin=self.sentences()).stdout
        two = self.attn(*parse, "--nbest", "8", "--nbest-list", "--tag", "two", stdin=self.sentences()).stdout
        best = self.attn(*parse, stdin=self.sentences()).stdout
        self.write("one.nbest", one)
        self.write("two.nbest", two)
        self.write("best.ptb", best)
        # Of one list, what the parser's own fusion finds; of one tree, that tree.
        self.assertEqual(self.attn("fuse", "one.nbest").stdout, self.attn(*parse, "--set", "mbr=f1", stdin=self.sentences()).stdout)
        self.assertEqual(self.attn("fuse", "best.ptb").stdout, best)
        self.assertEqual(self.attn("fuse", "best.ptb", "best.ptb", "--scores").stdout,
                         "".join(f"{i + 1}\t100.000000\t{line}\n" for i, line in enumerate(best.splitlines())))
        scored = self.attn("fuse", "one.nbest", "two.nbest", "best.ptb", "--scores").stdout.splitlines()
        self.assertEqual(len(scored), 20)
        kept = [line.split("\t")[2] for line in scored if float(line.split("\t")[1]) >= 70]
        self.assertTrue(0 < len(kept) < 20, scored)
        done = self.attn("fuse", "one.nbest", "two.nbest", "best.ptb", "--min-f1", "70")
        self.assertEqual(done.stdout.splitlines(), kept)
        self.assertIn(f"kept {len(kept)} of 20 sentences", done.stderr)
        # A sentence that no file has keeps its line.
        without = [line for line in one.splitlines(keepends=True) if not line.startswith("3 ")]
        self.write("gap.nbest", "".join(without))
        self.assertEqual(self.attn("fuse", "gap.nbest").stdout.splitlines()[3], "()")
        self.assertNotIn("()", self.attn("fuse", "gap.nbest", "--min-f1", "1").stdout)
        self.one_line("fuse", "nowhere.ptb", code=3, names=["nowhere.ptb"])

    def test_broken_treebanks_are_one_clear_line(self):
        good = (self.path / "corpus/train.ptb").read_text().splitlines()[:80]
        self.write("closed.ptb", "\n".join([*good[:56], good[56] + ")", *good[57:]]) + "\n")
        self.one_line("train", "mixture.json", "--run", "bad", "--set", 'data.sources=[{"text": "closed.ptb", "tag": "x"}]', code=3,
                      names=["closed.ptb:57:"])
        latin = "\n".join(good).replace("the", "th\u00e9").encode("latin-1") + b"\n"
        (self.path / "latin.ptb").write_bytes(latin)
        self.one_line("train", "mixture.json", "--run", "bad", "--set", "data.train=latin.ptb", code=3,
                      names=["latin.ptb:", "UTF-8", "iconv"])
        self.write("long.ptb", "\n".join([*good, "(TOP (S %s))" % " ".join(["(NN word)"] * 10000), "(TOP ())"]) + "\n")
        said = self.attn("train", "mixture.json", "--run", "long", "--set", "data.train=long.ptb",
                         "--set", "train.steps=1", "--set", "eval=[]").stderr
        self.assertIn("long.ptb: 81 trees; dropped: 1 without words", said)
        self.assertIn("pairs with an overlong line", said)
        tree = self.attn("parse", "whole@last", stdin="word " * 10000 + "\n").stdout
        self.assertEqual(tree.count(" word)"), 10000)


if __name__ == "__main__":
    main()
