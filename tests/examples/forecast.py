# SPDX-License-Identifier: MIT
"""forecast.py <program>: a study trained, judged, drawn and read, and what the program refuses."""
import base64
import csv
import datetime
import fcntl
import gzip
import html.parser
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from program import Program

program = Program(pathlib.Path(sys.argv[1]).resolve())
run, check = program.run, program.check
SMALL = ["--hidden", 32, "--look-back", 20]
PRICES = pathlib.Path(__file__).parents[2] / "examples" / "forecast" / "data" / "sp500.csv.gz"


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.pictures, self.outside, self.scripts = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        for name, value in attributes:
            if name in ("src", "href"):
                (self.pictures if value.startswith("data:image/png;base64,") else self.outside).append(value)


def rewrite(model, config, parameters=None):
    """Other members in a model's config.json; in what its file of parameters says of them, where they are given."""
    known = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**known, **config}))
    if parameters is not None:
        file = model / "model.safetensors"
        data = file.read_bytes()
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        header["__metadata__"]["config"] = json.dumps({**known, **parameters})
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        file.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])


def claims(days, rivals):
    """What a report may say: skill only where every rival is beaten with p < 0.05."""
    tests = [days["tests"][r] for r in rivals]
    beaten = all(t["difference"] < 0 and max(t["p_value"], t["p_value_robust"]) < 0.05 for t in tests)
    return days["verdict"].startswith("better than") if beaten else days["verdict"] == "no skill"


