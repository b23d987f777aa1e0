#!/usr/bin/env python3
"""Trains the sample network and writes digits.xml, digits.bin, labels.txt and 0.png ... 9.png beside this script.

    pip install torch==2.15.0 scikit-learn==1.9.1 pillow openvino==2026.4.1
    python train.py

The pictures are the first one of each digit in the part of the data that training never saw.
"""
import pathlib
import re

import numpy as np
import openvino as ov
import openvino.opset13 as opset
import torch
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
LABELS = "zero one two three four five six seven eight nine".split()
SEED = 7
EPOCHS = 60
BATCH = 64


class Digits(nn.Module):
    """8x8 gray pixels, 0 (paper) to 1 (ink), to ten probabilities."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 4 * 4, 10)

    def logits(self, x, drop=0.0):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        x = nn.functional.max_pool2d(x, 2)
        x = torch.relu(self.conv3(x))
        return self.fc(nn.functional.dropout(x.flatten(1), drop))

    def forward(self, x):
        return torch.softmax(self.logits(x), dim=1)


# The layers' names in the IR, by operation type in file order; the converter's own are long.
LAYER_NAMES = {
    "Convolution": ["conv1", "conv2", "conv3"],
    "Add": ["conv1/add", "conv2/add", "conv3/add", "fc/add"],
    "Relu": ["relu1", "relu2", "relu3"],
    "MaxPool": ["pool"],
    "Reshape": ["flatten"],
    "MatMul": ["fc"],
    "Softmax": ["softmax"],
    "Result": ["result"],
}
CONSTANT_ROLES = {"Convolution": "weight", "MatMul": "weight", "Add": "bias", "Reshape": "shape"}


def load():
    """Pixels as an 8-bit PNG holds them (the data set counts 0..16), split into train and held-out."""
    digits = load_digits()
    images = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    return train_test_split(images, digits.target, test_size=0.25, stratify=digits.target, random_state=SEED)


def as_input(images):
    return torch.from_numpy(images[:, None].astype(np.float32) / 255)


def train(images, targets):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    net = Digits()
    x, y = as_input(images), torch.from_numpy(targets)
    steps = EPOCHS * -(-len(x) // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(net.logits(x[chosen], drop=0.3), y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def convert(net):
    model = ov.convert_model(net, input=[1, 1, 8, 8], example_input=torch.zeros(1, 1, 8, 8))
    names = {kind: iter(listed) for kind, listed in LAYER_NAMES.items()}
    for op in model.get_ordered_ops():
        for port in op.outputs():
            port.set_names(set())
        if op.get_type_name() in names:
            op.set_friendly_name(next(names[op.get_type_name()]))
        for source in (port.get_source_output().get_node() for port in op.inputs()):
            if source.get_type_name() == "Constant":
                layer = op.get_friendly_name().removesuffix("/add")
                source.set_friendly_name(f"{layer}/{CONSTANT_ROLES[op.get_type_name()]}")

    # The scale goes in after the conversion, which would fold it into conv1.
    image = model.input(0)
    image.get_node().set_friendly_name("image")
    readers = image.get_target_inputs()
    factor = opset.constant(np.float32(1 / 255), name="scale/factor")
    scaled = opset.multiply(image, factor, name="scale")
    for reader in readers:
        reader.replace_source_output(scaled.output(0))
    model.input(0).set_names({"image"})
    model.output(0).set_names({"probabilities"})
    model.validate_nodes_and_infer_types()
    model.set_friendly_name("digits")
    return model


def save(model, path):
    ov.save_model(model, path, compress_to_fp16=False)
    text = path.read_text()
    # How and by which build the file was made is this script's to tell, not the file's.
    path.write_text(re.sub(r"\t<rt_info>.*</rt_info>\n(?=</net>)", "\t<rt_info />\n", text, flags=re.DOTALL))


def main():
    train_images, held_out_images, train_targets, held_out_targets = load()
    save(convert(train(train_images, train_targets)), HERE / "digits.xml")
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")

    # From here on only what was written counts, on the pixels as a PNG gives them.
    network = ov.Core().compile_model(HERE / "digits.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def recognise(image):
        return int(network(image[None, None].astype(np.float32))[0].argmax())

    answers = np.array([recognise(image) for image in held_out_images])
    right = answers == held_out_targets
    print(f"held-out accuracy {right.mean():.2%} ({right.sum()} of {len(right)})")
    assert right.mean() >= 0.97
    for digit in range(10):
        Image.fromarray(held_out_images[held_out_targets == digit][0]).save(HERE / f"{digit}.png")
        with Image.open(HERE / f"{digit}.png") as picture:
            assert (picture.mode, picture.size) == ("L", (8, 8))
            assert recognise(np.asarray(picture)) == digit, f"{digit}.png is misread"


if __name__ == "__main__":
    main()
