# SPDX-License-Identifier: MIT
"""track_wandb.py <track_run>: an offline run of W&B, read back twice: record by record by wandb's
own protobuf, and by `wandb sync`, which sends it to a server of this program's. A killed run, too.
"""
import gzip
import http.server
import json
import os
import pathlib
import struct
import subprocess
import sys
import threading
import zlib

from wandb.proto import wandb_internal_pb2

from track_support import (MAE, NOTE, NUMBERS, SETTINGS, STEPS, check, check_endless, long_text,
                           loss_at, same, temporary_folder, write_everything, write_until_killed)

BLOCK = 32768


def records(path):
    """The records of a log of LevelDB's behind the header of W&B, as protobuf's messages."""
    data = path.read_bytes()
    check(data[:7] == struct.pack("<4sHB", b":W&B", 0xBEE1, 0), "W&B: header of the file")
    at, whole = 7, b""
    while at < len(data):
        room = BLOCK - at % BLOCK
        if room < 7:
            check(data[at:at + room].strip(b"\0") == b"", "W&B: zeros at the end of a block")
            at += room
            continue
        checksum, length, kind = struct.unpack("<IHB", data[at:at + 7])
        part = data[at + 7:at + 7 + length]
        check(zlib.crc32(part, zlib.crc32(bytes([kind]))) == checksum, f"W&B: checksum at {at}")
        at += 7 + length
        whole = part if kind in (1, 2) else whole + part
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(whole)


def values_of(items):
    return {item.key: json.loads(item.value_json) for item in items}


