"""Writes tests/model/data/positions.json: T5's buckets and ALiBi's slopes by the transformers library.

    python3 tools/goldens/positions.py        (needs torch 2.13, transformers 5.24 and safetensors)

The slopes are those of BLOOM; its bias of key j is slope · j, which differs from the published one by a constant for
each query. If the number of heads is no power of two, the slopes are those of the authors' code
(github.com/ofirpress/attention_with_linear_biases, get_slopes), which differs from the paper's formula there.
"""
import torch
from optimizers import write_json
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

REACH = 300


def buckets(bidirectional):
    distances = torch.arange(-REACH, REACH + 1)  # key - query
    return T5Attention._relative_position_bucket(distances, bidirectional, num_buckets=32, max_distance=128).tolist()


def slopes(heads):
    bias = build_alibi_tensor(torch.ones(1, 2), heads, torch.float64)
    return bias[:, 0, 1].tolist()


def main():
    out = {"reach": REACH, "encoder": buckets(True), "decoder": buckets(False),
           "slopes": {str(heads): slopes(heads) for heads in (1, 2, 3, 4, 6, 8, 12, 16)}}
    write_json("model/data/positions", out)


if __name__ == "__main__":
    main()
