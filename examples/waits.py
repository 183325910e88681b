"""How the mean wait grows with the load under two policies: a job of the scheduler for each load.

Prints a table. If matplotlib is installed, it also draws waits.png. In the clone, while a scheduler
runs: PYTHONPATH=python python3 examples/waits.py; elsewhere see docs/python.md.
"""

from __future__ import annotations

import tutti

POLICIES = ["fcfs", "easy"]
LOADS = [0.5, 0.6, 0.7, 0.8, 0.9]
SEEDS = 3


def mean_waits(load: float) -> list[float]:
    """The mean wait in minutes under each policy, over all seeds."""
    jobs = f"downey:jobs=500:load={load}"
    comparison = tutti.compare(jobs, POLICIES, replications=SEEDS, workers=1)
    sums = [sum(row["mean"] for row in comparison.rows(metric="wait", policy=policy)) for policy in POLICIES]
    return [total / SEEDS / 60 for total in sums]


def draw(waits: list[list[float]], path: str) -> bool:
    """Draws a line for each policy. Returns False if there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    axes = Figure(figsize=(6, 4), layout="constrained").subplots()
    for policy, line in zip(POLICIES, zip(*waits)):
        axes.plot(LOADS, line, marker="o", label=policy)
    axes.set(xlabel="offered load", ylabel="mean wait (min)", ylim=(0, None))
    axes.legend()
    axes.figure.savefig(path, dpi=150)
    return True


if __name__ == "__main__":
    waits = tutti.map(mean_waits, LOADS, time="10m", name="waits")
    print("load" + "".join(f"{policy:>12}" for policy in POLICIES))
    for load, row in zip(LOADS, waits):
        print(f"{load:<4}" + "".join(f"{wait:8.1f} min" for wait in row))
    if draw(waits, "waits.png"):
        print("The chart is waits.png")
