#!/usr/bin/env python3
"""Nets that nobody has tuned for: single layers or a few usual blocks, of sizes drawn at random.

  random_nets.py FOLDER [--seed N] [--count N] [--kinds images,sequences,...] [--int8]

writes FOLDER/KIND_NUMBER_WHAT/model.xml, model.bin and inputs/x.npy, which compare.py takes. The kinds are the names
of BLOCKS below; a net of `layers` is one layer. The same seed makes the same nets. --int8: as NNCF leaves them.
"""
import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

from net_parts import Int8, Weights, dense, integers, normalization

ACTIVATIONS = {
    "relu": op.relu, "relu6": lambda x: op.clamp(x, 0.0, 6.0), "gelu": lambda x: op.gelu(x, "erf"), "swish": op.swish,
    "hswish": op.hswish, "sigmoid": op.sigmoid, "tanh": op.tanh, "mish": op.mish, "none": lambda x: x,
    "leaky": lambda x: op.prelu(x, op.constant(np.float32(0.1))),
}


class Draw:
    """What is drawn, and the weights."""
    def __init__(self, seed, int8):
        self.random, self.w = np.random.default_rng(seed), (Int8 if int8 else Weights)()
        self.w.random = self.random

    def one(self, *of):
        return of[self.random.integers(len(of))]

    def chance(self, part):
        return self.random.random() < part

    def act(self, x, *names):
        return ACTIVATIONS[self.one(*names) if names else self.one(*ACTIVATIONS)](x)


def dims(x):
    return list((x if isinstance(x, ov.Output) else x.output(0)).get_shape())


