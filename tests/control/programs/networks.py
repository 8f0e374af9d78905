# SPDX-License-Identifier: Apache-2.0
"""Networks over time and tokens: recurrences, decoding, pooling, layers."""

import numpy as np

from tests.control.record import program

SUMS = "dot products are added in another order"
RNG = np.random.default_rng(11)


def some(*shape, dtype=np.float64):
    return (RNG.normal(size=shape) * 0.5).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


W, U = some(3, 4), some(4, 4)


@program(
    (some(5, 3), np.zeros(4), W, U),
    (some(1, 3), np.ones(4), W, U),
    (some(0, 3), np.zeros(4), W, U),
    rtol=1e-10,
    why=SUMS,
    large=lambda: ((some(300, 3), np.zeros(4), W, U),),
)
def rnn(x, h, w, u):
    states = np.zeros((x.shape[0], h.shape[0]))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h @ u)
        states[t] = h
    return states, h


WL = some(7, 16, dtype=np.float32)


@program(
    (some(4, 2, 3, dtype=np.float32), np.array([4, 2]), WL),
    (some(1, 1, 3, dtype=np.float32), np.array([0]), WL),
    (some(0, 2, 3, dtype=np.float32), np.array([0, 0]), WL),
    rtol=1e-5,
    why=SUMS,
)
def lstm_with_lengths(x, lengths, w):
    """Keep the state of a sequence that is over."""
    h = np.zeros((x.shape[1], 4), dtype=np.float32)
    c = np.zeros_like(h)
    outputs = []
    for t, step in enumerate(x):
        gates = np.concatenate([step, h], axis=1) @ w
        i, f, o, g = np.split(gates, 4, axis=1)
        new_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        new_h = sigmoid(o) * np.tanh(new_c)
        alive = (lengths > t)[:, None]
        c = np.where(alive, new_c, c)
        h = np.where(alive, new_h, h)
        outputs.append(h)
    if len(outputs) == 0:
        return np.zeros((0, x.shape[1], 4), dtype=np.float32), h
    return np.stack(outputs), h


EMBED, HEAD = some(6, 4), some(4, 6) * 4


@program(
    (2, EMBED, HEAD, 8),
    (0, EMBED, HEAD, 0),
    (3, EMBED, HEAD, 1),
    (1, EMBED, -HEAD, 5),
    (2, EMBED, np.zeros((4, 6)), 5),
    large=lambda: ((2, EMBED, HEAD, 60),),
)
def greedy_decode(start, embed, head, limit):
    """Append tokens until the end token, 0, or the limit."""
    token = start
    state = np.zeros(embed.shape[1])
    tokens = []
    while len(tokens) < limit:
        state = np.tanh(state + embed[token])
        token = int(np.argmax(state @ head + np.array([0.1, 0, 0, 0, 0, 0])))
        if token == 0:
            break
        tokens.append(token)
    return np.array(tokens, dtype=np.int64)


@program(
    (np.array([0, 2, 2, 0, 2, 1, 1, 0]),),
    (np.array([0, 0]),),
    (np.zeros(0, np.int64),),
    (np.array([3]),),
)
def collapse_repeats(path):
    """Drop repeats, then blanks (0), as decoders of speech do."""
    out = []
    previous = -1
    for p in path:
        if p != previous and p != 0:
            out.append(p)
        previous = p
    return np.array(out, dtype=np.int64)


@program(
    (some(3, 4), some(4, 4), 3),
    (some(1, 4), some(4, 4), 1),
    (some(2, 4), some(4, 4), 0),
    rtol=1e-10,
    why=SUMS,
)
def grow_cache(keys, w, steps):
    """Attend to all earlier rows, append one."""
    query = keys[-1]
    for _ in range(steps):
        scores = keys @ query / np.sqrt(keys.shape[1])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        query = np.tanh((weights @ keys) @ w)
        keys = np.concatenate([keys, query[None]])
    return keys


@program(
    (np.array([0.5, 0.3, 0.15, 0.05]), 0.9, 0.7),
    (np.array([1.0]), 0.1, 0.0),
    (np.array([0.25, 0.25, 0.5]), 1.0, 0.999),
    (np.array([0.0, 0.0, 1.0]), 0.5, 0.2),
    (np.array([0.6, 0.4]), 1.0, 1.0),
)
def nucleus_pick(p, top, u):
    """Cut the tail off, then choose by a number in [0, 1)."""
    order = np.argsort(-p, kind="stable")
    kept = 0.0
    count = 0
    for i in order:
        kept += p[i]
        count += 1
        if kept >= top:
            break
    goal = u * kept
    run = 0.0
    for k in range(count):
        run += p[order[k]]
        if run > goal:
            return order[k]
    return order[count - 1]