class Server(http.server.ThreadingHTTPServer):
    """What `wandb sync` needs of a server; it keeps the run, its rows and its files."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.runs, self.files, self.streams, self.ended = [], {}, {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """wandb leaves connections open; that they end is no error."""

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, path, body):
        if path.startswith("/up/"):
            self.files[path[4:]] = body
        if path.endswith("/file_stream"):
            sent = json.loads(body)
            for name, chunk in sent.get("files", {}).items():
                lines = self.streams.setdefault(name, {})
                lines.update(enumerate(chunk["content"], chunk["offset"]))
            if "exitcode" in sent:
                self.ended.append(sent["exitcode"])
        if path != "/graphql":
            return {}
        asked = json.loads(body)
        variables = asked["variables"]
        if asked["operationName"] == "UpsertBucket":
            self.runs.append(variables)
            project = {"id": "p", "name": variables["project"], "entity": {"id": "e", "name": "e"}}
            bucket = {"id": "cnVu", "name": variables["name"], "displayName": "", "config": "{}",
                      "description": "", "sweepName": None, "project": project,
                      "historyLineCount": 0}
            return {"data": {"upsertBucket": {"bucket": bucket, "inserted": True}}}
        if asked["operationName"] == "CreateRunFiles":
            files = [{"name": name, "uploadUrl": f"{self.url()}/up/{name}"}
                     for name in variables["files"]]
            return {"data": {"createRunFiles": {"runID": "cnVu", "uploadHeaders": [],
                                                "files": files}}}
        return {"data": {}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        said = json.dumps(self.server.answer(self.path, body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_PUT = do_POST

    def log_message(self, *_):
        pass


def run_file(folder):
    (found,) = (folder / "wandb").glob("offline-run-*/run-abcd1234.wandb")
    return found


def check_rows(rows, reader):
    check([row["_step"] for row in rows] == [*STEPS, 1200, 1201, 1202, 1203],
          f"{reader}: steps of {len(rows)} rows")
    for step, row in zip(STEPS, rows):
        check(same(row["train/loss"], loss_at(step)), f"{reader}: {row}")
        check(row.get("validation/mae") == MAE.get(step), f"{reader}: {row}")
        check(row["_timestamp"] > 1_700_000_000 and row["_runtime"] > 0, f"{reader}: {row}")
    histogram = rows[1200]["weights/fc.weight"]
    check(histogram["_type"] == "histogram" and len(histogram["bins"]) == 65, f"{reader}: bins")
    check(sum(histogram["values"]) == len(NUMBERS), f"{reader}: counts")
    check((histogram["bins"][0], histogram["bins"][-1]) == (NUMBERS.min(), NUMBERS.max()),
          f"{reader}: edges")
    image = rows[1201]["attention"]
    check((image["_type"], image["width"], image["height"]) == ("image-file", 5, 4),
          f"{reader}: {image}")
    check(rows[1202]["note"] == NOTE and rows[1203]["long"] == long_text(), f"{reader}: texts")


def check_records(path):
    read = list(records(path))
    check([record.num for record in read] == list(range(1, len(read) + 1)), "W&B: numbers")
    kinds = [record.WhichOneof("record_type") for record in read]
    check(kinds[:2] == ["header", "run"] and kinds[-1] == "exit", f"W&B: {kinds[:3]} {kinds[-1]}")
    run = read[1].run
    check((run.run_id, run.display_name, run.project, run.run_group, list(run.tags)) ==
          ("abcd1234", "first run", "readers", "folds", ["short", "real"]), f"W&B: {run}")
    check(values_of(run.config.update) == SETTINGS, "W&B: config")
    check(run.start_time.ToMilliseconds() == 1_700_000_000_125, "W&B: start")
    check_rows([values_of(record.history.item) for record in read if record.HasField("history")],
               "W&B's records")
    config = [values_of(record.config.update) for record in read if record.HasField("config")]
    check(config == [{"decay": 0.5}], f"W&B: {config}")
    summary = {}
    for record in read:
        summary.update(values_of(record.summary.update))
    check(summary["best/mae"] == 0.125 and summary["validation/mae"] == MAE[1199], "W&B: summary")
    check(read[-1].exit.exit_code == 0, "W&B: exit")


def sync(folder, server):
    environment = os.environ | {"WANDB_BASE_URL": server.url(), "WANDB_API_KEY": "a" * 40,
                                "HOME": str(folder), "WANDB_DIR": str(folder)}
    command = [pathlib.Path(sys.executable).with_name("wandb"), "sync", run_file(folder).parent]
    said = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False)
    check(said.returncode == 0 and "Finished syncing" in said.stderr,
          f"wandb sync: {said.stderr}{said.stdout}")


def check_sync(folder, picture):
    server = Server()
    sync(folder, server)
    run = server.runs[0]
    check((run["name"], run["displayName"], run["project"], run["groupName"], run["tags"]) ==
          ("abcd1234", "first run", "readers", "folds", ["short", "real"]), f"wandb sync: {run}")
    config = json.loads(server.runs[-1]["config"])
    expected = SETTINGS | {"decay": 0.5}
    check({name: config[name]["value"] for name in expected} == expected, f"wandb sync: {config}")
    lines = server.streams["wandb-history.jsonl"]
    rows = [json.loads(lines[i]) for i in range(len(lines))]
    check_rows(rows, "wandb sync")
    path = rows[1201]["attention"]["path"]
    check(server.files[path] == picture, "wandb sync: picture")
    summary = json.loads(server.files["wandb-summary.json"])
    check(summary["best/mae"] == 0.125, "wandb sync: summary")
    check(server.ended == [0], f"wandb sync: exit {server.ended}")
    server.shutdown()


def check_killed(program, folder):
    steps = write_until_killed(program, folder)
    rows = [values_of(record.history.item) for record in records(run_file(folder))
            if record.HasField("history")]
    check_endless([(row["_step"], row["x"]) for row in rows], steps, "W&B")
    server = Server()
    sync(folder, server)
    check(len(server.streams["wandb-history.jsonl"]) == len(rows), "wandb sync of a killed run")
    server.shutdown()


def main(program):
    with temporary_folder() as folder:
        picture = write_everything(program, folder)
        check_records(run_file(folder))
        check_sync(folder, picture)
    with temporary_folder() as folder:
        check_killed(program, folder)
    print("W&B's records and wandb sync give what was logged")


main(pathlib.Path(sys.argv[1]))
