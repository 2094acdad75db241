# SPDX-License-Identifier: MIT
"""A bar chart of what compare.py measured."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def draw(measured, labels, title, path):
    """For each row how many times Tessera's time its peers take, from 1 to either side, and where
    the bound of the machine is."""
    who = list(dict.fromkeys(peer for row in measured.values() for peer in row["ratio"]))
    colors = {peer: f"C{index}" for index, peer in enumerate(who)}
    at, places, bounds = 0, {}, []
    figure, axes = plt.subplots()
    for name, row in measured.items():
        begin = at
        for peer, ratio in row["ratio"].items():
            axes.barh(at, ratio - 1, 0.9, left=1, color=colors[peer])
            at += 1
        at = max(at, begin + 1)
        places[name] = (begin + at - 1) / 2
        if row["x_bound"]:
            bounds.append((1 / row["x_bound"], begin - 0.5, at - 0.5))
        at += 1
    for x, top, bottom in bounds:
        axes.plot([x, x], [top, bottom], color="black", linewidth=2)
    for peer in who:
        axes.barh(0, 0, color=colors[peer], label=labels[peer])
    axes.plot([], [], color="black", linewidth=2, label="bound")
    axes.axvline(1, color="gray", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(list(places.values()), list(places), fontsize=7)
    axes.set_ylim(at, -2)
    axes.set_xlabel("times Tessera's time; right of the line Tessera is faster")
    axes.set_title(title, fontsize=9)
    axes.legend(fontsize=7)
    figure.set_size_inches(8, 1.5 + 0.11 * at)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
