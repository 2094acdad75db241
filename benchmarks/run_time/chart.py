# SPDX-License-Identifier: MIT
"""A bar chart of what compare.py measured."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def draw(measured, title, path):
    """Horizontal bars: how many times Tessera's time each peer takes, and the bound's part of it."""
    who = [peer for peer in dict.fromkeys(p for row in measured.values() for p in row["ratio"])]
    names = list(measured)[::-1]
    height = 0.8 / (len(who) + 1)
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.22 * len(names) * (len(who) + 1) ** 0.7))
    for index, peer in enumerate(who):
        at = [i + 0.4 - (index + 0.5) * height for i, name in enumerate(names)
              if peer in measured[name]["ratio"]]
        axes.barh(at, [measured[name]["ratio"][peer] for name in names
                       if peer in measured[name]["ratio"]], height, label=peer)
    bounded = [i for i, name in enumerate(names) if measured[name].get("x_bound")]
    axes.barh([i - 0.4 + 0.5 * height for i in bounded],
              [1 / measured[names[i]]["x_bound"] for i in bounded], height, label="bound",
              color="lightgray")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xlabel("times Tessera's time (right of the line: Tessera is faster)")
    axes.set_title(title, fontsize=9)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
