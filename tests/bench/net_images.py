"""Nets that read an image."""
import numpy as np
from openvino import opset13 as op

from net_parts import (Int8, convolution, dense, head, image, integers, max_pool, net, normalization, relu6,
                       rows_normalized)


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
def resnet18_int8(_):
    w = Int8()
    x = start = image()
    x = max_pool(convolution(w, x, 64, 7, 2, activation=op.relu), 3, 2, 1)
    for width, stride in (64, 1), (128, 2), (256, 2), (512, 2):
        for step in stride, 1:
            y = convolution(w, convolution(w, x, width, 3, step, activation=op.relu), width, 3, gain=0.5)
            x = convolution(w, x, width, stride=step) if step > 1 else x
            x = op.relu(op.add(y, x))
    return [start], head(w, x, 512)


@net
def mobilenet_v2_int8(_):
    return mobilenet_v2(Int8())


@net
def convnext_t(w):
    x = start = image()
    for width, blocks, last in (96, 3, None), (192, 3, 96), (384, 9, 192), (768, 3, 384):
        if last is None:
            x = rows_normalized(w, convolution(w, x, width, 4, 4, pad=0), width)
        else:
            x = convolution(w, rows_normalized(w, x, last), width, 2, 2, pad=0)
        for _ in range(blocks):
            y = op.transpose(convolution(w, x, width, 7, groups=width), integers(0, 2, 3, 1))
            y = dense(w, normalization(w, y, width), width * 4, width)
            y = dense(w, op.gelu(y, "erf"), width, width * 4)
            y = op.multiply(y, w.small(width, around=0.2))
            x = op.add(x, op.transpose(y, integers(0, 3, 1, 2)))
    x = op.reduce_mean(x, integers(2, 3), True)
    return [start], dense(w, op.reshape(rows_normalized(w, x, 768), integers(1, 768), False), 1000, 768)


def detector(w, size, widths, classes, priors):
    """Single-shot: a plain backbone, boxes and classes of two features, DetectionOutput."""
    x = start = image(size)
    features = []
    for width in widths:
        x = convolution(w, x, width, 3, 2, activation=op.relu)
        x = convolution(w, x, width, 3, groups=width, activation=op.relu)
        x = convolution(w, x, width, activation=op.relu)
        features.append(x)
    boxes, scores, anchors = [], [], []
    for x in features[-2:]:
        def rows(outputs):
            y = op.transpose(convolution(w, x, outputs, 3), integers(0, 2, 3, 1))
            return op.reshape(y, integers(1, -1), False)
        boxes.append(rows(4 * priors))
        scores.append(rows(classes * priors))
        side = size // x.get_output_shape(0)[2]
        sizes = op.convert(op.shape_of(x), "i64"), op.convert(op.shape_of(start), "i64")
        spatial = [op.strided_slice(s, integers(2), integers(4), integers(1), [0], [0]) for s in sizes]
        anchors.append(op.unsqueeze(op.prior_box_clustered(*spatial, {
            "width": [side * (1.5 + i) for i in range(priors)], "height": [side * (2.0 + i) for i in range(priors)],
            "clip": False, "step_widths": float(side), "step_heights": float(side), "offset": 0.5,
            "variance": [0.1, 0.1, 0.2, 0.2]}), integers(0)))
    scores = op.softmax(op.reshape(op.concat(scores, 1), integers(1, -1, classes), False), -1)
    scores = op.reshape(scores, integers(1, -1), False)
    found = op.detection_output(op.concat(boxes, 1), scores, op.concat(anchors, 2), {
        "background_label_id": 0, "top_k": 400, "variance_encoded_in_target": False, "keep_top_k": [200],
        "code_type": "caffe.PriorBoxParameter.CENTER_SIZE", "share_location": True, "nms_threshold": 0.45,
        "confidence_threshold": 0.5, "clip_after_nms": False, "clip_before_nms": False, "normalized": True,
        "decrease_label_id": False})
    return [start], found


@net
def ssd(w):
    return detector(w, 320, (32, 64, 128, 256, 512), 21, 6)


@net
def face_detector(w):
    return detector(w, 320, (16, 24, 48, 96), 2, 4)


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
