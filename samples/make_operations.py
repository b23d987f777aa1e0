#!/usr/bin/env python3
"""Writes the one-operation samples and the faulty one, each as a folder beside this script.

Every operation sample is a worked example of its specification, and expected.npy is the result given there.
The XML holds what a reader of the format needs, and no more.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PRECISIONS = {"f32": "FP32", "i32": "I32", "i64": "I64"}
TYPES = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64"}


class Model:
    """Collects layers in order; a layer's method returns the handle (id, port, type, shape) of its output."""

    def __init__(self, name):
        self.name, self.layers, self.edges, self.weights = name, [], [], b""

    def parameter(self, name, element_type, shape):
        data = {"shape": ",".join(map(str, shape)), "element_type": element_type}
        return self._layer(name, "Parameter", "opset1", data, [], (element_type, shape), names=name)

    def constant(self, name, values):
        element_type, offset = TYPES[values.dtype], len(self.weights)
        self.weights += values.tobytes()
        data = {"element_type": element_type, "shape": ",".join(map(str, values.shape)), "offset": offset,
                "size": values.nbytes}
        comment = " ".join(map(str, values.flat))
        return self._layer(name, "Const", "opset1", data, [], (element_type, values.shape), comment=comment)

    def operation(self, name, kind, version, inputs, shape, names="", **attributes):
        return self._layer(name, kind, version, attributes, inputs, (inputs[0][2], shape), names=names)

    def result(self, name, source):
        self._layer(name, "Result", "opset1", {}, [source], None)

    def _layer(self, name, kind, version, data, inputs, output, names="", comment=""):
        number = len(self.layers)
        text = [f'\t\t<layer id="{number}" name="{name}" type="{kind}" version="{version}">']
        if comment:
            text[-1] += f" <!-- {comment} -->"
        if data:
            text.append("\t\t\t<data " + " ".join(f'{key}="{value}"' for key, value in data.items()) + " />")
        if inputs:
            text.append("\t\t\t<input>")
            for port, (layer, from_port, element_type, shape) in enumerate(inputs):
                text += self._port(port, element_type, shape)
                self.edges.append(f'\t\t<edge from-layer="{layer}" from-port="{from_port}" '
                                  f'to-layer="{number}" to-port="{port}" />')
            text.append("\t\t\t</input>")
        if output:
            text += ["\t\t\t<output>", *self._port(len(inputs), *output, names), "\t\t\t</output>"]
        self.layers += ["\n".join([*text, "\t\t</layer>"])]
        return (number, len(inputs), *output) if output else None

    @staticmethod
    def _port(number, element_type, shape, names=""):
        names = f' names="{names}"' if names else ""
        return [f'\t\t\t\t<port id="{number}" precision="{PRECISIONS[element_type]}"{names}>',
                *(f"\t\t\t\t\t<dim>{dim}</dim>" for dim in shape), "\t\t\t\t</port>"]

    def write(self, **arrays):
        folder = HERE / self.name
        folder.mkdir(exist_ok=True)
        parts = ['<?xml version="1.0"?>', f'<net name="{self.name}" version="11">', "\t<layers>", *self.layers,
                 "\t</layers>", "\t<edges>", *self.edges, "\t</edges>", "</net>", ""]
        (folder / f"{self.name}.xml").write_text("\n".join(parts))
        if self.weights:
            (folder / f"{self.name}.bin").write_bytes(self.weights)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)


def roll():
    """Example 3: an axis that is named twice is shifted by the sum."""
    data = np.arange(1, 13, dtype=np.int32).reshape(4, 3)
    expected = np.array([[8, 9, 7], [11, 12, 10], [2, 3, 1], [5, 6, 4]], dtype=np.int32)
    model = Model("roll")
    x = model.parameter("data", "i32", data.shape)
    shift = model.constant("shift", np.array([1, 2, 1]))
    axes = model.constant("axes", np.array([0, 1, 0]))
    y = model.operation("roll", "Roll", "opset7", [x, shift, axes], expected.shape, names="output")
    model.result("result", y)
    model.write(data=data, expected=expected)


def strided_slice():
    """The example of negative slicing: data[0:2, 0:2, 0:-1]."""
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected = data[0:2, 0:2, 0:-1]
    model = Model("strided_slice")
    x = model.parameter("data", "f32", data.shape)
    begin = model.constant("begin", np.array([0, 0, 0]))
    end = model.constant("end", np.array([2, 2, -1]))
    stride = model.constant("stride", np.array([1, 1, 1]))
    y = model.operation("slice", "StridedSlice", "opset1", [x, begin, end, stride], expected.shape, names="output",
                        begin_mask="0,0,0", end_mask="0,0,0")
    model.result("result", y)
    model.write(data=data, expected=np.ascontiguousarray(expected))


def gather_elements():
    """Example 2: more indices than data along axis 1. Both inputs are parameters, so there are no weights."""
    data = np.array([[1, 7], [4, 3]], dtype=np.int32)
    indices = np.array([[1, 1, 0], [1, 0, 1]])
    expected = np.array([[7, 7, 1], [3, 4, 3]], dtype=np.int32)
    model = Model("gather_elements")
    x = model.parameter("data", "i32", data.shape)
    i = model.parameter("indices", "i64", indices.shape)
    y = model.operation("gather", "GatherElements", "opset6", [x, i], expected.shape, names="output", axis=1)
    model.result("result", y)
    model.write(data=data, indices=indices, expected=expected)


def reshape():
    """Example 3: 0 copies a dimension of the input, -1 is computed."""
    data = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    expected = data.reshape(2, 2, 1, 3)
    model = Model("reshape")
    x = model.parameter("data", "f32", data.shape)
    shape = model.constant("shape", np.array([0, 0, 1, -1]))
    y = model.operation("reshape", "Reshape", "opset1", [x, shape], expected.shape, names="output",
                        special_zero="true")
    model.result("result", y)
    model.write(data=data, expected=expected)


def broken():
    """A model exported for batch 1 whose input was set to batch 2, while a Reshape still asks for [1,4,64]."""
    model = Model("broken")
    x = model.parameter("image", "f32", (2, 4, 8, 8))
    y = model.operation("relu", "ReLU", "opset1", [x], (2, 4, 8, 8))
    shape = model.constant("flatten/shape", np.array([1, 4, 64]))
    z = model.operation("flatten", "Reshape", "opset1", [y, shape], (1, 4, 64), special_zero="false")
    p = model.operation("softmax", "SoftMax", "opset8", [z], (1, 4, 64), names="output", axis=2)
    model.result("result", p)
    model.write()


if __name__ == "__main__":
    for sample in (roll, strided_slice, gather_elements, reshape, broken):
        sample()
