"""onnxruntime beside ovir: nets that nets.py wrote, exported to ONNX node by node, and measured in f32.

Exported is what torch's exporter would write: LayerNormalization in one node, ScaledDotProductAttention as products and
Softmax. Nets with states, recurrent sequences, FakeQuantize or DetectionOutput are not exported.
"""
import statistics, time

import numpy as np

OPSET = 21  # GroupNormalization by channel, Gelu


class NotExported(RuntimeError):
    """A model that has no ONNX here."""


class Exporter:
    def __init__(self, path):
        import openvino
        from onnx import helper, numpy_helper
        self.helper, self.to_array = helper, numpy_helper.from_array
        self.model = openvino.Core().read_model(path)
        self.nodes, self.constants, self.skipped, self.count = [], {}, set(), 0

    def name(self, output):
        node = output.get_node()
        return node.get_friendly_name() + (f":{output.get_index()}" if node.get_output_size() > 1 else "")

    def add(self, kind, inputs, outputs=None, **attributes):
        """Adds a node; gives the name of its first output."""
        self.count += 1
        outputs = outputs or [f"_{kind}{self.count}"]
        self.nodes.append(self.helper.make_node(kind, inputs, outputs, **attributes))
        return outputs[0]

    def constant(self, values):
        self.count += 1
        name = f"_constant{self.count}"
        self.constants[name] = np.ascontiguousarray(values)
        return name

    @staticmethod
    def value(node, port):
        """An input that is a constant."""
        source = node.input_value(port).get_node()
        if source.get_type_name() != "Constant":
            raise NotExported(f"{node.get_type_name()} whose input {port} is computed")
        return source.data

    def inputs(self, node):
        return [self.name(node.input_value(i)) for i in range(node.get_input_size())]

    def export(self):
        """The bytes of an ONNX model."""
        from onnx import TensorProto
        kinds = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64, "i32": TensorProto.INT32}
        about = lambda node: self.helper.make_tensor_value_info(
            node.get_friendly_name(), kinds[node.get_element_type().to_string()], list(node.get_output_shape(0)))
        results = []
        for node in self.model.get_ordered_ops():
            kind = node.get_type_name()
            if kind == "Constant":
                self.constants[self.name(node.output(0))] = np.ascontiguousarray(node.data)
            elif kind == "Result":
                source = self.name(node.input_value(0))
                self.add("Identity", [source], [node.get_friendly_name()])
                results.append(about(node))
            elif kind != "Parameter" and node.get_friendly_name() not in self.skipped:
                convert = getattr(self, f"_{kind}", None)
                if not convert:
                    raise NotExported(f"{kind} is not exported")
                convert(node, self.inputs(node), [self.name(o) for o in node.outputs()], node.get_attributes())
        read = {name for node in self.nodes for name in node.input}
        tensors = [self.to_array(values, name) for name, values in self.constants.items() if name in read]
        graph = self.helper.make_graph(self.nodes, "net", [about(p) for p in self.model.get_parameters()], results,
                                       tensors)
        return self.helper.make_model(graph, opset_imports=[self.helper.make_opsetid("", OPSET)],
                                      ir_version=10).SerializeToString()

    # --- operations of the same meaning

    def _Add(self, node, i, o, a): self.add("Add", i, o)
    def _Multiply(self, node, i, o, a): self.add("Mul", i, o)
    def _Divide(self, node, i, o, a): self.add("Div", i, o)
    def _Subtract(self, node, i, o, a): self.add("Sub", i, o)
    def _Power(self, node, i, o, a): self.add("Pow", i, o)
    def _Sqrt(self, node, i, o, a): self.add("Sqrt", i, o)
    def _ReLU(self, node, i, o, a): self.add("Relu", i, o)
    def _Relu(self, node, i, o, a): self.add("Relu", i, o)
    def _Sigmoid(self, node, i, o, a): self.add("Sigmoid", i, o)
    def _Transpose(self, node, i, o, a): self.add("Transpose", i[:1], o, perm=[int(x) for x in self.value(node, 1)])
    def _Reshape(self, node, i, o, a): self.add("Reshape", i, o, allowzero=0 if a["special_zero"] else 1)
    def _Unsqueeze(self, node, i, o, a): self.add("Unsqueeze", i, o)
    def _Concat(self, node, i, o, a): self.add("Concat", i, o, axis=int(a["axis"]))
    def _Softmax(self, node, i, o, a): self.add("Softmax", i, o, axis=int(a["axis"]))
    def _SoftMax(self, node, i, o, a): self._Softmax(node, i, o, a)
    def _Gather(self, node, i, o, a): self.add("Gather", i[:2], o, axis=int(self.value(node, 2)))
    def _ReduceMean(self, node, i, o, a): self.add("ReduceMean", i, o, keepdims=int(a["keep_dims"]))
    def _Gelu(self, node, i, o, a): self.add("Gelu", i, o, approximate="none" if a["approximation_mode"] == "ERF"
                                             else "tanh")
    def _Swish(self, node, i, o, a): self.add("Mul", [i[0], self.add("Sigmoid", i[:1])], o)

    def _Clamp(self, node, i, o, a):
        self.add("Clip", [i[0], *(self.constant(np.float32(a[k])) for k in ("min", "max"))], o)

    def _Split(self, node, i, o, a):
        self.add("Split", i[:1], o, axis=int(self.value(node, 1)), num_outputs=int(a["num_splits"]))

    def _VariadicSplit(self, node, i, o, a):
        self.add("Split", [i[0], i[2]], o, axis=int(self.value(node, 1)))

    def _Broadcast(self, node, i, o, a):
        self.add("Expand", i[:2], o)

    def _Convert(self, node, i, o, a):
        from onnx import TensorProto
        kinds = {"f32": TensorProto.FLOAT, "boolean": TensorProto.BOOL, "i64": TensorProto.INT64}
        kind = node.get_element_type().to_string()
        if kind not in kinds:
            raise NotExported(f"Convert to {kind}")
        self.add("Cast", i, o, to=kinds[kind])

    # --- others

    @staticmethod
    def window(a):
        if str(a.get("auto_pad", "explicit")).lower() not in ("explicit", "notset"):
            raise NotExported("auto_pad")
        return {"strides": list(a["strides"]), "pads": [*a["pads_begin"], *a["pads_end"]]}

    def _Convolution(self, node, i, o, a):
        self.add("Conv", i, o, dilations=list(a["dilations"]), **self.window(a))

    def _GroupConvolution(self, node, i, o, a):
        groups, *rest = self.value(node, 1).shape
        weights = self.constant(self.value(node, 1).reshape(groups * rest[0], *rest[1:]))
        self.add("Conv", [i[0], weights], o, group=groups, dilations=list(a["dilations"]), **self.window(a))

    def _ConvolutionBackpropData(self, node, i, o, a):
        self.add("ConvTranspose", i[:2], o, dilations=list(a["dilations"]), **self.window(a))

    def _MaxPool(self, node, i, o, a):
        self.add("MaxPool", i, o[:1], kernel_shape=list(a["kernel"]), **self.window(a))

    def _AvgPool(self, node, i, o, a):
        self.add("AveragePool", i, o, kernel_shape=list(a["kernel"]), count_include_pad=int(not a["exclude-pad"]),
                 **self.window(a))

    def _MatMul(self, node, i, o, a):
        operands = []
        for port, key in enumerate(("transpose_a", "transpose_b")):
            source = node.input_value(port)
            if not a[key]:
                operands.append(i[port])
            elif source.get_node().get_type_name() == "Constant":
                operands.append(self.constant(source.get_node().data.swapaxes(-1, -2)))
            else:
                operands.append(self.turned(i[port], source.get_partial_shape().rank.get_length()))
        self.add("MatMul", operands, o)

    def turned(self, name, rank):
        return self.add("Transpose", [name], perm=[*range(rank - 2), rank - 1, rank - 2])

    def _MVN(self, node, i, o, a):
        rank, width = len(node.get_output_shape(0)), node.get_output_shape(0)[-1]
        if [int(x) % rank for x in np.ravel(self.value(node, 1))] != [rank - 1]:
            raise NotExported("MVN over other axes than the last")
        # What follows it by channel is a part of LayerNormalization.
        parts = {"Multiply": self.constant(np.ones(width, np.float32)), "Add": None}
        for kind in parts:
            users = list(node.output(0).get_target_inputs())
            user = users[0].get_node() if len(users) == 1 else None
            other = next((v for v in user.input_values() if v.get_node().get_type_name() == "Constant"),
                         None) if user and user.get_type_name() == kind else None
            if not other or other.get_node().data.size != width:
                break
            parts[kind] = self.constant(other.get_node().data.reshape(width))
            self.skipped.add(user.get_friendly_name())
            node = user
        self.add("LayerNormalization", [i[0], *(p for p in parts.values() if p)], [self.name(node.output(0))],
                 axis=-1, epsilon=float(a["eps"]))

    def _GroupNormalization(self, node, i, o, a):
        self.add("GroupNormalization", i, o, num_groups=int(a["num_groups"]), epsilon=float(a["epsilon"]))

    def _Interpolate(self, node, i, o, a):
        if a["mode"] != "nearest":
            raise NotExported(f"Interpolate by {a['mode']}")
        size = np.array(node.get_output_shape(0), np.int64)
        self.add("Resize", [i[0], "", "", self.constant(size)], o, mode="nearest",
                 coordinate_transformation_mode=a["coordinate_transformation_mode"],
                 nearest_mode=a["nearest_mode"] if a["nearest_mode"] != "simple" else "floor")

    def _ScaledDotProductAttention(self, node, i, o, a):
        if a["causal"]:
            length = [node.input_value(p).get_shape()[-2] for p in (0, 1)]
            i = [*i[:3], self.constant(np.where(np.tri(*length), 0, -np.inf).astype(np.float32)), *i[4:]]
        depth, rank = node.get_input_shape(0)[-1], len(node.get_input_shape(0))
        scale = self.value(node, 4).reshape(()) if len(i) > 4 else np.float32(depth**-0.5)
        scores = self.add("Mul", [self.add("MatMul", [i[0], self.turned(i[1], rank)]), self.constant(scale)])
        if len(i) > 3:
            seen = not a["causal"] and node.input_value(3).get_element_type().to_string() == "boolean"
            scores = (self.add("Where", [i[3], scores, self.constant(np.float32(-np.inf))]) if seen else
                      self.add("Add", [scores, i[3]]))
        self.add("MatMul", [self.add("Softmax", [scores], axis=-1), i[2]], o)


class Onnxruntime:
    """A net, ready to measure."""
    def __init__(self, net, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.force_spinning_stop", "1")  # when it is not its turn
        self.session = onnxruntime.InferenceSession(Exporter(net.model).export(), options, ["CPUExecutionProvider"])
        self.inputs = {name: np.load(path) for name, path in net.steps[0].items()}

    def outputs(self):
        names = [o.name for o in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, self.inputs)))

    def measure(self, seconds):
        times, end = [], time.perf_counter() + seconds
        processor = time.process_time()
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            self.session.run(None, self.inputs)
            times.append(time.perf_counter() - start)
        return {"min_ms": min(times) * 1e3, "median_ms": statistics.median(times) * 1e3,
                "processor_ms": (time.process_time() - processor) / len(times) * 1e3}
