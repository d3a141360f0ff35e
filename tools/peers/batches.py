"""The pairs and the batches of `attn bench step`: the same lengths, the same batches, in the same order."""
import math

MASK, GOLDEN = 2**64 - 1, 0x9e3779b97f4a7c15


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


class Random:
    """base/random.h. below() draws without rejection, which differs once in 10^14 draws."""

    def __init__(self, seed, stream=None):
        self.state = seed if stream is None else mix(seed ^ mix(stream + GOLDEN & MASK))

    def next(self):
        self.state = self.state + GOLDEN & MASK
        return mix(self.state)

    def below(self, n):
        return self.next() % n

    def normal(self):
        u, v = ((self.next() >> 11) * 2.0**-53 for _ in range(2))  # Box and Muller
        return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]


def synthetic_pairs(vocabulary, count=20000):
    """Pairs of random tokens, as app/sweep/step_benchmark.cpp makes them: log-normal lengths, median 22, from 1 to 200."""
    random = Random(1)
    vary = lambda length, spread: round(min(max(length * math.exp(spread * random.normal()), 1), 200))
    pairs = []
    for _ in range(count):
        source = vary(22, 0.6)
        target = vary(source, 0.2)
        pairs.append(tuple([4 + random.below(vocabulary - 4) for _ in range(n)] for n in (source, target)))
    return pairs


def cut_batches(pairs, limit, seed=1):
    """Lists of pairs, in the order of the first epoch, as data/batches.cpp cuts them: sorted by the longer side,
    then to and fro between longer sources and longer targets, cut where sentences × longest side, EOS included, would
    exceed the limit. For at most a million pairs, which attn sorts together."""
    def shape(pair):
        source, target = map(len, pair)
        longer = max(source, target)
        return longer, (source - target) * (-1) ** (longer % 2)

    pairs = list(pairs)
    Random(seed, 0).shuffle(pairs)
    cut, longest = [[]], 0
    for pair in sorted(pairs, key=shape):
        longest = max(longest, *(len(side) + 1 for side in pair))
        if cut[-1] and longest * (len(cut[-1]) + 1) > limit:
            cut.append([])
            longest = max(map(len, pair)) + 1
        cut[-1].append(pair)
    Random(mix(seed), 0).shuffle(cut)
    return cut
