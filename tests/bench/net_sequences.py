"""Transformers and recurrent nets."""
import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op import util

from net_parts import convolution, dense, image, integers, net, normalization


def heads_of(x, tokens, heads, depth):
    return op.transpose(op.reshape(x, integers(0, tokens, heads, depth), True), integers(0, 2, 1, 3))


def attention(w, x, tokens, width, heads, mask=None, fused=True, biased=True, source=None):
    """`source`: what keys and values are made of, if not `x`."""
    depth = width // heads

    def projected(v, gain=1.0):
        return dense(w, v, width, width, gain) if biased else product(w, v, width, width, gain)

    q, k, v = (heads_of(projected(y), tokens, heads, depth) for y in (x, source or x, source or x))
    if fused:
        y = op.scaled_dot_product_attention(q, k, v, mask) if mask else op.scaled_dot_product_attention(q, k, v)
    else:
        scores = op.divide(op.matmul(q, k, False, True), op.constant(np.float32(np.sqrt(depth))))
        y = op.matmul(op.softmax(op.add(scores, mask) if mask else scores, -1), v, False, False)
    y = op.reshape(op.transpose(y, integers(0, 2, 1, 3)), integers(0, tokens, width), True)
    return projected(y, 0.3)


def product(w, x, outputs, inputs, gain=1.0):
    return op.matmul(w.value(x), w(outputs, inputs, gain=gain), False, True)


def encoder(w, x, tokens, width, heads, layers, before, fused=True, mask=None, wide=4, approximation="erf"):
    """`before`: whether normalization comes before attention and feed-forward, or after."""
    def attended(x):
        return attention(w, x, tokens, width, heads, mask, fused)

    def forward(x, gain=1.0):
        return dense(w, op.gelu(dense(w, x, width * wide, width), approximation), width, width * wide, gain)

    for _ in range(layers):
        if before:
            x = op.add(x, attended(normalization(w, x, width)))
            x = op.add(x, forward(normalization(w, x, width), 0.3))
        else:
            x = normalization(w, op.add(x, attended(x)), width)
            x = normalization(w, op.add(x, forward(x)), width)
    return x


def embedded(w, tokens, words, width, batch=1):
    ids = op.parameter([batch, tokens], np.int64, name="input_ids")
    rows = op.gather(w(words, width, fan=1), ids, op.constant(np.int64(0)))
    return ids, op.add(rows, w(1, tokens, width, fan=1, gain=0.1))


def causal(tokens):
    """What is added to the scores."""
    return op.constant(np.triu(np.full((1, 1, tokens, tokens), -np.inf, np.float32), 1))


@net
def bert_base(w):
    ids, x = embedded(w, 128, 30522, 768)
    return [ids], encoder(w, normalization(w, x, 768), 128, 768, 12, 12, False, fused=False)


@net
def bert_tiny(w):
    ids, x = embedded(w, 32, 2000, 128)
    return [ids], encoder(w, normalization(w, x, 128), 32, 128, 4, 3, False)


@net
def roberta_tiny(w):
    """With a mask of the tokens, as exported by transformers."""
    ids, x = embedded(w, 32, 5000, 128, 2)
    mask = op.parameter([2, 32], np.int64, name="attention_mask")
    seen = op.unsqueeze(op.convert(mask, "boolean"), integers(1, 2))
    seen = op.broadcast(seen, integers(2, 1, 32, 32), broadcast_spec="BIDIRECTIONAL")
    x = encoder(w, normalization(w, x, 128), 32, 128, 4, 3, False, mask=seen, wide=2)
    return [ids, mask], dense(w, x, 9, 128)


@net
def t5_tiny(w):
    """Encoder and decoder with relative positions and RMS normalization."""
    tokens, width, heads = 24, 64, 4

    def block(x, bias, source=None):
        def attended(x, bias, source=None):
            return op.add(x, attention(w, rms(w, x, width), tokens, width, heads, bias, True, False, source))
        x = attended(x, bias)
        x = attended(x, None, source) if source else x
        y = op.relu(product(w, rms(w, x, width), 128, width))
        return op.add(x, product(w, y, width, 128, 0.3))

    words = w(2000, width, fan=1)
    ids, others = (op.parameter([1, tokens], np.int64, name=n) for n in ("input_ids", "decoder_input_ids"))
    x, y = (op.gather(words, i, op.constant(np.int64(0))) for i in (ids, others))
    bias = w(1, heads, tokens, tokens, fan=1, gain=0.5)
    for _ in range(2):
        x = block(x, bias)
    x, bias = rms(w, x, width), op.add(bias, causal(tokens))
    for _ in range(2):
        y = block(y, bias, x)
    return [ids, others], op.matmul(rms(w, y, width), words, False, True)