LAYERS = [(some(3, 5), "relu"), (some(5, 5), "tanh"), (some(5, 2), None)]


@program((some(4, 3), 0.0), (some(1, 3), 9.0), (some(0, 3), 0.0), rtol=1e-10, why=SUMS)
def layers(x, least):
    """Go through static layers; skip what a norm says."""
    for w, activation in LAYERS:
        y = x @ w
        if activation == "relu":
            y = np.maximum(y, 0)
        elif activation == "tanh":
            y = np.tanh(y)
        if w.shape[0] == w.shape[1] and np.abs(y).sum() < least:
            continue
        x = y
    return x


@program(
    (np.arange(20.0).reshape(4, 5), 2, 2),
    (np.ones((3, 3), np.float32), 3, 1),
    (some(2, 2), 1, 1),
    (some(5, 4), 2, 3),
)
def max_pool(x, size, stride):
    h = (x.shape[0] - size) // stride + 1
    w = (x.shape[1] - size) // stride + 1
    out = np.empty((h, w), dtype=x.dtype)
    for i in range(h):
        for j in range(w):
            top, left = i * stride, j * stride
            out[i, j] = x[top : top + size, left : left + size].max()
    return out


@program(
    (some(2, 6), some(3, 2, 3)),
    (some(1, 1), some(1, 1, 1)),
    (some(2, 2), some(1, 2, 2)),
    rtol=1e-10,
    why=SUMS,
)
def conv1d(x, kernels):
    channels, width = kernels.shape[0], kernels.shape[2]
    out = np.zeros((channels, x.shape[1] - width + 1))
    for c in range(channels):
        for t in range(out.shape[1]):
            out[c, t] = np.sum(x[:, t : t + width] * kernels[c])
    return out


@program(
    (some(3, 4), np.array([0, 3, 1])),
    (some(1, 4), np.array([2])),
    (some(0, 4), np.zeros(0, np.int64)),
    rtol=1e-10,
    why=SUMS,
)
def cross_entropy_by_rows(logits, labels):
    total = 0.0
    right = 0
    for row, label in zip(logits, labels, strict=True):
        m = row.max()
        total += m + np.log(np.exp(row - m).sum()) - row[label]
        right += int(row.argmax() == label)
    return np.float64(total) / max(len(labels), 1), right


@program(
    (some(6, 3), np.array([0, 0, 1, 2, 1, 0]), 3),
    (some(1, 3), np.array([1]), 2),
    (some(0, 3), np.zeros(0, np.int64), 1),
)
def segment_max(rows, segments, count):
    out = np.full((count, rows.shape[1]), -np.inf)
    for row, s in zip(rows, segments, strict=True):
        out[s] = np.maximum(out[s], row)
    return out


@program(
    (np.array([5, 7, 5, 7, 5, 9]), 5, 7, 100),
    (np.array([5, 5]), 5, 7, 100),
    (np.array([5, 7]), 5, 7, 100),
    (np.zeros(0, np.int64), 1, 2, 3),
    large=lambda: ((np.random.default_rng(5).integers(5, 8, 200), 5, 7, 100),),
)
def merge_pairs(tokens, left, right, new):
    """Replace each pair by a new token."""
    out = []
    i = 0
    while i < len(tokens):
        if i + 1 < len(tokens) and tokens[i] == left and tokens[i + 1] == right:
            out.append(new)
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return np.array(out, dtype=np.int64)


@program(
    (np.array([0.2, -3.0, 7.0]), 0.5, 4),
    (np.array([100.0, -100.0]), 1.0, 1),
    (np.zeros(0), 1.0, 2),
)
def quantize(x, scale, bits):
    high = 2 ** (bits - 1) - 1
    out = np.zeros(len(x), dtype=np.int8)
    clipped = 0
    for i, v in enumerate(x):
        q = np.round(v / scale)
        if q > high:
            q, clipped = high, clipped + 1
        elif q < -high - 1:
            q, clipped = -high - 1, clipped + 1
        out[i] = q
    return out, clipped