def look(page, folder):
    """The page in a browser: it draws something, and its console stays empty."""
    browser = shutil.which("chromium")
    if not browser:
        print("no chromium: the page was not looked at")
        return
    picture = folder / "page.png"
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           "--window-size=1000,3000", f"--screenshot={picture}", page.as_uri()],
                          capture_output=True, text=True, timeout=120)
    check("CONSOLE" not in done.stderr, f"the console is empty: {done.stderr}")
    check(picture.exists() and picture.stat().st_size > 100_000, "the browser draws the page")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    output = folder / "demo"
    done = run("demo", *SMALL, "--threads", 2, "--output", output)
    print(done.stdout[-4000:] + done.stderr)
    check(done.returncode == 0, "demo ends well")
    figures = json.loads(run("evaluate", output, "--json").stdout)
    check(figures == json.loads((output / "report.json").read_text()), "evaluate prints the report")

    ranges, returns = figures["range"], figures["return"]
    print("range: ratio to HAR", ranges["ratio_to_har"], "p", ranges["p_value"])
    for other in ("persistence", "ar1", "mean"):
        check(ranges["model"]["r2"] > ranges[other]["r2"], f"the model's R2 is above that of {other}")
    worse = ranges["model"]["mse"] > ranges["har"]["mse"]
    check(ranges["ratio_to_har"] <= 1.02 or not (worse and ranges["p_value"] < 0.05), "no worse than HAR")
    check(abs(ranges["ratio_to_har"] - ranges["model"]["mse"] / ranges["har"]["mse"]) < 1e-12, "the ratio")
    # The spec's figures, of five folds of least squares.
    for other, mse in (("mean", 6.31e-5), ("persistence", 2.38e-5), ("har", 1.82e-5)):
        check(abs(ranges[other]["mse"] / mse - 1) < 0.005, f"{other} misses by {ranges[other]['mse']}, not {mse}")
    for days in [ranges["last_days"], *ranges["folds"]]:
        check(claims(days, ["HAR"]), f"range: {days['verdict']} is what the tests say")
    for days in [returns["last_days"], *returns["folds"]]:
        check(claims(days, ["zero", "HAR"]), f"return: {days['verdict']} is what the tests say")
    for figure, rivals in ((ranges, ["HAR"]), (returns, ["zero", "HAR"])):
        said = figure[figure["verdict_of"]]
        check(figure["verdict_of"] == "last_days" and figure["verdict"] == said["verdict"]
              and figure["reason"] == said["reason"], "the last days decide")
        walk = {"tests": figure["tests"], "verdict": figure["walk_forward_verdict"]}
        check(claims(walk, rivals), f"{walk['verdict']} is what the walk forward's tests say")
    check(ranges["walk_forward_verdict"].startswith("better") == (ranges["walk_forward_reason"] == ""), "its reason")
    shares = [b["share"] for b in ranges["bands"]["shares"]]
    check(0.8 in shares and 0.95 in shares, "bands of 80 and 95 %")
    check({"model", "buy_and_hold"} <= set(returns["strategy"]), "a strategy, beside one that holds")

    text = (output / "page.html").read_text()
    page = Page(text)
    check(len(page.pictures) == 11 and not page.outside and page.scripts == 0, "11 pictures, nothing from outside")
    for one in page.pictures:
        check(base64.b64decode(one.split(",", 1)[1])[:4] == b"\x89PNG", "a picture is a PNG")
    for one in (output / "plots").glob("*.png"):
        check(one.with_suffix(".svg").read_text().rstrip().endswith("</svg>"), f"{one.stem} as SVG")
    look(output / "page.html", folder)

    # What a row forecasts is what came on its day: the range, by the prices.
    with gzip.open(PRICES, "rt") as file:
        prices = {datetime.datetime.strptime(row["Date"], "%m/%d/%Y").date().isoformat(): row
                  for row in csv.DictReader(file)}
    with open(output / "forecasts-range.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    apart = max(abs(float(row["came"]) - math.log(float(prices[row["for_day"]]["High"])
                                                  / float(prices[row["for_day"]]["Low"]))) for row in rows)
    check(apart < 1e-8 and all(row["made_on"] < row["for_day"] for row in rows), f"days and what came: {apart} apart")

    again = folder / "again"
    run("train", *SMALL, "--threads", 1, "--output", again)

    results = ["study.json", "report.json", "forecasts-range.csv", "repository/range/1/model.safetensors"]

    def check_same(one, other, what):
        for file in results:
            check((one / file).read_bytes() == (other / file).read_bytes(), f"{what}: {file}")
    check_same(output, again, "one thread and two")

    # A model that is solved: no seed, no epochs, and an end that says so.
    solved = ["train", "--model", "ridge", "--look-back", 20, "--targets", "range", "--folds", 2]
    for one, more in (("solved", ["--threads", 2]), ("solved again", ["--threads", 1, "--seed", 9, "--hidden", 32])):
        done = run(*solved, *more, "--output", folder / one)
        check(done.returncode == 0 and "301 parameters" in done.stdout, f"ridge: {done.stdout}{done.stderr}")
    check_same(folder / "solved", folder / "solved again", "ridge of another seed")
    check("epoch" not in done.stdout.replace("no epochs", ""), "it tells of no epoch")
    ridge = json.loads((folder / "solved" / "report.json").read_text())["range"]
    check(ridge["training"] == "solved in closed form, no epochs", "the report says that it was solved")
    check(ridge["model"]["r2"] > max(ridge["persistence"]["r2"], ridge["ar1"]["r2"]), "and it learned")
    check(run("plot", folder / "solved").returncode == 0, "it is drawn")
    check(not {p.name for p in (folder / "solved" / "plots").glob("*.png")} & {"losses-range.png", "attention-range.png"},
          "without a curve of losses, or attention")
    check("no curve of losses" in (folder / "solved" / "page.html").read_text(), "and the page says why")

    # Killed twenty times, with accumulation and the best checkpoints kept: the same bytes.
    asked = ["train", *SMALL, "--targets", "range", "--folds", 2, "--max-epochs", 3, "--checkpoint-seconds", 0,
             "--accumulate-grad-batches", 3, "--save-top-k", 2]
    begun = time.monotonic()
    check(run(*asked, "--output", folder / "whole").returncode == 0, "a study")
    pause, killed = (time.monotonic() - begun) / 10, folder / "killed"
    kills, moments, goes_on = 0, random.Random(1), False
    while kills < 20:
        process = subprocess.Popen([program.path, *map(str, asked), "--output", str(killed),
                                    *(["--resume"] if goes_on else [])], stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.02, pause))
        if process.poll() is not None:
            check(process.returncode == 0, f"it ends with {process.returncode}")
            break
        process.kill()
        process.wait()
        kills += 1
        goes_on = (killed / ".run.new" / "checkpoint.safetensors").exists()
    else:
        done = run(*asked, "--output", killed, "--resume")
        check(done.returncode == 0, f"it ends: {done.stderr}")
    print(f"killed {kills} times")
    check(kills >= 5, "it was killed while it worked")
    check_same(folder / "whole", killed, "killed and not")
    check("has no checkpoint" in run(*asked, "--output", killed, "--resume").stderr, "nothing to go on with")

    forecast = json.loads(run("predict", output).stdout)
    inner, outer = forecast["intervals"]
    check(forecast["day"] == "2018-12-31" and outer["low"] < inner["low"] < forecast["forecast"] < inner["high"]
          < outer["high"], f"a forecast within its bands: {forecast}")

    # A model of the first years, and what came after them.
    first = "\n".join(gzip.open(PRICES, "rt").read().splitlines()[:1900])
    (folder / "first.csv").write_text(first)
    life, place = folder / "life", folder / "life" / "repository" / "range"
    done = run("train", *SMALL, "--data", folder / "first.csv", "--targets", "range", "--folds", 1, "--train-days", 600,
               "--max-epochs", 2, "--output", life)
    check(done.returncode == 0, f"a short study: {done.stderr}")
    before = run("predict", life).stdout
    # A smaller error that may be chance.
    (folder / "some.csv").write_text("\n".join(gzip.open(PRICES, "rt").read().splitlines()[:3100]))
    done = run("retrain", life, "--data", folder / "some.csv", "--promote", "significant")
    told = re.search(r"misses by (\S+), version 2 by (\S+) .* p = (\S+): not promoted", done.stdout)
    print(done.stdout)
    check(done.returncode == 1 and told and float(told[2]) < float(told[1]) and float(told[3]) >= 0.05,
          f"better, and not significantly: {done.stdout}{done.stderr}")
    done = run("retrain", life, "--data", "sp500")
    print(done.stdout)
    check(done.returncode == 0 and "promoted" in done.stdout, f"the new model is better: {done.stderr}")
    check(run("predict", life).stdout != before, "and is served")
    again = run("retrain", life, "--data", "sp500")
    check(again.returncode == 1 and "not promoted" in again.stdout, f"no better than itself: {again.stdout}")
    bands = [json.loads((place / v / "config.json").read_text())["bands"] for v in ("1", "2")]
    check(bands[0] != bands[1], "a new version has bands of its own")
    with open(life / ".run.lock", "w") as held:  # by somebody else
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("another\n")
        held.flush()
        for command in ("retrain", "rollback"):
            check("belongs to a run that goes on: another" in run(command, life).stderr, f"{command} waits for its turn")
    check("version 1 is served" in run("rollback", life).stdout, "roll back")
    check(run("predict", life).stdout == before, "the model of before is served")
    check((place / "2" / "model.safetensors").exists(), "and no version is lost")
    # Days whose targets a version has learned are not left to judge it.
    week = folder / "week"
    done = run("train", "--model", "ridge", "--look-back", 20, "--horizon", 5, "--data", folder / "first.csv", "--targets",
               "range", "--folds", 1, "--train-days", 600, "--output", week)
    (folder / "cut.csv").write_text("\n".join(first.splitlines()[:-3]))
    check(done.returncode == 0, f"a week ahead: {done.stderr}")
    program.refuses((["retrain", week, "--data", folder / "cut.csv"], "has learned until"))
    check("misses by" in run("retrain", week, "--data", folder / "first.csv").stdout, "days behind those are")

    program.refuses((["rollback", life], "first that was served"), (["predict", life, "--target", "luck"], "--target"),
                    (["predict", life, "--target", "return"], "return"))

    # A model is what both of its files say, and what a training makes.
    def refused(expected, config, parameters=None):
        other = folder / "changed"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(life, other)
        rewrite(other / "repository" / "range" / "1", config, parameters)
        program.refuses((["predict", other], expected))
        return other / "repository" / "range" / "1"
    refused("look_back: expected 20, as model.safetensors has it, got 21", {"look_back": 21})
    refused("look_back: expected 21, as model.safetensors has it, got 20", {}, {"look_back": 21})
    config = json.loads((place / "1" / "config.json").read_text())
    low, high = {"share": 0.8, "low": 2, "high": 1}, config["bands"]["shares"]
    for change, expected in (
            ({"look_back": 500}, "--look-back: expected a number from 2 to 120, got 500"), ({"look_back": 1}, "--look-back"),
            ({"look_back": 20.5}, "look_back: expected a whole number of at least 0, got 20.5"),
            ({"look_back": -20}, "look_back: expected a whole number"), ({"horizon": 0}, "--horizon: expected a number from 1"),
            ({"horizon": 61}, "--horizon"), ({"hidden": 32.5}, "hidden: expected a whole number"),
            ({"target_scale": 0}, "finite scales above 0"), ({"feature_scale": [1] * 14 + [-1]}, "finite scales above 0"),
            ({"feature_shift": [0] * 14}, "expected 15 features"), ({"features": config["features"][::-1]}, "features: expected"),
            ({"bands": {"relative": False, "shares": [low]}}, "a high of at least that"),
            ({"target": "return"}, "target: expected range, as the folder says, got return"),
            ({"target_scale": 1e308, "target_shift": 1.7e308, "bands": {"relative": True, "shares": high}}, "not finite")):
        refused(expected, change, change)
    file = refused("look_back", {"look_back": 21}) / "model.safetensors"
    rewrite(file.parent, {"look_back": 20})
    check(run("predict", folder / "changed").stdout == before, "as it was")
    file.write_bytes(file.read_bytes()[:-4] + b"\x00\x00\xc0\x7f")
    program.refuses((["predict", folder / "changed"], "is not finite"))
    shutil.copytree(week, folder / "changed week")
    file = folder / "changed week" / "repository" / "range" / "1" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-4] + b"\x00\x00\xf0\x7f")
    program.refuses((["predict", folder / "changed week"], "a parameter is not finite"))

    # Other prices under the same name are another training.
    asked = ["train", *SMALL, "--data", folder / "mixed.csv", "--targets", "range", "--folds", 1, "--train-days", 600,
             "--max-epochs", 500, "--output", folder / "mixed"]
    (folder / "mixed.csv").write_text(first)
    process = subprocess.Popen([program.path, *map(str, asked)], stdout=subprocess.DEVNULL)
    while process.poll() is None and not (folder / "mixed" / ".run.new" / "checkpoint.safetensors").exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    (folder / "mixed.csv").write_text("\n".join(first.splitlines()[:-1]))
    program.refuses(([*asked, "--resume"], "data_digest: expected 1898 days, 1999-01-04 to "))

    # Trials in processes; the same command goes on.
    asked = ["search", "--output", folder / "search", "--trials", 5, "--max-epochs", 1, "--folds", 2, "--train-days", 300,
             "--data", folder / "first.csv", "--targets", "range"]
    done = run(*asked)
    print(done.stdout + done.stderr)
    table = (folder / "search" / "search.csv").read_text().splitlines()
    check(done.returncode == 0 and len(table) == 6, "five trials, a row each")
    check(all(row.split(",")[1] in ("complete", "pruned") for row in table[1:]), f"none has failed: {table}")
    check("weight_decay" in done.stdout, "a table of the best")
    best = (folder / "search" / "best.yaml").read_text()
    check(run("train", "--config", folder / "search" / "best.yaml", "--print-config").stdout == best, "train takes it")
    check(run(*asked).stdout.count("complete") == 0, "nothing is run again")
    (folder / "first.csv").write_text("\n".join(first.splitlines()[:-1]))
    program.refuses((asked, "data_digest: expected 1898 days, 1999-01-04 to "))
    (folder / "first.csv").write_text(first)
    program.refuses(([*asked, "--fast-dev-run", 2], "--fast-dev-run: expected 0 in a search"),
                    ([*asked, "--max-time", 5], "--max-time: expected 0 in a search"),
                    (["search", "--output", ""], "--output: expected a folder, got nothing"),
                    (["train", "--output", ""], "--output: expected a folder, got nothing"))
    (folder / "searched.yaml").write_text("hidden: 32\n")
    program.refuses(([*asked, "--seed", 2], "seed"), ([*asked, "--method", "luck"], "--method"),
                    (["search", "--output", output], "it has a training"),
                    (["search", "--config", folder / "searched.yaml"], "hidden: expected none, it is searched for"),
                    (["train", "--output", folder / "search"], "no folder of a search"))
    for command, owned in (("search", output), ("train", folder / "search")):  # its owner alone says what it is of
        with open(owned / ".run.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            program.refuses(([command, "--output", owned], "belongs to a run that goes on"))
    check(not (folder / "search" / ".run.new").exists(), "and nobody else leaves anything there")

    # A trial of one fold is through with it: there is nothing left to be spared.
    done = run("search", "--output", folder / "one fold", "--trials", 5, "--max-epochs", 1, "--folds", 1, "--train-days", 300,
               "--data", folder / "first.csv", "--targets", "range")
    check(done.returncode == 0 and done.stdout.count(": complete") == 5, f"all are complete: {done.stdout}")

    rows = "Date,Open,High,Low,Close,Volume\n2001-01-02,1,2,1,1,5\n2001-01-03,1,2,1,x,5\n"
    (folder / "bad.csv").write_text(rows)
    (folder / "short.csv").write_text(rows.replace("x", "2"))
    done = run("train", *SMALL, "--targets", "range", "--folds", 1, "--fast-dev-run", 2, "--output", folder / "tried")
    check(done.returncode == 0 and "nothing is kept" in done.stdout, f"fast_dev_run: {done.stdout}{done.stderr}")
    check(not (folder / "tried").exists(), "fast_dev_run leaves no folder")
    done = run("train", *SMALL, "--targets", "range", "--folds", 1, "--max-epochs", 3, "--check-val-every-n-epoch", 2,
               "--limit-train-batches", 5, "--patience", 1, "--output", folder / "limited")
    check(done.returncode == 0, f"limits and patience: {done.stderr}")
    check(run("evaluate", folder / "limited").returncode == 0, "and its study is read")
    done = run("train", *SMALL, "--targets", "range", "--folds", 1, "--split", "sliding", "--train-days", 400,
               "--max-epochs", 1, "--output", folder / "least")
    check(done.returncode == 0, f"the fewest days that a served model learns from: {done.stderr}")

    # Days that stop a training lie a gap behind those that are learned: 400 - 40 - 100 of them.
    done = run("train", *SMALL, "--targets", "range", "--folds", 1, "--split", "sliding", "--train-days", 400, "--gap", 100,
               "--patience", 1, "--max-epochs", 1, "--loggers", "csv", "--output", folder / "apart")
    steps = [row.split(",")[0] for row in (folder / "apart" / "logs" / "range-1" / "metrics.csv").read_text().splitlines()]
    check(done.returncode == 0 and int(steps[-1]) == -(-(260 - 19) // 32), f"{steps[-1]} steps: {done.stderr}")

    # Ctrl-C: loggers are told that it was stopped, not that it failed.
    process = subprocess.Popen([program.path, "train", *map(str, SMALL), "--targets", "range", "--max-epochs", "500",
                                "--threads", "1", "--loggers", "json", "--output", str(folder / "stopped")],
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline(), process.stdout.readline(), process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[0]
    logs = [p.read_text() for p in (folder / "stopped").parent.rglob("metrics.jsonl") if "stopped" in str(p)]
    check(process.returncode == 130, f"it ends with {process.returncode}: {rest}")
    check(len(logs) == 1 and '"stopped"' in logs[0] and '"failed"' not in logs[0], f"logs say: {logs}")
    (folder / "empty").mkdir()
    for more in (["--data", folder / "short.csv"], ["--folds", 40], ["--split", "sliding", "--train-days", 300]):
        run("train", *more, "--output", folder / "refused")
        check(not (folder / "refused").exists(), "what is refused leaves no folder")
    os.chdir(folder)  # where a training without --output would write
    program.refuses(
        (["train", "--max-epochs", 0], "--max-epochs"), (["train", "--hidden", 48], "one of 32, 64"),
        (["train", "--device", "cuda"], "--device: cuda was asked for"),
        (["search", "--device", "cuda", "--output", folder / "gpu"], "--device: cuda was asked for"),
        (["train", "--model", "oracle"], "lstm-attention-4"), (["train", "--targets", "range,range"], "--targets"),
        (["train", "--targets", "luck"], "--targets"), (["train", "--horizon", 5, "--gap", 1], "--gap"),
        (["train", "--horizon", 10, "--validation-days", 20], "--horizon: expected at most a third"),
        (["train", "--split", "sliding", "--train-days", 399], "at least 400 days"),
        (["train", "--folds", 40], "--folds 40 of --validation-days"), (["train", "--split", "random"], "--split"),
        (["retrain", life, "--promote", "luck"], "--promote"),
        (["train", "--data", folder / "none.csv"], "none.csv"), (["train", "--data", folder / "bad.csv"], "bad.csv"),
        (["train", "--data", folder / "short.csv"], "22 days"),
        (["evaluate", folder / "empty"], "settings.yaml"), (["plot", folder / "nothing"], "nothing"),
        (["guess"], "subcommand"), ([], "subcommand"))
    study = json.loads((output / "study.json").read_text())
    study[0]["parts"][0]["name"] = "1', '< touch oops' title '"
    (output / "study.json").write_text(json.dumps(study))
    program.refuses((["plot", output], "part: expected test or the number of a fold, got 1', '< touch oops'"))
    check(not list(folder.rglob("oops")), "and nothing of it is run")
    (output / "study.json").write_text((output / "study.json").read_text()[:1000])
    program.refuses((["evaluate", output], "study.json"))
sys.exit(1 if program.failures else 0)
