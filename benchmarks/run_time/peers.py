# SPDX-License-Identifier: MIT
"""The same rows by torch and ONNX Runtime.

A peer is made from what a Tessera row told (see results.hpp): inputs, and parameters by their
names. It is a call that returns what one step gives, so that the first calls can be held against
Tessera's.
"""
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

F = torch.nn.functional
FUSED = False, True  # torch's optimizers: by operations on tensors, and in one kernel


def parameters(given, renamed=lambda name: name):
    prefix = "parameters."
    return {renamed(name.removeprefix(prefix)): torch.from_numpy(values)
            for name, values in given.items() if name.startswith(prefix)}


def tensors(given, *names):
    return [torch.from_numpy(given[name]) for name in names]


def session(graph_nodes, inputs, outputs, weights):
    """A session of ONNX Runtime of one thread; inputs and outputs are names with shapes."""
    def values(described):
        return [helper.make_tensor_value_info(name, kind, shape)
                for name, (kind, shape) in described.items()]
    graph = helper.make_graph(graph_nodes, "row", values(inputs), values(outputs),
                              [onnx.numpy_helper.from_array(value, name)
                               for name, value in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def value(array):
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


# -- products -------------------------------------------------------------------------------------
def stored(given, transposed):
    """The operands as they lie, and as they are multiplied."""
    a, b = given["a"], given["b"]
    lying = (a.reshape(a.shape[::-1]) if transposed[0] == "T" else a,
             b.reshape(b.shape[::-1]) if transposed[1] == "T" else b)
    return lying, [m.T if t == "T" else m for m, t in zip(lying, transposed)]


def numpy_product(transposed):
    """In double, for the comparison alone."""
    def make(given):
        _, (a, b) = stored(given, transposed)
        return lambda: a.astype(np.float64) @ b.astype(np.float64)
    return make


def torch_product(transposed):
    def make(given):
        (a, b), _ = stored(given, transposed)
        a, b = (torch.from_numpy(m).T if t == "T" else torch.from_numpy(m)
                for m, t in zip((a, b), transposed))
        c = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype)

        def call():
            with torch.inference_mode():
                return torch.mm(a, b, out=c)
        return call
    return make


def onnx_product(transposed):
    def make(given):
        (a, b), _ = stored(given, transposed)
        kind = helper.np_dtype_to_tensor_dtype(a.dtype)
        shape = list(given["result"].shape)
        run = session([helper.make_node("Gemm", ["a", "b"], ["c"], transA=int(transposed[0] == "T"),
                                        transB=int(transposed[1] == "T"))],
                      {"a": (kind, a.shape), "b": (kind, b.shape)}, {"c": (kind, shape)}, {})
        c = value(np.zeros(shape, a.dtype))
        binding = run.io_binding()
        binding.bind_ortvalue_input("a", value(a))
        binding.bind_ortvalue_input("b", value(b))
        binding.bind_ortvalue_output("c", c)

        def call():
            run.run_with_iobinding(binding)
            return c
        return call
    return make


# -- recurrent networks ---------------------------------------------------------------------------
class Filter(torch.nn.Module):
    """A recurrent layer and a linear one."""

    def __init__(self, kind, inputs, hidden, layers=1):
        super().__init__()
        self.recurrent = kind(inputs, hidden, layers)
        self.linear = torch.nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        y, state = self.recurrent(x, state)
        return self.linear(y), state


def torch_stream(kind, hidden):
    def make(given):
        model = Filter(kind, 1, hidden).eval()
        model.load_state_dict(parameters(given))
        x, state = torch.full((1, 1, 1), 0.3), None

        def step():
            nonlocal x, state
            with torch.inference_mode():
                x, state = model(x, state)
            return x
        return step
    return make


def onnx_stream(hidden):
    """An LSTM; the gates of ONNX are input, output, forget, candidate."""
    def make(given):
        p = {name: v.numpy() for name, v in parameters(given).items()}

        def gates(name):
            i, f, g, o = np.split(p[f"recurrent.{name}_l0"], 4)
            return np.concatenate([i, o, f, g])
        state = (TensorProto.FLOAT, [1, 1, hidden])
        one = (TensorProto.FLOAT, [1, 1, 1])
        run = session(
            [helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], ["y", "hn", "cn"],
                              hidden_size=hidden),
             helper.make_node("Reshape", ["y", "rows"], ["flat"]),
             helper.make_node("Gemm", ["flat", "V", "b"], ["z"], transB=1),
             helper.make_node("Reshape", ["z", "ones"], ["out"])],
            {"x": one, "h": state, "c": state}, {"out": one, "hn": state, "cn": state},
            {"W": gates("weight_ih")[None], "R": gates("weight_hh")[None],
             "B": np.concatenate([gates("bias_ih"), gates("bias_hh")])[None],
             "V": p["linear.weight"], "b": p["linear.bias"],
             "rows": np.array([1, hidden], np.int64), "ones": np.array([1, 1, 1], np.int64)})
        x = [value(np.full((1, 1, 1), v, np.float32)) for v in (0.3, 0)]
        h, c = ([value(np.zeros((1, 1, hidden), np.float32)) for _ in range(2)] for _ in "hc")
        bindings = []
        for before, after in ((0, 1), (1, 0)):  # to and fro between two memories
            binding = run.io_binding()
            for name, memory in (("x", x), ("h", h), ("c", c)):
                binding.bind_ortvalue_input(name, memory[before])
            for name, memory in (("out", x), ("hn", h), ("cn", c)):
                binding.bind_ortvalue_output(name, memory[after])
            bindings.append(binding)
        now = 0

        def step():
            nonlocal now
            run.run_with_iobinding(bindings[now])
            now = 1 - now
            return x[now]
        return step
    return make


def steps_of(model, optimizer, loss):
    def step():
        optimizer.zero_grad()
        now = loss(model)
        now.backward()
        optimizer.step()
        return now
    return step


def torch_train(kind, inputs, hidden, layers, fused):
    def make(given):
        model = Filter(kind, inputs, hidden, layers)
        model.load_state_dict(parameters(given))
        x, y = tensors(given, "x", "y")
        return steps_of(model, torch.optim.Adam(model.parameters(), fused=fused),
                        lambda m: F.mse_loss(m(x)[0], y))
    return make
