#!/usr/bin/env python3
"""Checks a schedule that a simulator wrote as SWF (the Standard Workload Format), without the simulator.

    python3 check_swf.py easy.swf.gz --policy easy --workload KTH-SP2.swf.gz

A line's wait says when its job started; SWF cannot say that this was before its arrival. Every schedule must
start all jobs, and use no more processors than there are. Those of fcfs, first-fit and easy must also have exactly the starts that a plain
simulation finds; of another policy, leave --policy out. With --workload, the jobs must be those of that file.

Only Python's standard library, 3.9 or later, and no code of Tutti. Exit code 0: accepted; 1: rejected, with
the lines; 2: wrong use; 66: a file that cannot be read.

Rules of the simulation, which are those of the SWF file's notes:
- A job needs its allocated processors, or the requested ones if these are unknown (fields 5 and 8), for its
  run time (field 4). Its estimate is its requested time (field 9), but not less than its run time.
- One decision per instant, after all ends and arrivals of that instant. A job that runs 0 s ends at the
  instant of its start, and is followed by another decision.
- fcfs: the queue is served in the order of arrival, and a job that does not fit holds back all others.
- first-fit: each job of the queue that fits starts, in order of arrival.
- easy: as fcfs; a job behind the first one that does not fit (the head) starts if it fits now and either
  ends, by its estimate, at the shadow time at the latest, or uses only spare processors. The shadow time is
  the earliest time at which the head fits if all running jobs end at their estimates; spare are those
  processors that the head then leaves (Lifka 1995; Mu'alem and Feitelson 2001, IEEE TPDS 12(6)).
"""

import argparse
import gzip
import heapq
import sys
from typing import Dict, Iterator, List, NamedTuple, Optional, TextIO

SHOWN = 10
#: Digits after the point of a second: a start is a sum of two numbers of the file, and so are ends.
DIGITS = 6


class Job(NamedTuple):
    line: int
    number: int
    submit: float
    run: float
    size: int
    estimate: float
    #: NaN in a workload whose waits are unknown.
    start: float


class Trace(NamedTuple):
    jobs: List[Job]
    processors: Optional[int]


class Unreadable(Exception):
    pass


def read(path: str) -> Trace:
    """The jobs of an SWF file, packed by gzip or not, in the order of its lines."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt") if packed else open(path) as text:
            return parse(text, path)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Unreadable(f"Cannot read {path}: {error}") from None


def parse(text: TextIO, path: str) -> Trace:
    jobs: List[Job] = []
    processors = None
    for line, words in enumerate(text, 1):
        if words.startswith(";"):
            if words.startswith("; MaxProcs:"):
                processors = int(words.split(":")[1])
            continue
        if not words.strip():
            continue
        try:
            number, submit, wait, run, allocated, _, _, requested, estimate = map(float, words.split()[:9])
        except ValueError:
            raise Unreadable(f"Cannot use {path}, line {line}: expected 18 numbers") from None
        size = int(allocated if allocated > 0 else requested)
        # What cannot run is left out; a run time or an estimate may be unknown.
        if size > 0 and submit >= 0 and run >= 0:
            start = submit + wait if wait >= 0 else float("nan")
            jobs.append(Job(line, int(number), submit, run, size, max(estimate, run), start))
    return Trace(jobs, processors)


def illegal(jobs: List[Job], processors: int) -> Iterator[str]:
    """What no policy may do."""
    changes = []
    for job in jobs:
        if job.start != job.start:
            yield f"line {job.line}: job {job.number} has no wait, so it has no start"
            continue
        if job.size > processors:
            yield f"line {job.line}: job {job.number} has {job.size} of {processors} processors"
        if job.run > 0:
            changes.append((round(job.start, DIGITS), 1, job))
            changes.append((round(job.start + job.run, DIGITS), 0, job))
    used = 0
    for at, is_start, job in sorted(changes, key=lambda change: change[:2]):
        used += job.size if is_start else -job.size
        if is_start and used > processors:
            yield f"line {job.line}: {used} of {processors} processors are used when job {job.number} starts at {at:g}"


class Machine:
    """Runs jobs in the order in which a policy starts them."""

    def __init__(self, processors: int) -> None:
        self.free = processors
        self.now = 0.0
        self.running: Dict[int, Job] = {}
        self.starts: Dict[int, float] = {}
        self.ends: List[tuple] = []

    def begin(self, index: int, job: Job) -> None:
        self.free -= job.size
        self.starts[index] = self.now
        self.running[index] = job
        heapq.heappush(self.ends, (self.now + job.run, index))

    def end_due(self) -> None:
        while self.ends and self.ends[0][0] == self.now:
            job = self.running.pop(heapq.heappop(self.ends)[1])
            self.free += job.size


def heads(machine: Machine, queue: List[int], jobs: List[Job]) -> None:
    """Starts the queue's jobs in order until one does not fit."""
    while queue and jobs[queue[0]].size <= machine.free:
        machine.begin(queue[0], jobs[queue.pop(0)])


