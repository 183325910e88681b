"""How the mean wait grows with the load under two policies: a job of the scheduler for each load.

Prints a table. If matplotlib is installed (on Debian: apt install python3-matplotlib), it also draws
waits.png. In the clone, while a scheduler runs: PYTHONPATH=python python3 examples/waits.py; elsewhere
see docs/python.md.
"""

from __future__ import annotations

import tutti

POLICIES = {"fcfs": "first come, first served", "easy": "EASY backfilling"}
LOADS = [0.5, 0.6, 0.7, 0.8, 0.9]
JOBS = 500
SEEDS = 3


def mean_waits(load: float) -> list[float]:
    """The mean wait in minutes under each policy, over all seeds."""
    jobs = f"downey:jobs={JOBS}:load={load}"
    comparison = tutti.compare(jobs, list(POLICIES), replications=SEEDS, workers=1)
    sums = [sum(row["mean"] for row in comparison.rows(metric="wait", policy=policy)) for policy in POLICIES]
    return [total / SEEDS / 60 for total in sums]


def draw(waits: list[list[float]], path: str) -> bool:
    """Draws a line for each policy. Returns False if there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    axes = Figure(figsize=(7, 4), layout="constrained").subplots()
    for (policy, title), line in zip(POLICIES.items(), zip(*waits)):
        [drawn] = axes.plot(LOADS, line, marker="o")
        # At the end of its line, a name needs no legend.
        axes.annotate(
            f"{title}\n({policy})",
            (LOADS[-1], line[-1]),
            xytext=(10, 0),
            textcoords="offset points",
            va="center",
            color=drawn.get_color(),
        )
    axes.set(xlabel="offered load (1 is all the machine can do)", ylabel="mean wait (min)", xticks=LOADS)
    axes.set_ylim(bottom=0)
    axes.set_title(f"Mean wait of {JOBS} jobs of Downey's model, mean of {SEEDS} seeds", loc="left")
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.savefig(path, dpi=150)
    return True


if __name__ == "__main__":
    waits = tutti.map(mean_waits, LOADS, time="10m", name="waits")
    print("load" + "".join(f"{policy:>12}" for policy in POLICIES))
    for load, row in zip(LOADS, waits):
        print(f"{load:<4}" + "".join(f"{wait:8.1f} min" for wait in row))
    if draw(waits, "waits.png"):
        print("The chart is waits.png")
    else:
        print("No chart: matplotlib is not installed (on Debian: apt install python3-matplotlib)")
