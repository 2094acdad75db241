# SPDX-License-Identifier: MIT
"""An exported model in onnxruntime behind FastAPI: PEER_MODEL=<file> uvicorn peer:app

The shortest way through Python: one thread of onnxruntime, no validation by pydantic, and an endpoint
that answers in the event loop, which is faster here than a pool of threads.
"""
import json
import os

import fastapi
import numpy
import onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["PEER_MODEL"], options, ["CPUExecutionProvider"])
config = json.loads(session.get_modelmeta().custom_metadata_map["config"])
shift, scale = (numpy.array(config[f"feature_{name}"]) for name in ("shift", "scale"))
source = session.get_inputs()[0].name
app = fastapi.FastAPI()


@app.post("/v2/models/{name}/infer")
async def infer(name: str, request: fastapi.Request):
    tensor = json.loads(await request.body())["inputs"][0]
    x = numpy.array(tensor["data"]).reshape(tensor["shape"])
    y, = session.run(None, {source: ((x - shift) / scale).astype(numpy.float32)})
    y = y * config["target_scale"] + config["target_shift"]
    answer = {"model_name": name, "outputs": [
        {"name": "forecast", "shape": y.shape, "datatype": "FP64", "data": y.ravel().tolist()}]}
    return fastapi.Response(json.dumps(answer), media_type="application/json")
