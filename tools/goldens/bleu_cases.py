"""Writes tests/eval/data/bleu_cases.json: reference values of sacreBLEU for small cases.

    pip install sacrebleu==2.6.0 && python3 tools/goldens/bleu_cases.py

`tokens` holds lines and their words after each tokenizer; `cases` small corpora under every option with all parts of
the score. sacreBLEU has no compound split: Python's re does it there, and the tokenizer `none` the rest.
"""

import json
import pathlib
import re

import sacrebleu
from sacrebleu.metrics import BLEU

TOKENIZERS = ("13a", "none", "intl", "char", "compound")

LINES = [
    "",
    " \t ",
    "Ein Hund bellt.",
    "\u201eKomm her\u201c, rief sie \u2013 doch er blieb\u2026",
    "Prices rose 3.5% to $1,250.75, i.e. by 2-3 cents.",
    "In 1999, 12. of May, 10-20 -5 5- .5 5. ,5 5,",
    "Tom &amp; Jerry &lt;b&gt; &quot;x&quot; &amp;lt; &amp;quot; &apos;",
    "a<skipped>b over-\nflow two\nlines end-\n",
    "e.g.,x ... ,,, .,., a.b,c 1.a a.1",
    "it's the dogs' (big) [small] {odd} /path\\to #1 @me ^_^ ~`|",
    "no\u00a0break thin\u2009space ideo\u3000graphic line\u2028sep tab\there\x1cfs nel\x85x",
    "zero\u200bwidth and\ufeffmark stay",
    "\u00c4RGER \u00d6L STRASSE \u1e9e GRO\u00dfE",
    "\u0130stanbul I\u0131 \u01c5 \u24b6 \U00010400",
    "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3 \u0391\u03a3\u0391 \u03a3 \u0391\u03a3' \u0391\u03a3.\u0391 \u0391\u0301\u03a3\u0301",
    "\u0663\u066b\u0665 \u0967,\u0968 \u2167. \u00bd.\u00bc 3\u00b2,",
    "caf\u00e9 cafe\u0301 na\u00efve \u00ab\u00a0oui\u00a0\u00bb \u00bfqu\u00e9? \u00a1ol\u00e9!",
    "\U0001f600ok \U0001f44d\U0001f3fd \u20ac5 5\u20ac \u00a33.50 x\u00b2+y\u00b2=z \u00b0C \u2122",
    "\u6211\u4eec\u3002\u4f60\u597d\uff0c\u4e16\u754c 2,\u6211",
    "rich-text format a-b-c a-b-c-d - -x x- --y x--y \u00e4-\u00f6-\u00fc",
    "control \x00 \x07 chars",
]

ENGLISH = (
    ["The old clock struck twelve.", "Nobody answered the door.", "Three boats left the harbour at dawn."],
    [
        ["The old clock struck twelve.", "No one answered the door.", "At dawn, three boats left the harbour."],
        ["Twelve, said the old clock.", "Nobody came to the door.", "Three ships sailed from the port at dawn."],
        ["It was 12.", "The door stayed shut.", "At first light three boats left the harbour."],
    ],
)

CORPORA = {
    "one reference": (ENGLISH[0], ENGLISH[1][:1]),
    "three references": ENGLISH,
    "identical": (ENGLISH[0], [ENGLISH[0]]),
    "nothing in common": (["aa bb cc dd ee"], [["vv ww xx yy zz"]]),
    "empty hypotheses": (["", ""], [["one two", "three"]]),
    "empty reference": (["one two three four five", "one"], [["", "one"]]),
    "one empty hypothesis": (["", "all of this sentence is right"], [["gone", "all of this sentence is right"]]),
    "too short for bigrams": (["Yes", "No"], [["Yes", "Never"]]),
    "too short for four-grams": (["Of course not"], [["Of course not"]]),
    "unigrams only": (["d c b a x"], [["a b c d e"]]),
    "no four-gram matches": (["one two three x four five six"], [["one two three y four five six"]]),
    "repeats are clipped": (["the the the the the the the"], [["The cat is on the mat."], ["there is the cat"]]),
    "tie in length goes to the shorter": (["a b c d e"], [["a b c d e f"], ["a b c d"]]),
    "short output": (["the cat sat"], [["the cat sat on the mat by the door"]]),
    "umlauts and case": (
        ["\u00dcber \u00c4PFEL sprach GROSSVATER \u2013 gern!", "\u039f\u0394\u039f\u03a3 \u0130zmir 3,5 % \u20ac"],
        [["\u00fcber \u00e4pfel sprach Gro\u00dfvater \u2013 gern!", "\u03bf\u03b4\u03bf\u03c2 i\u0307zmir 3,5 % \u20ac"]]),
    "hyphens": (
        ["a well-known state-of-the-art method - it works", "x-y-z and y-z"],
        [["a well-known state-of-the-art approach - it works", "x-y-z or z-y"]]),
    "white space": (["a\u00a0b\tc  d e\u3000f ", " g"], [["a b c d e f", "g"]]),
}

