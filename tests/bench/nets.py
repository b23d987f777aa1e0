#!/usr/bin/env python3
"""Well-known architectures with seeded weights, written as IR by OpenVINO's own Python API.

  nets.py FOLDER [NAME...]      writes FOLDER/NAME/model.xml, model.bin and inputs/<parameter>.npy, or
                                inputs/<step>/<parameter>.npy for a model with states
"""
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

import net_images, net_sequences  # they fill NETS
from net_parts import NETS, Weights


def chain():
    """Small layers one after the other: what each costs beside its work."""
    x = start = op.parameter([1, 64], np.float32, name="x")
    for i in range(30000):
        x = op.relu(x) if i % 2 else op.sigmoid(x)
    return [start], x


def write(name, folder):
    """A net gives its parameters and its result; one with states also the Assigns and the inputs by step."""
    parameters, result, *state = chain() if name == "chain" else NETS[name](Weights())
    sinks, steps = state or ([], None)
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    model = ov.Model([op.result(result)], sinks, parameters, name)
    ov.save_model(model, folder / "model.xml", compress_to_fp16=False)
    random = np.random.default_rng(2)

    def made_up(parameter):
        shape = [d.get_length() for d in parameter.get_partial_shape()]
        whole = parameter.get_element_type() == ov.Type.i64
        return random.integers(0, 1000, shape) if whole else random.standard_normal(shape).astype(np.float32)

    for step, values in enumerate(steps or [{p.get_friendly_name(): made_up(p) for p in parameters}]):
        to = folder / "inputs" / str(step) if steps else folder / "inputs"
        to.mkdir(exist_ok=True)
        for parameter, value in values.items():
            np.save(to / f"{parameter}.npy", value)


if __name__ == "__main__":
    for each in sys.argv[2:] or [*NETS, "chain"]:
        write(each, Path(sys.argv[1]) / each)