def conv(d, x, outputs, kernel=3, stride=1, dilation=1, groups=1, biased=True):
    """Of any rank, the same size of output where the stride is 1."""
    rank, channels = len(dims(x)) - 2, dims(x)[1]
    kernels = [kernel] * rank if np.isscalar(kernel) else list(kernel)
    pads = [dilation * (k - 1) // 2 for k in kernels]
    ends = [dilation * (k - 1) - p for k, p in zip(kernels, pads)]
    strides, dilations, x = [stride] * rank, [dilation] * rank, d.w.value(x)
    if groups == 1:
        y = op.convolution(x, d.w(outputs, channels, *kernels), strides, pads, ends, dilations)
    else:
        filters = d.w(groups, outputs // groups, channels // groups, *kernels,
                      fan=channels // groups * int(np.prod(kernels)), axes=2)
        y = op.group_convolution(x, filters, strides, pads, ends, dilations)
    return op.add(y, d.w.small(1, outputs, *[1] * rank)) if biased else y


def transposed_conv(d, x, outputs, kernel, stride):
    rank, channels = len(dims(x)) - 2, dims(x)[1]
    pad = [(kernel - stride + 1) // 2] * rank
    filters = Weights.__call__(d.w, channels, outputs, *[kernel] * rank, fan=channels * kernel)
    return op.convolution_backprop_data(x, filters, [stride] * rank, pads_begin=pad, pads_end=pad)


def pooled(d, x, kernel=2, stride=2):
    rank = len(dims(x)) - 2
    k, s, p = [kernel] * rank, [stride] * rank, [(kernel - 1) // 2] * rank
    if d.chance(0.5):
        return op.max_pool(x, s, [1] * rank, p, p, k, "floor", "explicit").output(0)
    return op.avg_pool(x, s, p, p, k, d.chance(0.5))


def resized(d, x, scale=2):
    rank, mode = len(dims(x)) - 2, d.one("nearest", "linear_onnx")
    return op.interpolate(x, op.constant(np.full(rank, scale, np.float32)), mode, "scales", axes=integers(
        *range(2, 2 + rank)), coordinate_transformation_mode=d.one("asymmetric", "half_pixel", "align_corners"))


# ------------------------------------------------------------------------------------------------- blocks of images

def residual(d, x):
    width, act = dims(x)[1], d.one("relu", "swish", "leaky")
    y = conv(d, x, width)
    y = conv(d, d.act(y, act), width)
    return d.act(op.add(x, y), act)


def bottleneck(d, x):
    width, inner, groups = dims(x)[1], d.one(8, 16, 32, 64), d.one(1, 1, 2, 4)
    y = d.act(conv(d, x, inner, 1), "relu")
    y = d.act(conv(d, y, inner, groups=groups), "relu")
    return d.act(op.add(x, conv(d, y, width, 1)), "relu")


def inverted(d, x):
    width, wide, stride, kernel = dims(x)[1], dims(x)[1] * d.one(2, 4, 6), d.one(1, 1, 2), d.one(3, 5)
    act = d.one("relu6", "swish", "hswish")
    y = d.act(conv(d, x, wide, 1), act)
    y = d.act(conv(d, y, wide, kernel, stride, groups=wide), act)
    if d.chance(0.4):
        s = op.reduce_mean(y, integers(*range(2, len(dims(y)))), True)
        s = conv(d, d.act(conv(d, s, max(8, width // 4), 1), "relu"), wide, 1)
        y = op.multiply(y, op.sigmoid(s))
    y = conv(d, y, width if stride == 1 else width * 2, 1)
    return op.add(x, y) if stride == 1 else y


def convnext(d, x):
    width, rank = dims(x)[1], len(dims(x))
    last = integers(0, *range(2, rank), 1)
    y = op.transpose(conv(d, x, width, 7 if rank < 5 else 3, groups=width), last)
    y = dense(d.w, normalization(d.w, y, width), width * 4, width)
    y = dense(d.w, d.act(y, "gelu"), width, width * 4)
    return op.add(x, op.transpose(y, integers(0, rank - 1, *range(1, rank - 1))))


def down(d, x):
    width = dims(x)[1] * d.one(1, 2)
    return d.act(conv(d, x, width, d.one(2, 3), 2) if d.chance(0.6) else conv(d, pooled(d, x), width, d.one(1, 3)))


def up(d, x):
    width = max(8, dims(x)[1] // 2)
    if d.chance(0.5):
        return d.act(transposed_conv(d, x, width, *d.one((2, 2), (4, 2), (3, 1))))
    return d.act(conv(d, resized(d, x), width))


def dense_block(d, x):
    for _ in range(3):
        width = dims(x)[1]
        y = op.relu(op.add(op.multiply(x, d.w.small(1, width, *[1] * (len(dims(x)) - 2), around=1.0)),
                           d.w.small(1, width, *[1] * (len(dims(x)) - 2))))
        x = op.concat([x, conv(d, y, d.one(8, 16, 24, 32))], 1)
    return x


def csp(d, x):
    """Split, a bottleneck, concatenated."""
    width = dims(x)[1]
    if width % 2:
        return residual(d, x)
    a, b = op.split(d.act(conv(d, x, width, 1), "swish"), op.constant(np.int64(1)), 2).outputs()
    y = d.act(conv(d, d.act(conv(d, b, width // 2), "swish"), width // 2), "swish")
    return d.act(conv(d, op.concat([a, b, op.add(b, y)], 1), width, 1), "swish")


def pyramid(d, x):
    y = x
    parts = [x]
    for dilation in (1, 2, 4):
        parts.append(d.act(conv(d, y, 32, 3, dilation=dilation), "relu"))
    return conv(d, op.concat(parts, 1), dims(x)[1], 1)


def shuffle(d, x):
    b, c, *size = dims(x)
    groups = d.one(2, 4)
    if c % groups:
        return residual(d, x)
    y = op.transpose(op.reshape(x, integers(b, groups, c // groups, *size), False),
                     integers(0, 2, 1, *range(3, 3 + len(size))))
    y = op.reshape(y, integers(b, c, *size), False)
    return conv(d, d.act(conv(d, y, c, groups=c), "none"), c, 1)


def pixel_shuffle(d, x):
    if len(dims(x)) != 4:
        return residual(d, x)
    return op.depth_to_space(conv(d, x, 4 * max(8, dims(x)[1] // 2)), "blocks_first", 2)


def over_pixels(d, x):
    """Attention between the pixels, after group normalization."""
    b, c, *size = dims(x)
    count = int(np.prod(size))
    if count > 1600 or c % 4:
        return residual(d, x)
    y = op.group_normalization(x, d.w.small(c, around=1.0), d.w.small(c), 4, 1e-5)
    y = op.transpose(op.reshape(y, integers(b, c, count), False), integers(0, 2, 1))
    y = attended(d, y, d.one(1, 2, 4))
    return op.add(x, op.reshape(op.transpose(y, integers(0, 2, 1)), integers(b, c, *size), False))


# ---------------------------------------------------------------------------------------------- blocks of sequences

def attended(d, x, heads):
    b, tokens, width = dims(x)
    depth = width // heads

    def apart(v):
        return op.transpose(op.reshape(dense(d.w, v, width, width), integers(b, tokens, heads, depth), False),
                            integers(0, 2, 1, 3))

    q, k, v = apart(x), apart(x), apart(x)
    if d.chance(0.5):
        y = op.scaled_dot_product_attention(q, k, v, causal=d.chance(0.3))
    else:
        scores = op.multiply(op.matmul(q, k, False, True), op.constant(np.float32(1 / np.sqrt(depth))))
        y = op.matmul(op.softmax(scores, -1), v, False, False)
    y = op.reshape(op.transpose(y, integers(0, 2, 1, 3)), integers(b, tokens, width), False)
    return dense(d.w, y, width, width, 0.3)


def rms(d, x):
    mean = op.reduce_mean(op.power(x, op.constant(np.float32(2))), integers(-1), True)
    y = op.divide(x, op.sqrt(op.add(mean, op.constant(np.float32(1e-6)))))
    return op.multiply(y, d.w.small(dims(x)[-1], around=1.0))


def normalized(d, x):
    return rms(d, x) if d.chance(0.4) else normalization(d.w, x, dims(x)[-1])


def transformer(d, x):
    width = dims(x)[-1]
    heads = d.one(*[h for h in (1, 2, 4, 6, 8) if width % h == 0])
    x = op.add(x, attended(d, normalized(d, x), heads))
    return feed_forward(d, x)


def feed_forward(d, x):
    width = dims(x)[-1]
    wide, y = width * d.one(2, 4), normalized(d, x)
    up_ = dense(d.w, y, wide, width)
    inner = op.multiply(op.swish(up_), dense(d.w, y, wide, width)) if d.chance(0.4) else d.act(up_, "gelu", "relu")
    return op.add(x, dense(d.w, inner, width, wide, 0.3))


def mixer(d, x):
    tokens = dims(x)[1]
    y = op.transpose(normalized(d, x), integers(0, 2, 1))
    y = dense(d.w, d.act(dense(d.w, y, tokens * 2, tokens), "gelu"), tokens, tokens * 2)
    return feed_forward(d, op.add(x, op.transpose(y, integers(0, 2, 1))))


def recurrent(d, x):
    b, tokens, width = dims(x)
    hidden, sides = d.one(32, 64, 128), d.one(1, 2)
    gru, f32 = d.chance(0.5), Weights.__call__
    gates, state = 3 if gru else 4, op.constant(np.zeros((b, sides, hidden), np.float32))
    lengths = op.constant(np.full(b, tokens, np.int32))
    weights = f32(d.w, sides, gates * hidden, width, fan=width), f32(d.w, sides, gates * hidden, hidden, fan=hidden)
    bias, way = d.w.small(sides, gates * hidden), "bidirectional" if sides == 2 else "forward"
    if gru:
        y = op.gru_sequence(x, state, lengths, *weights, bias, hidden, way)
    else:
        y = op.lstm_sequence(x, state, state, lengths, *weights, bias, hidden, way)
    return dense(d.w, op.reshape(op.transpose(y.output(0), integers(0, 2, 1, 3)), integers(
        b, tokens, sides * hidden), False), width, sides * hidden)


def conformer(d, x):
    width = dims(x)[-1]
    y = op.transpose(normalized(d, x), integers(0, 2, 1))
    a, b = op.split(conv(d, y, 2 * width, 1), op.constant(np.int64(1)), 2).outputs()
    y = op.multiply(a, op.sigmoid(b))
    y = d.act(conv(d, y, width, d.one(7, 15, 31), groups=width), "swish")
    return op.add(x, op.transpose(conv(d, y, width, 1), integers(0, 2, 1)))


# ------------------------------------------------------------------------------------------------- blocks of sound

def dilated(d, x):
    width = dims(x)[1]
    y = conv(d, d.act(x, "leaky", "relu", "mish"), width, d.one(3, 5, 7), dilation=d.one(1, 2, 3, 9))
    return op.add(x, conv(d, d.act(y, "leaky", "tanh"), width, 1))


def gated(d, x):
    width = dims(x)[1]
    y = conv(d, x, width, 3, dilation=d.one(1, 2, 4, 8))
    z = conv(d, x, width, 3)
    return op.add(x, conv(d, op.multiply(op.tanh(y), op.sigmoid(z)), width, 1))


def separable(d, x):
    width = dims(x)[1]
    y = d.act(conv(d, x, width * 2, 1), "leaky")
    y = op.group_normalization(y, d.w.small(width * 2, around=1.0), d.w.small(width * 2), 1, 1e-5)
    y = conv(d, y, width * 2, 3, dilation=d.one(1, 2, 4, 8), groups=width * 2)
    return op.add(x, conv(d, d.act(y, "leaky"), width, 1))


# -------------------------------------------------------------------------------------------------- single layers

def given(*shape):
    return op.parameter(list(shape), np.float32, name="x")


def layer_convolution(d):
    rank = d.one(1, 2, 2, 2, 3)
    channels, outputs = d.one(3, 8, 16, 24, 32, 64, 96, 128), d.one(8, 16, 24, 32, 64, 96, 128)
    side = {1: d.one(200, 1000, 4000), 2: d.one(7, 14, 28, 56, 80), 3: d.one(6, 12, 16)}[rank]
    x = given(d.one(1, 1, 2), channels, *[side] * rank)
    groups = d.one(1, 1, 1, *(g for g in (2, 4, 8) if channels % g == 0 and outputs % g == 0))
    if d.chance(0.25):
        groups = outputs = channels
    return x, d.act(conv(d, x, outputs, d.one(1, 3, 3, 5), d.one(1, 1, 2), d.one(1, 1, 1, 2), groups))


def layer_transposed(d):
    rank = d.one(1, 2, 2, 3)
    x = given(1, d.one(8, 16, 32, 64), *[{1: d.one(100, 1000), 2: d.one(7, 14, 28), 3: d.one(6, 10)}[rank]] * rank)
    return x, transposed_conv(d, x, d.one(8, 16, 32, 64), *d.one((2, 2), (3, 2), (4, 2), (3, 1)))


def layer_product(d):
    rows, inner, columns = d.one(1, 7, 32, 100, 196), d.one(32, 64, 100, 256, 512, 768), d.one(10, 64, 128, 512, 1000)
    x = given(*d.one((), (1,), (4,), (2, 3)), rows, inner)
    return x, d.act(dense(d.w, x, columns, inner))


def layer_of_values(d):
    rank, tokens, depth = d.one(1, 8, 12), d.one(16, 49, 100, 196), d.one(16, 32, 64)
    x = given(rank, tokens, depth)
    return x, op.softmax(op.matmul(x, x, False, True), -1)


def layer_pool(d):
    x = given(1, d.one(16, 32, 64, 128), *[d.one(14, 28, 56, 112)] * 2)
    return x, pooled(d, x, d.one(2, 3, 5), d.one(1, 2))


def layer_resize(d):
    x = given(1, d.one(3, 16, 64), *[d.one(14, 28, 64)] * 2)
    return x, resized(d, x, d.one(1.5, 2, 4))


def layer_reduce(d):
    x = given(*d.one((4, 64, 56, 56), (8, 128, 256), (1, 1000, 300), (16, 32, 32, 32)))
    rank = len(dims(x))
    axes = d.random.permutation(rank)[:d.one(1, 2)]
    kind = d.one(op.reduce_mean, op.reduce_sum, op.reduce_max, op.reduce_l2, op.reduce_prod)
    return x, kind(x, integers(*axes), d.chance(0.5))


def layer_normalization(d):
    x = given(*d.one((4, 64, 56, 56), (8, 128, 256), (1, 1000, 300), (2, 49, 768)))
    kind = d.one("layer", "rms", "softmax", "group", "l2", "mvn")
    if kind == "layer":
        return x, normalization(d.w, x, dims(x)[-1])
    if kind == "rms":
        return x, rms(d, x)
    if kind == "softmax":
        return x, op.softmax(x, d.one(1, -1))
    if kind == "l2":
        return x, op.normalize_l2(x, integers(d.one(1, len(dims(x)) - 1)), 1e-6, "add")
    channels = dims(x)[1]
    if kind == "group" and channels % 4 == 0:
        return x, op.group_normalization(x, d.w.small(channels, around=1.0), d.w.small(channels), 4, 1e-5)
    return x, op.mvn(x, integers(*range(2, len(dims(x)))), True, 1e-5, "inside_sqrt")


def layer_moves(d):
    x = given(*d.one((4, 64, 56, 56), (8, 128, 256), (2, 12, 196, 64), (16, 32, 32, 32)))
    shape = dims(x)
    rank = len(shape)
    kind = d.one("transpose", "gather", "concat", "slice", "pad", "tile", "roll", "flip", "split")
    axis = int(d.random.integers(rank))
    if kind == "transpose":
        return x, op.transpose(x, integers(*d.random.permutation(rank)))
    if kind == "gather":
        return x, op.gather(x, integers(*d.random.integers(0, shape[axis], 20)), op.constant(np.int64(axis)))
    if kind == "concat":
        return x, op.concat([x, op.relu(x), x], axis)
    if kind == "slice":
        return x, op.slice(x, integers(1), integers(2**31), integers(d.one(1, 2)), integers(axis))
    if kind == "pad":
        pads = integers(*[0] * (rank - 2), 1, 2)
        return x, op.pad(x, pads, pads, d.one("constant", "reflect", "edge"), op.constant(np.float32(0)))
    if kind == "tile":
        return x, op.tile(x, integers(*[2 if a == axis else 1 for a in range(rank)]))
    if kind == "roll":
        return x, op.roll(x, integers(3), integers(axis))
    if kind == "flip":
        return x, op.slice(x, integers(-1), integers(-2**31), integers(-1), integers(axis))
    parts = op.split(x, op.constant(np.int64(axis)), 2 if shape[axis] % 2 == 0 else 1).outputs()
    return x, op.add(parts[0], parts[-1])


def layer_elements(d):
    x = given(*d.one((4, 64, 56, 56), (8, 128, 256), (1, 1000, 300)))
    shape = dims(x)
    other = [n if d.chance(0.5) else 1 for n in shape]
    y = d.one(op.add, op.multiply, op.maximum, op.subtract)(x, d.w.small(*other, around=1.0))
    y = d.act(y)
    return x, d.one(op.exp, op.abs, op.sqrt, op.erf, op.floor, op.sin)(op.abs(y))


def layer_sorted(d):
    x = given(*d.one((1, 8400, 80), (16, 1000), (4, 300, 91)))
    axis = len(dims(x)) - 1
    kind = d.one("topk", "argmax", "cumsum", "onehot")
    if kind == "cumsum":
        return x, op.cum_sum(x, op.constant(np.int64(axis)))
    k = 1 if kind == "argmax" else 10
    return x, op.topk(x, op.constant(np.int64(k)), axis, "max", "value").output(0)


LAYERS = [layer_convolution] * 5 + [layer_product] * 3 + [
    layer_transposed, layer_of_values, layer_pool, layer_resize, layer_reduce, layer_normalization, layer_moves,
    layer_elements, layer_sorted]

IMAGES = residual, bottleneck, inverted, inverted, convnext, down, up, dense_block, csp, pyramid, shuffle, \
    pixel_shuffle, over_pixels
BLOCKS = {
    "layers": LAYERS,
    "images": IMAGES,
    "volumes": (residual, bottleneck, inverted, down, up, dense_block, over_pixels),
    "sequences": (transformer, transformer, feed_forward, mixer, recurrent, conformer),
    "sounds": (dilated, gated, separable, down, up, dilated),
}


def start_of(d, kind):
    width = d.one(8, 16, 24, 32, 48, 64, 96)
    if kind == "images":
        return given(d.one(1, 1, 1, 2), width, *[d.one(14, 20, 28, 40, 56)] * 2)
    if kind == "volumes":
        return given(1, d.one(8, 16, 24, 32), d.one(4, 8, 12), *[d.one(8, 14, 20, 28)] * 2)
    if kind == "sequences":
        return given(d.one(1, 1, 2, 4), d.one(8, 32, 50, 128), d.one(48, 64, 96, 128, 192, 256))
    return given(1, width, d.one(200, 1000, 3000))


def net(kind, seed, int8):
    """The parameter, the result and the names of the blocks."""
    d = Draw(seed, int8)
    if kind == "layers":
        layer = d.one(*LAYERS)
        return *layer(d), [layer.__name__.removeprefix("layer_")]
    start = x = start_of(d, kind)
    names = []
    for _ in range(d.one(2, 3, 4)):
        block = d.one(*BLOCKS[kind])
        x, names = block(d, x), [*names, block.__name__]
    return start, x, names


def write(folder, kind, number, seed, int8):
    start, result, names = net(kind, seed, int8)
    folder /= "_".join([kind, str(number), *names])
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    model = ov.Model([op.result(result)], [start], "_".join(names))
    ov.save_model(model, folder / "model.xml", compress_to_fp16=False)
    values = np.random.default_rng(seed).standard_normal(dims(start)).astype(np.float32)
    np.save(folder / "inputs" / "x.npy", values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="of each kind")
    parser.add_argument("--kinds", default=",".join(BLOCKS))
    parser.add_argument("--int8", action="store_true")
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        for number in range(options.count):
            write(options.folder, kind, number, options.seed * 1000 + number, options.int8)


if __name__ == "__main__":
    main()
