#!/usr/bin/env python3
"""Search with a run's weights in CTranslate2, for comparison with `attn bench search`.

    python3 tools/peers/ctranslate2_search.py RUN TEXT [--at-once 1000] [--workers 2] [--threads 1] [--type float32]

Exports the run's (averaged) weights, translates the file and prints sentences/s; with --output it also writes the
translations, to compare them. Needs ctranslate2, sentencepiece, safetensors and numpy.
"""
import math
import tempfile

import ctranslate2
import numpy
from ctranslate2.specs import TransformerSpec

from run_files import Run
from search_driver import search_arguments, timed_search
from text_lines import read_lines


def sinusoids(positions, width):
    angle = numpy.arange(positions)[:, None] * numpy.exp(numpy.arange(0, width, 2) * -(math.log(10000) / width))
    return numpy.stack([numpy.sin(angle), numpy.cos(angle)], 2).reshape(positions, width).astype(numpy.float32)


def export(run, folder):
    weights, model = run.weights(), run.model
    spec = TransformerSpec.from_config(model["layers"], model["heads"], pre_norm=False)

    def linear(to, *names):
        to.weight = numpy.concatenate([weights[name + ".weight"] for name in names])
        to.bias = numpy.concatenate([weights[name + ".bias"] for name in names])

    def norm(to, sublayer):
        to.gamma, to.beta = weights[sublayer + ".norm.weight"], weights[sublayer + ".norm.bias"]

    for side, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        embeddings = part.embeddings[0] if isinstance(part.embeddings, list) else part.embeddings
        embeddings.weight = weights["shared_weight"]
        part.position_encodings.encodings = sinusoids(1024, model["d_model"])
        for i, layer in enumerate(part.layer):
            name = f"{side}.layers.{i}."
            own = name + "self_attention."
            linear(layer.self_attention.linear[0], own + "query", own + "key", own + "value")
            linear(layer.self_attention.linear[1], own + "output")
            norm(layer.self_attention.layer_norm, name + "self_attention_sublayer")
            if side == "decoder":
                memory = name + "cross_attention."
                linear(layer.attention.linear[0], memory + "query")
                linear(layer.attention.linear[1], memory + "key", memory + "value")
                linear(layer.attention.linear[2], memory + "output")
                norm(layer.attention.layer_norm, name + "cross_attention_sublayer")
            linear(layer.ffn.linear_0, name + "feed_forward.inner")
            linear(layer.ffn.linear_1, name + "feed_forward.outer")
            norm(layer.ffn.layer_norm, name + "feed_forward_sublayer")
    spec.decoder.projection.weight = weights["shared_weight"]
    pieces = [run.pieces.id_to_piece(i) for i in range(run.pieces.get_piece_size())]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(folder)


def main():
    parser = search_arguments(__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="threads per worker")
    parser.add_argument("--type", default="float32", help="float32 or int8")
    parser.add_argument("--name", default="CTranslate2")
    options = parser.parse_args()
    run = Run(options.run)
    search = run.config["search"]
    if (search["penalty"], search["stop"]) not in (("power", "first_finished"), ("power", "count")):
        parser.error("CTranslate2 supports search.penalty power with search.stop first_finished only; set both in the run's config")
    sentences = run.pieces.encode(read_lines(options.text), out_type=str)
    how = dict(beam_size=search["beam"], length_penalty=search["alpha"], max_batch_size=options.batch,
               max_decoding_length=256)
    with tempfile.TemporaryDirectory() as folder:
        export(run, folder)
        translator = ctranslate2.Translator(folder, device="cpu", compute_type=options.type,
                                            inter_threads=options.workers, intra_threads=options.threads)
        timed_search(options.name, run, options, sentences, lambda part: translator.translate_batch(part, **how),
                     lambda best: best.hypotheses[0], version=ctranslate2.__version__)


if __name__ == "__main__":
    main()