def first_fit(machine: Machine, queue: List[int], jobs: List[Job]) -> None:
    for index in list(queue):
        if jobs[index].size <= machine.free:
            queue.remove(index)
            machine.begin(index, jobs[index])


def easy(machine: Machine, queue: List[int], jobs: List[Job]) -> None:
    heads(machine, queue, jobs)
    if len(queue) < 2 or machine.free == 0:
        return
    head = jobs[queue[0]]
    # The earliest expected end after which the head fits, and all ends expected by then.
    expected = sorted((machine.starts[index] + job.estimate, job.size) for index, job in machine.running.items())
    available = machine.free
    shadow = machine.now
    for end, size in expected:
        if available >= head.size and end > shadow:
            break
        available += size
        shadow = end
    spare = available - head.size
    for index in queue[1:]:
        job = jobs[index]
        is_in_time = machine.now + job.estimate <= shadow
        if job.size > machine.free or not (is_in_time or job.size <= spare):
            continue
        if not is_in_time:
            spare -= job.size
        queue.remove(index)
        machine.begin(index, job)


POLICIES = {"fcfs": heads, "first-fit": first_fit, "easy": easy}


def simulate(policy: str, jobs: List[Job], processors: int) -> Dict[int, float]:
    """The start of each job, by its place in the list, which is in the order of arrival."""
    decide = POLICIES[policy]
    machine = Machine(processors)
    queue: List[int] = []
    arrived = 0
    while arrived < len(jobs) or machine.ends:
        instants = [jobs[arrived].submit] if arrived < len(jobs) else []
        if machine.ends:
            instants.append(machine.ends[0][0])
        machine.now = min(instants)
        machine.end_due()
        while arrived < len(jobs) and jobs[arrived].submit == machine.now:
            queue.append(arrived)
            arrived += 1
        decide(machine, queue, jobs)
    return machine.starts


def wrong_starts(policy: str, jobs: List[Job], processors: int) -> Iterator[str]:
    ordered = sorted(jobs, key=lambda job: job.submit)
    starts = simulate(policy, ordered, processors)
    wrong = [(starts[i], job) for i, job in enumerate(ordered) if round(starts[i] - job.start, DIGITS) != 0]
    for start, job in sorted(wrong, key=lambda one: min(one[0], one[1].start)):
        yield f"line {job.line}: job {job.number} starts at {job.start:g}, expected {start:g} under {policy}"


def other_jobs(jobs: List[Job], workload: List[Job], processors: int) -> Iterator[str]:
    """Differences between the jobs and those of the workload that fit on the machine."""
    def what(job: Job) -> tuple:
        return job.submit, job.run, job.size, job.estimate

    wanted = {job.number: job for job in workload if job.size <= processors}
    for job in jobs:
        original = wanted.pop(job.number, None)
        if original is None:
            yield f"line {job.line}: job {job.number} is not in the workload, or twice in the schedule"
        elif what(original) != what(job):
            yield (
                f"line {job.line}: job {job.number} arrives, runs, needs and expects {what(job)}, "
                f"but {what(original)} in the workload"
            )
    for job in wanted.values():
        yield f"job {job.number} of the workload (line {job.line}) is missing"


def check(words: argparse.Namespace) -> List[str]:
    trace = read(words.file)
    processors = words.processors or trace.processors
    if processors is None:
        raise Unreadable(f"Cannot check {words.file}: it has no line MaxProcs, expected --processors N")
    troubles = list(illegal(trace.jobs, processors))
    if words.workload is not None:
        troubles += other_jobs(trace.jobs, read(words.workload).jobs, processors)
    if words.policy is not None and not troubles:
        troubles += wrong_starts(words.policy, trace.jobs, processors)
    what = words.policy or "arrivals and capacity"
    if not troubles:
        print(f"accepted: {len(trace.jobs)} jobs on {processors} processors, {what}")
    return troubles


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="the schedule, an SWF file with waits")
    parser.add_argument("--policy", choices=sorted(POLICIES), help="also compare every start")
    parser.add_argument("--processors", type=int, help="default: MaxProcs of the file")
    parser.add_argument("--workload", help="SWF file whose jobs the schedule must have")
    try:
        troubles = check(parser.parse_args())
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 66
    for trouble in troubles[:SHOWN]:
        print(trouble)
    if len(troubles) > SHOWN:
        print(f"and {len(troubles) - SHOWN} more")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
