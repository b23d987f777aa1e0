"""Well-known architectures with seeded weights, written as IR by OpenVINO's own Python API.

  nets.py FOLDER [NAME...]      writes FOLDER/NAME/model.xml, model.bin and inputs/<parameter>.npy
"""
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

NETS = {}


def net(build):
    NETS[build.__name__] = build
    return build


class Weights:
    """Matrices and filters of unit gain, so that values stay finite through many layers."""
    def __init__(self):
        self.random = np.random.default_rng(1)

    def __call__(self, *shape, fan=None, gain=1.0):
        fan = fan or int(np.prod(shape[1:]))
        return op.constant((self.random.standard_normal(shape) * gain / np.sqrt(fan)).astype(np.float32))

    def small(self, *shape, around=0.0):
        return op.constant((self.random.standard_normal(shape) * 0.1 + around).astype(np.float32))


def integers(*values):
    return op.constant(np.array(values, np.int64))


def convolution(w, x, outputs, kernel=1, stride=1, groups=1, activation=None, gain=1.0, pad=None):
    channels = (x if isinstance(x, ov.Output) else x.output(0)).get_partial_shape()[1].get_length()
    pad = kernel // 2 if pad is None else pad
    strides, pads = [stride] * 2, [pad] * 2
    if groups == 1:
        y = op.convolution(x, w(outputs, channels, kernel, kernel, gain=gain), strides, pads, pads, [1, 1])
    else:
        filters = w(groups, outputs // groups, channels // groups, kernel, kernel,
                    fan=channels // groups * kernel * kernel, gain=gain)
        y = op.group_convolution(x, filters, strides, pads, pads, [1, 1])
    y = op.add(y, w.small(1, outputs, 1, 1))
    return activation(y) if activation else y


def max_pool(x, kernel, stride, pad):
    return op.max_pool(x, [stride] * 2, [1, 1], [pad] * 2, [pad] * 2, [kernel] * 2, "floor", "explicit").output(0)


def relu6(x):
    return op.clamp(x, 0.0, 6.0)


def dense(w, x, outputs, inputs, gain=1.0):
    return op.add(op.matmul(x, w(outputs, inputs, gain=gain), False, True), w.small(1, outputs))


def head(w, x, channels, classes=1000):
    x = op.reduce_mean(x, integers(2, 3), False)
    return dense(w, x, classes, channels)


def image(size=224, channels=3):
    return op.parameter([1, channels, size, size], np.float32, name="image")


@net
def resnet50(w):
    x = start = image()
    x = convolution(w, x, 64, 7, 2, activation=op.relu)
    x = max_pool(x, 3, 2, 1)
    for width, blocks, stride in (64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = convolution(w, x, width, activation=op.relu)
            y = convolution(w, y, width, 3, step, activation=op.relu)
            y = convolution(w, y, width * 4, gain=0.3)
            x = convolution(w, x, width * 4, stride=step) if block == 0 else x
            x = op.relu(op.add(y, x))
    return [start], head(w, x, 2048)


@net
def mobilenet_v2(w):
    x = start = image()
    x = convolution(w, x, 32, 3, 2, activation=relu6)
    channels = 32
    for expand, outputs, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            wide, step = channels * expand, stride if block == 0 else 1
            y = convolution(w, x, wide, activation=relu6) if expand > 1 else x
            y = convolution(w, y, wide, 3, step, groups=wide, activation=relu6)
            y = convolution(w, y, outputs)
            x = op.add(x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = convolution(w, x, 1280, activation=relu6)
    return [start], head(w, x, 1280)


@net
def efficientnet_b0(w):
    x = start = image()
    x = convolution(w, x, 32, 3, 2, activation=op.swish)
    channels = 32
    for expand, outputs, blocks, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
                                                    (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                                    (6, 320, 1, 1, 3)):
        for block in range(blocks):
            wide, step = channels * expand, stride if block == 0 else 1
            y = convolution(w, x, wide, activation=op.swish) if expand > 1 else x
            y = convolution(w, y, wide, kernel, step, groups=wide, activation=op.swish)
            s = op.reduce_mean(y, integers(2, 3), True)
            s = convolution(w, s, max(1, channels // 4), activation=op.swish)
            y = op.multiply(y, convolution(w, s, wide, activation=op.sigmoid))
            y = convolution(w, y, outputs)
            x = op.add(x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = convolution(w, x, 1280, activation=op.swish)
    return [start], head(w, x, 1280)


@net
def densenet121(w):
    x = start = image()
    x = convolution(w, x, 64, 7, 2, activation=op.relu)
    x = max_pool(x, 3, 2, 1)
    channels = 64

    def normalized(x, channels):
        scaled = op.multiply(x, w.small(1, channels, 1, 1, around=1.0))
        return op.relu(op.add(scaled, w.small(1, channels, 1, 1)))

    for last, layers in (False, 6), (False, 12), (False, 24), (True, 16):
        for _ in range(layers):
            y = convolution(w, normalized(x, channels), 128, activation=op.relu)
            x = op.concat([x, convolution(w, y, 32, 3)], 1)
            channels += 32
        x = normalized(x, channels)
        if not last:
            channels //= 2
            x = op.avg_pool(convolution(w, x, channels), [2, 2], [0, 0], [0, 0], [2, 2], True)
    return [start], head(w, x, channels)


@net
def shufflenet_v2(w):
    x = start = image()
    x = convolution(w, x, 24, 3, 2, activation=op.relu)
    x = max_pool(x, 3, 2, 1)
    size, channels = 56, 24
    for outputs, blocks in (116, 4), (232, 8), (464, 4):
        half = outputs // 2
        for block in range(blocks):
            if block == 0:
                size //= 2
                left = convolution(w, x, channels, 3, 2, groups=channels)
                left = convolution(w, left, half, activation=op.relu)
                right = convolution(w, x, half, activation=op.relu)
                right = convolution(w, right, half, 3, 2, groups=half)
            else:
                parts = op.variadic_split(
                    x, op.constant(np.int64(1)), integers(half, half))
                left, right = parts.output(0), parts.output(1)
                right = convolution(w, right, half, activation=op.relu)
                right = convolution(w, right, half, 3, 1, groups=half)
            right = convolution(w, right, half, activation=op.relu)
            x = op.concat([left, right], 1)
            x = op.reshape(x, integers(1, 2, half, size, size), False)
            x = op.transpose(x, integers(0, 2, 1, 3, 4))
            x = op.reshape(x, integers(1, outputs, size, size), False)
        channels = outputs
    return [start], head(w, convolution(w, x, 1024, activation=op.relu), 1024)


@net
def unet(w):
    x = start = image(256)
    skips = []
    for width in 32, 64, 128, 256:
        x = convolution(w, convolution(w, x, width, 3, activation=op.relu), width, 3, activation=op.relu)
        skips.append(x)
        x = max_pool(x, 2, 2, 0)
    x = convolution(w, convolution(w, x, 512, 3, activation=op.relu), 512, 3, activation=op.relu)
    channels = 512
    for width in 256, 128, 64, 32:
        x = op.convolution_backprop_data(x, w(channels, width, 2, 2, fan=channels), [2, 2])
        x = op.concat([op.add(x, w.small(1, width, 1, 1)), skips.pop()], 1)
        x = convolution(w, convolution(w, x, width, 3, activation=op.relu), width, 3, activation=op.relu)
        channels = width
    return [start], convolution(w, x, 4)


@net
def yolo(w):
    """A one-stage detector with split blocks, pooling pyramid and resized features, as YOLOv8n has."""
    x = start = image(640)

    def conv(x, outputs, kernel=1, stride=1):
        return convolution(w, x, outputs, kernel, stride, activation=op.swish)

    def split_block(x, outputs, repeats, add):
        half = outputs // 2
        parts = op.split(conv(x, outputs), op.constant(np.int64(1)), 2)
        left, right = parts.output(0), parts.output(1)
        list_, last = [left, right], right
        for _ in range(repeats):
            y = conv(conv(last, half, 3), half, 3)
            last = op.add(last, y) if add else y
            list_.append(last)
        return conv(op.concat(list_, 1), outputs)

    def twice(x, size):
        return op.interpolate(x, integers(size * 2, size * 2), "nearest", "sizes", axes=integers(2, 3))

    features = []
    for stage, (outputs, repeats) in enumerate(((32, 1), (64, 2), (128, 2), (256, 1))):
        x = conv(conv(x, 16, 3, 2), outputs, 3, 2) if stage == 0 else conv(x, outputs, 3, 2)
        x = split_block(x, outputs, repeats, True)
        features.append(x)
    pooled = [conv(x, 128)]
    for _ in range(3):
        pooled.append(max_pool(pooled[-1], 5, 1, 2))
    p5 = conv(op.concat(pooled, 1), 256)
    p4 = split_block(op.concat([twice(p5, 20), features[2]], 1), 128, 1, False)
    p3 = split_block(op.concat([twice(p4, 40), features[1]], 1), 64, 1, False)
    p4 = split_block(op.concat([conv(p3, 64, 3, 2), p4], 1), 128, 1, False)
    p5 = split_block(op.concat([conv(p4, 128, 3, 2), p5], 1), 256, 1, False)
    outputs = []
    for p, size in (p3, 80), (p4, 40), (p5, 20):
        boxes = convolution(w, conv(conv(p, 64, 3), 64, 3), 64)
        classes = convolution(w, conv(conv(p, 80, 3), 80, 3), 80)
        outputs.append(op.reshape(op.concat([boxes, classes], 1), integers(1, 144, size * size), False))
    return [start], op.concat(outputs, 2)


def normalization(w, x, width):
    x = op.mvn(x, integers(-1), True, 1e-5, "inside_sqrt")
    return op.add(op.multiply(x, w.small(width, around=1.0)), w.small(width))


def attention(w, x, tokens, width, heads, mask=None, fused=True):
    depth = width // heads

    def split(v):
        return op.transpose(op.reshape(v, integers(1, tokens, heads, depth), False), integers(0, 2, 1, 3))

    q, k, v = (split(dense(w, x, width, width)) for _ in range(3))
    if fused:
        y = op.scaled_dot_product_attention(q, k, v, mask) if mask else op.scaled_dot_product_attention(q, k, v)
    else:
        scores = op.divide(op.matmul(q, k, False, True), op.constant(np.float32(np.sqrt(depth))))
        y = op.matmul(op.softmax(op.add(scores, mask) if mask else scores, -1), v, False, False)
    y = op.reshape(op.transpose(y, integers(0, 2, 1, 3)), integers(1, tokens, width), False)
    return dense(w, y, width, width, gain=0.3)


def encoder(w, x, tokens, width, heads, layers, before, fused=True):
    for _ in range(layers):
        if before:
            x = op.add(x, attention(w, normalization(w, x, width), tokens, width, heads, fused=fused))
            y = op.gelu(dense(w, normalization(w, x, width), width * 4, width), "erf")
            x = op.add(x, dense(w, y, width, width * 4, gain=0.3))
        else:
            x = normalization(w, op.add(x, attention(w, x, tokens, width, heads, fused=fused)), width)
            y = dense(w, op.gelu(dense(w, x, width * 4, width), "erf"), width, width * 4)
            x = normalization(w, op.add(x, y), width)
    return x


def embedded(w, tokens, words, width):
    ids = op.parameter([1, tokens], np.int64, name="input_ids")
    rows = op.gather(w(words, width, fan=1), ids, op.constant(np.int64(0)))
    return ids, op.add(rows, w(1, tokens, width, fan=1, gain=0.1))


@net
def bert_base(w):
    ids, x = embedded(w, 128, 30522, 768)
    return [ids], encoder(w, normalization(w, x, 768), 128, 768, 12, 12, False, fused=False)


@net
def bert_tiny(w):
    ids, x = embedded(w, 32, 2000, 128)
    return [ids], encoder(w, normalization(w, x, 128), 32, 128, 4, 3, False)


@net
def vit_tiny(w):
    start = image()
    x = convolution(w, start, 192, 16, 16, pad=0)
    x = op.transpose(op.reshape(x, integers(1, 192, 196), False), integers(0, 2, 1))
    x = op.add(op.concat([w(1, 1, 192, fan=1), x], 1), w(1, 197, 192, fan=1, gain=0.1))
    x = encoder(w, x, 197, 192, 3, 12, True)
    return [start], dense(w, op.reduce_mean(normalization(w, x, 192), integers(1), False), 1000, 192)


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


def write(name, folder):
    parameters, result = NETS[name](Weights())
    model = ov.Model([op.result(result)], parameters, name)
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    ov.save_model(model, folder / "model.xml", compress_to_fp16=False)
    random = np.random.default_rng(2)
    for parameter in parameters:
        shape = [d.get_length() for d in parameter.get_partial_shape()]
        whole = parameter.get_element_type() == ov.Type.i64
        values = random.integers(0, 1000, shape) if whole else random.standard_normal(shape).astype(np.float32)
        np.save(folder / "inputs" / f"{parameter.get_friendly_name()}.npy", values)


if __name__ == "__main__":
    for each in sys.argv[2:] or NETS:
        write(each, Path(sys.argv[1]) / each)
