"""What the nets are made of: seeded weights and the usual layers."""
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

    def __call__(self, *shape, fan=None, gain=1.0, axes=1):
        fan = fan or int(np.prod(shape[1:]))
        return op.constant((self.random.standard_normal(shape) * gain / np.sqrt(fan)).astype(np.float32))

    def small(self, *shape, around=0.0):
        return op.constant((self.random.standard_normal(shape) * 0.1 + around).astype(np.float32))

    def value(self, x, signed=True):
        """What a product or convolution reads."""
        return x


class Int8(Weights):
    """As NNCF leaves them: weights are i8 times a scale an output, of which there are as many as the first `axes` say;
    values go through FakeQuantize."""
    def __call__(self, *shape, fan=None, gain=1.0, axes=1):
        values = super().__call__(*shape, fan=fan, gain=gain).get_data()
        scale = np.abs(values).max(axis=tuple(range(axes, len(shape))), keepdims=True) / 127
        whole = op.convert(op.constant(np.round(values / scale).astype(np.int8)), np.float32)
        return op.multiply(whole, op.constant(scale.astype(np.float32)))

    def value(self, x, signed=True):
        low, high = (op.constant(np.float32(v)) for v in ((-4, 4 * 127 / 128) if signed else (0, 6)))
        return op.fake_quantize(x, low, high, low, high, 256)


def integers(*values):
    return op.constant(np.array(values, np.int64))


def convolution(w, x, outputs, kernel=1, stride=1, groups=1, activation=None, gain=1.0, pad=None):
    channels = (x if isinstance(x, ov.Output) else x.output(0)).get_partial_shape()[1].get_length()
    x = w.value(x)
    pad = kernel // 2 if pad is None else pad
    strides, pads = [stride] * 2, [pad] * 2
    if groups == 1:
        y = op.convolution(x, w(outputs, channels, kernel, kernel, gain=gain), strides, pads, pads, [1, 1])
    else:
        filters = w(groups, outputs // groups, channels // groups, kernel, kernel,
                    fan=channels // groups * kernel * kernel, gain=gain, axes=2)
        y = op.group_convolution(x, filters, strides, pads, pads, [1, 1])
    y = op.add(y, w.small(1, outputs, 1, 1))
    return activation(y) if activation else y


def max_pool(x, kernel, stride, pad):
    return op.max_pool(x, [stride] * 2, [1, 1], [pad] * 2, [pad] * 2, [kernel] * 2, "floor", "explicit").output(0)


def relu6(x):
    return op.clamp(x, 0.0, 6.0)


def dense(w, x, outputs, inputs, gain=1.0):
    return op.add(op.matmul(w.value(x), w(outputs, inputs, gain=gain), False, True), w.small(1, outputs))


def normalization(w, x, width):
    x = op.mvn(x, integers(-1), True, 1e-5, "inside_sqrt")
    return op.add(op.multiply(x, w.small(width, around=1.0)), w.small(width))


def rows_normalized(w, x, width):
    """Over the channels of an image."""
    x = normalization(w, op.transpose(x, integers(0, 2, 3, 1)), width)
    return op.transpose(x, integers(0, 3, 1, 2))


def head(w, x, channels, classes=1000):
    x = op.reduce_mean(x, integers(2, 3), False)
    return dense(w, x, classes, channels)


def image(size=224, channels=3):
    return op.parameter([1, channels, size, size], np.float32, name="image")