SMOOTHINGS = [("exp", None), ("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 2.5), ("none", None)]


def split_compounds(line):
    return re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", line)


def metric(tokenizer, **options):
    """sacreBLEU's metric, and what is done to lines before it."""
    if tokenizer == "compound":
        return BLEU(tokenize="none", force=True, **options), split_compounds
    return BLEU(tokenize=tokenizer, force=True, **options), lambda line: line


def tokens():
    rows = []
    for line in LINES:
        for lowercase in (False, True):
            if lowercase and line.lower() == line:
                continue
            words = {}
            for tokenizer in TOKENIZERS:
                bleu, prepare = metric(tokenizer)
                text = (line.lower() if lowercase else line).rstrip()
                words[tokenizer] = bleu.tokenizer(prepare(text)).split()
            rows.append({"line": line, "lowercase": lowercase, "words": words})
    return rows


def case(name, tokenizer, lowercase, smoothing, value, effective):
    hypotheses, references = CORPORA[name]
    options = dict(lowercase=lowercase, effective_order=effective)
    bleu, prepare = metric(tokenizer, smooth_method=smoothing, smooth_value=value, **options)
    hypotheses = [prepare(line) for line in hypotheses]
    references = [[prepare(line) for line in one] for one in references]
    score = bleu.corpus_score(hypotheses, references)
    # add-k writes into sacreBLEU's counts: take those of the corpus from a metric without smoothing
    counted = metric(tokenizer, smooth_method="none", **options)[0].corpus_score(hypotheses, references)
    return {
        "corpus": name, "tokenizer": tokenizer, "lowercase": lowercase, "smoothing": smoothing,
        "smoothing_value": value, "effective_order": effective, "score": score.score,
        "counts": counted.counts, "totals": counted.totals, "precisions": score.precisions, "bp": score.bp,
        "hyp_length": score.sys_len, "ref_length": score.ref_len,
        "signature": signature(bleu).replace("tok:none", "tok:compound" if tokenizer == "compound" else "tok:none"),
    }


def cases():
    rows = []
    for name in CORPORA:
        for tokenizer in TOKENIZERS:
            rows.append(case(name, tokenizer, False, "exp", None, False))
        rows.append(case(name, "13a", True, "exp", None, False))
        rows.append(case(name, "intl", True, "exp", None, True))
        for smoothing, value in SMOOTHINGS[1:]:
            rows.append(case(name, "13a", False, smoothing, value, False))
            rows.append(case(name, "13a", False, smoothing, value, True))
    return rows


def signature(metric):
    return str(metric.get_signature()).replace("|version:" + sacrebleu.__version__, "")


def corpus_and_sentences(metric_of, corpora, name, options):
    """The scores of a corpus and of each of its sentences."""
    hypotheses, references = corpora[name]
    metric = metric_of(**options)
    score = metric.corpus_score(hypotheses, references)
    sentences = [metric_of(**options).sentence_score(line, [one[i] for one in references]).score for i, line in enumerate(hypotheses)]
    return score, {"corpus": name, "options": options, "score": score.score, "sentences": sentences, "signature": signature(metric)}


def write_cases(metric, corpora, **parts):
    """tests/eval/data/METRIC_cases.json; lists have one row on each line: diffs stay readable."""
    block = lambda rows: "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]"
    lines = [f' "about": "written by tools/goldens/{metric}_cases.py with sacreBLEU {sacrebleu.__version__}"',
             f' "corpora": {json.dumps({name: {"hypotheses": h, "references": r} for name, (h, r) in corpora.items()})}']
    lines += [f' "{name}": {block(part) if isinstance(part, list) else json.dumps(part)}' for name, part in parts.items()]
    out = pathlib.Path(__file__).resolve().parents[2] / f"tests/eval/data/{metric}_cases.json"
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write_cases("bleu", CORPORA, tokens=tokens(), cases=cases())