@net
def wav2vec2_tiny(w):
    """Speech: convolutions over samples, a wide one over positions, an encoder."""
    start = op.parameter([1, 16000], np.float32, name="input_values")
    x = op.unsqueeze(start, integers(1))
    width = 1
    for kernel, stride in (10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2):
        x = op.convolution(x, w(64, width, kernel), [stride], [0], [0], [1])
        if width == 1:
            x = op.group_normalization(x, w.small(64, around=1.0), w.small(64), 64, 1e-5)
        x, width = op.gelu(x, "erf"), 64
    tokens = x.output(0).get_shape()[2]
    x = dense(w, normalization(w, op.transpose(x, integers(0, 2, 1)), 64), 128, 64)
    y = op.group_convolution(op.transpose(x, integers(0, 2, 1)), w(16, 8, 8, 16, fan=128), [1], [8], [7], [1])
    y = op.gelu(op.add(y, w.small(1, 128, 1)), "erf")
    x = normalization(w, op.add(x, op.transpose(y, integers(0, 2, 1))), 128)
    return [start], dense(w, encoder(w, x, tokens, 128, 4, 3, False, wide=2), 32, 128)


@net
def vit_tiny(w):
    start = image()
    x = convolution(w, start, 192, 16, 16, pad=0)
    x = op.transpose(op.reshape(x, integers(1, 192, 196), False), integers(0, 2, 1))
    x = op.add(op.concat([w(1, 1, 192, fan=1), x], 1), w(1, 197, 192, fan=1, gain=0.1))
    x = encoder(w, x, 197, 192, 3, 12, True)
    return [start], dense(w, op.reduce_mean(normalization(w, x, 192), integers(1), False), 1000, 192)


