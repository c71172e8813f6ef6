# SPDX-License-Identifier: Apache-2.0
"""The statistics of the harness once more, by another way: sums over all
arrangements instead of recursions, and Python's own library.

Reads lines from stdin and answers each with one line:
  compare BEFORE... / AFTER...   ->  p ratio
  holm P...                      ->  adjusted...
  bh P...                        ->  adjusted...
  quantile P VALUES...           ->  nearest rank
  summary VALUES...              ->  mean sd mad lag1
"""
import itertools
import math
import statistics
import sys
from fractions import Fraction


def midranks(values):
    ordered = sorted(values)
    return [
        Fraction(2 * ordered.index(v) + ordered.count(v) + 1, 2) for v in values
    ]


def mann_whitney(before, after):
    """Two-sided: every way to pick the first side from the pooled ranks."""
    ranks = midranks(before + after)
    chosen = len(before)
    middle = Fraction(chosen * (len(ranks) + 1), 2)
    distance = abs(sum(ranks[:chosen]) - middle)
    ways = [sum(pick) for pick in itertools.combinations(ranks, chosen)]
    return sum(abs(way - middle) >= distance for way in ways) / len(ways)


def compare(words):
    at = words.index("/")
    before = [float(word) for word in words[:at]]
    after = [float(word) for word in words[at + 1 :]]
    ratio = statistics.median(math.log(a / b) for a in after for b in before)
    return [mann_whitney(before, after), math.exp(ratio)]


def holm(words):
    p = [float(word) for word in words]
    return [
        min(1.0, max(q * sum(r > q or (r == q and i >= j) for i, r in enumerate(p))
                     for j, q in enumerate(p) if q <= own))
        for own in p
    ]


def benjamini_hochberg(words):
    p = [float(word) for word in words]
    return [
        min(1.0, min(q * len(p) / sum(r <= q for r in p) for q in p if q >= own))
        for own in p
    ]


def quantile(words):
    values = sorted(int(word) for word in words[1:])
    return [values[math.ceil(Fraction(words[0]) * len(values)) - 1]]


def summary(words):
    values = [int(word) for word in words]
    median = sorted(values)[math.ceil(len(values) / 2) - 1]
    distances = sorted(abs(value - median) for value in values)
    mean = statistics.fmean(values)
    spread = sum((value - mean) ** 2 for value in values)
    pairs = sum((a - mean) * (b - mean) for a, b in zip(values, values[1:]))
    return [
        mean,
        statistics.stdev(values),
        distances[math.ceil(len(values) / 2) - 1],
        pairs / spread,
    ]


ANSWERS = {
    "compare": compare,
    "holm": holm,
    "bh": benjamini_hochberg,
    "quantile": quantile,
    "summary": summary,
}

for line in sys.stdin:
    name, *rest = line.split()
    print(*(repr(float(value)) for value in ANSWERS[name](rest)))