@net
def swin_t(w):
    """Attention within windows of 7 × 7, every second time shifted by three."""
    start = image()
    size, width, heads, side = 56, 96, 3, 7
    x = op.transpose(convolution(w, start, width, 4, 4, pad=0), integers(0, 2, 3, 1))
    x = normalization(w, x, width)

    def windows(x, shift):
        n = size // side
        y = normalization(w, x, width)
        if shift:
            y = op.roll(y, integers(-3, -3), integers(1, 2))
        y = op.transpose(op.reshape(y, integers(n, side, n, side, width), False), integers(0, 2, 1, 3, 4))
        y = op.reshape(y, integers(n * n, side * side, width), False)
        mask = w(n * n if shift else 1, heads, side * side, side * side, fan=1, gain=0.5)
        y = attention(w, y, side * side, width, heads, mask, fused=False)
        y = op.transpose(op.reshape(y, integers(n, n, side, side, width), False), integers(0, 2, 1, 3, 4))
        y = op.reshape(y, integers(1, size, size, width), False)
        return op.roll(y, integers(3, 3), integers(1, 2)) if shift else y

    for stage, blocks in enumerate((2, 2, 6, 2)):
        if stage:
            halves = [op.strided_slice(x, integers(0, i, j), integers(0, size, size), integers(1, 2, 2), [1, 0, 0],
                                       [1, 0, 0]) for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
            x = normalization(w, op.concat(halves, 3), 4 * width)
            x = product(w, x, 2 * width, 4 * width)
            size, width, heads = size // 2, width * 2, heads * 2
        for block in range(blocks):
            x = op.add(x, windows(x, block % 2 and size > side))
            y = op.gelu(dense(w, normalization(w, x, width), width * 4, width), "erf")
            x = op.add(x, dense(w, y, width, width * 4, gain=0.3))
    x = op.reduce_mean(normalization(w, x, width), integers(1, 2), False)
    return [start], dense(w, x, 1000, width)


@net
def gpt2(w):
    """124M: the prompt."""
    tokens, width = 128, 768
    ids, x = embedded(w, tokens, 50257, width)
    x = encoder(w, x, tokens, width, 12, 12, True, mask=causal(tokens), approximation="tanh")
    return [ids], product(w, normalization(w, x, width), 50257, width)


class Decoder:
    """One token after the other, with keys and values kept as states, as optimum-intel exports it."""
    def __init__(self, heads, depth):
        self.heads, self.depth, self.sinks = heads, depth, []
        self.ids = op.parameter([-1, -1], np.int64, name="input_ids")
        self.positions = op.parameter([-1, -1], np.int64, name="position_ids")
        self.order = op.parameter([-1], np.int32, name="beam_idx")
        self.parameters = [self.ids, self.positions, self.order]
        batch = op.gather(op.shape_of(self.ids), integers(0), op.constant(np.int64(0)))
        self.empty = op.broadcast(op.constant(np.float32(0)), op.concat([batch, integers(heads, 0, depth)], 0))

    def appended(self, x):
        """x [batch, heads, tokens, depth] after what the state holds."""
        info = util.VariableInfo()
        info.data_shape = ov.PartialShape([-1, self.heads, -1, self.depth])
        info.data_type, info.variable_id = ov.Type.f32, f"past.{len(self.sinks)}"
        variable = util.Variable(info)
        past = op.gather(op.read_value(self.empty, variable), self.order, op.constant(np.int64(0)))
        x = op.concat([past, x], 2)
        self.sinks.append(op.assign(x, variable))
        return x

    def mask(self, keys):
        """Which keys a query sees: those up to its own position."""
        count = op.gather(op.shape_of(keys), op.constant(np.int64(2)), op.constant(np.int64(0)))
        order = op.range(op.constant(np.int64(0)), count, op.constant(np.int64(1)), "i64")
        return op.less_equal(op.unsqueeze(order, integers(0, 1, 2)), op.unsqueeze(self.positions, integers(1, 3)))

    def result(self, x, words):
        random = np.random.default_rng(2)
        steps = [{"input_ids": random.integers(0, words, (1, 1)), "position_ids": np.full((1, 1), i),
                  "beam_idx": np.zeros(1, np.int32)} for i in range(32)]
        return self.parameters, x, self.sinks, steps


@net
def gpt2_decode(w):
    words, width, heads = 50257, 768, 12
    d = Decoder(heads, 64)
    rows = [op.gather(w(n, width, fan=1, gain=g), i, op.constant(np.int64(0)))
            for n, i, g in ((words, d.ids, 1.0), (1024, d.positions, 0.1))]
    x, mask = op.add(*rows), None
    for _ in range(12):
        q, k, v = (heads_of(dense(w, y, width, width), 0, heads, 64) for y in [normalization(w, x, width)] * 3)
        k, v = d.appended(k), d.appended(v)
        mask = mask or d.mask(k)
        y = op.transpose(op.scaled_dot_product_attention(q, k, v, mask), integers(0, 2, 1, 3))
        x = op.add(x, dense(w, op.reshape(y, integers(0, 0, width), True), width, width, gain=0.3))
        y = op.gelu(dense(w, normalization(w, x, width), width * 4, width), "tanh")
        x = op.add(x, dense(w, y, width, width * 4, gain=0.3))
    return d.result(product(w, normalization(w, x, width), words, width), words)


def compressed(w, outputs, inputs, gain=1.0, bits=4, group=128):
    """u4 or u8 with a zero point and an f16 scale for each group of inputs, as NNCF writes them."""
    values = (w.random.standard_normal((outputs, inputs // group, group)) * gain / np.sqrt(inputs)).astype(np.float32)
    top = 2 ** bits - 1
    low, high = values.min(2, keepdims=True), values.max(2, keepdims=True)
    scale = ((high - low) / top).astype(np.float16)
    zero = np.clip(np.round(-low / scale), 0, top).astype(np.uint8)
    codes = np.clip(np.round(values / scale) + zero, 0, top).astype(np.uint8)

    def constant(v):
        return op.convert(op.constant(v if bits == 8 else packed(v)), "f16")

    weights = op.multiply(op.subtract(constant(codes), constant(zero)), op.constant(scale))
    return op.convert(op.reshape(weights, integers(outputs, inputs), False), "f32")


def packed(codes):
    """As u4: two to a byte, the first in the low bits."""
    flat, tensor = codes.reshape(-1), ov.Tensor(ov.Type.u4, ov.Shape(codes.shape))
    tensor.data[:] = flat[0::2] | flat[1::2] << 4
    return tensor


def rms(w, x, width):
    """Root mean square normalization, spelled out as PyTorch's tracer does."""
    mean = op.reduce_mean(op.power(x, op.constant(np.float32(2))), integers(-1), True)
    scale = op.divide(op.constant(np.float32(1)), op.sqrt(op.add(mean, op.constant(np.float32(1e-6)))))
    return op.multiply(op.multiply(x, scale), w.small(width, around=1.0))


def rotated(x, cosine, sine, depth):
    """Rotary embedding: halves of a head turned by the position's angles."""
    def part(begin, end):
        return op.slice(x, integers(begin), integers(end), integers(1), integers(3))
    turned = op.concat([op.multiply(part(depth // 2, depth), op.constant(np.float32(-1))), part(0, depth // 2)], 3)
    return op.add(op.multiply(x, cosine), op.multiply(turned, sine))


def llama(w, bits):
    words, width, wide, heads, groups, depth = 8000, 1024, 2816, 16, 4, 64
    d = Decoder(groups, depth)
    x = op.gather(compressed(w, words, width, width ** 0.5, 8, width), d.ids, op.constant(np.int64(0)))
    rates = op.constant((10000.0 ** -(np.arange(0, depth, 2) / depth)).astype(np.float32))
    angles = op.multiply(op.convert(op.unsqueeze(d.positions, integers(1, 3)), "f32"), rates)
    angles = op.concat([angles, angles], 3)
    cosine, sine, mask = op.cos(angles), op.sin(angles), None

    def linear(x, outputs, inputs, gain=1.0):
        return op.matmul(x, compressed(w, outputs, inputs, gain, bits), False, True)

    def shared(x):
        """Every group of heads has the same keys and values."""
        shape = op.shape_of(x)
        y = op.broadcast(op.unsqueeze(x, integers(2)), op.concat(
            [op.gather(shape, integers(0, 1), op.constant(np.int64(0))), integers(heads // groups),
             op.gather(shape, integers(2, 3), op.constant(np.int64(0)))], 0), broadcast_spec="BIDIRECTIONAL")
        return op.reshape(y, integers(0, heads, -1, depth), True)

    for _ in range(8):
        y = rms(w, x, width)
        q = heads_of(linear(y, width, width), 0, heads, depth)
        k, v = (heads_of(linear(y, groups * depth, width), 0, groups, depth) for _ in range(2))
        k, v = d.appended(rotated(k, cosine, sine, depth)), d.appended(v)
        mask = mask or d.mask(k)
        y = op.scaled_dot_product_attention(rotated(q, cosine, sine, depth), shared(k), shared(v), mask)
        y = op.reshape(op.transpose(y, integers(0, 2, 1, 3)), integers(0, 0, width), True)
        x = op.add(x, linear(y, width, width, 0.3))
        y = rms(w, x, width)
        y = op.multiply(op.swish(linear(y, wide, width)), linear(y, wide, width))
        x = op.add(x, linear(y, width, wide, 0.3))
    return d.result(linear(rms(w, x, width), words, width), words)


@net
def llama_int4(w):
    return llama(w, 4)


@net
def llama_int8(w):
    return llama(w, 8)


@net
def lstm_speech(w):
    x = start = op.parameter([1, 100, 80], np.float32, name="features")
    width = 80
    for _ in range(2):
        hidden = 256
        zero = op.constant(np.zeros((1, 2, hidden), np.float32))
        y = op.lstm_sequence(x, zero, zero, integers(100), w(2, 4 * hidden, width, fan=width),
                             w(2, 4 * hidden, hidden, fan=hidden), w.small(2, 4 * hidden), hidden, "bidirectional")
        x = op.reshape(op.transpose(y.output(0), integers(0, 2, 1, 3)), integers(1, 100, 2 * hidden), False)
        width = 2 * hidden
    return [start], op.softmax(dense(w, x, 40, width), -1)


@net
def gru_speech(w):
    x = start = op.parameter([1, 100, 80], np.float32, name="features")
    width = 80
    for _ in range(2):
        hidden = 256
        zero = op.constant(np.zeros((1, 2, hidden), np.float32))
        y = op.gru_sequence(x, zero, integers(100), w(2, 3 * hidden, width, fan=width),
                            w(2, 3 * hidden, hidden, fan=hidden), w.small(2, 4 * hidden), hidden, "bidirectional",
                            linear_before_reset=True)
        x = op.reshape(op.transpose(y.output(0), integers(0, 2, 1, 3)), integers(1, 100, 2 * hidden), False)
        width = 2 * hidden
    return [start], op.softmax(dense(w, x, 40, width), -1)
