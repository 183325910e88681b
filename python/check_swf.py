#!/usr/bin/env python3
"""Checks schedules that a simulator wrote, without the simulator.

    python3 check_swf.py easy.swf.gz --policy easy --workload KTH-SP2.swf.gz
    python3 check_swf.py out_jobs.csv --processors 128 --policy easy
    python3 check_swf.py --archive FOLDER --traces FOLDER

A schedule is a file in SWF (the Standard Workload Format), where a line's wait says when its job started, or a
table like Batsim's jobs.csv, in which the column allocated_resources has the job's processors ("0-3 7"). With
--places, jobs share time: a second table (job_id, row, from, until, allocated_resources) says in which row of
the matrix each job was, when and on which processors. --archive names a folder that `npm run golden -- --archive`
of Tutti wrote.

Every schedule must start all jobs, none before its arrival, and use no more processors than there are; and where it
names processors, each job has as many as it needs, and no two jobs have one at once: under time sharing, no two jobs
in one row. Those of fcfs, first-fit and easy must also have exactly the starts that a plain simulation finds; of
another policy, leave --policy out. With --workload, the jobs must be those of that file. What was checked is said
after "accepted".

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
import csv
import gzip
import heapq
import math
import os
import sys
import zlib
from collections import defaultdict
from typing import Dict, Iterator, List, NamedTuple, Optional, TextIO, Tuple

SHOWN = 10
#: Digits after the point of a second: a start is a sum of two numbers of the file, and so are ends.
DIGITS = 6
UNKNOWN = float("nan")
#: Larger numbers of processors are a mistake, and would take all memory.
MAX_PROCESSOR = 10**7


class Job(NamedTuple):
    line: int
    number: str
    submit: float
    run: float
    size: int
    estimate: float
    #: NaN in a workload whose waits are unknown, and if the job was rejected.
    start: float
    finish: float
    #: A bit for each processor; None if the file does not name them.
    processors: Optional[int] = None


class Trace(NamedTuple):
    jobs: List[Job]
    processors: Optional[int]


class Stay(NamedTuple):
    """A job's stay in a row of the matrix."""

    line: int
    job: str
    row: str
    start: float
    end: float
    processors: int


class Unreadable(Exception):
    pass


def opened(path: str) -> TextIO:
    """A text, packed by gzip or not."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", newline="") if packed else open(path, newline="")


def read(path: str) -> Trace:
    """The jobs of a file, in the order of its lines."""
    try:
        with opened(path) as text:
            is_table = "job_id" in text.readline()
            text.seek(0)
            return Trace(list(table_jobs(text, path)), None) if is_table else parse(text, path)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Unreadable(f"Cannot read {path}: {error}") from None


def parse(text: TextIO, path: str) -> Trace:
    jobs: List[Job] = []
    processors = None
    for line, words in enumerate(text, 1):
        if words.startswith(";"):
            if words.startswith("; MaxProcs:"):
                try:
                    processors = positive(words.split(":")[1])
                except ValueError:
                    raise Unreadable(f"Cannot use {path}, line {line}: expected a number of processors") from None
            continue
        if not words.strip():
            continue
        try:
            number, submit, wait, run, allocated, _, _, requested, estimate = map(float, words.split()[:9])
            size = int(allocated if allocated > 0 else requested)
            name = str(int(number))
        except (ValueError, OverflowError):
            raise Unreadable(f"Cannot use {path}, line {line}: expected 18 numbers") from None
        # What cannot run is left out; a run time or an estimate may be unknown.
        if size > 0 and submit >= 0 and run >= 0:
            start = submit + wait if wait >= 0 else UNKNOWN
            jobs.append(Job(line, name, submit, run, size, max(estimate, run), start, start + run))
    return Trace(jobs, processors)


def rows_of(text: TextIO, path: str, *names: str) -> Iterator[Tuple[int, Dict[str, str]]]:
    """The lines of a table that has these columns, with their numbers."""
    table = csv.DictReader(text)
    for name in names:
        if name not in (table.fieldnames or ()):
            raise Unreadable(f"Cannot use {path}: it has no column {name}")
    for line, row in enumerate(table, 2):
        if None in row or None in row.values():
            raise Unreadable(f"Cannot use {path}, line {line}: expected as many values as columns")
        yield line, row


def table_jobs(text: TextIO, path: str) -> Iterator[Job]:
    times = ("submission_time", "starting_time", "finish_time")
    for line, row in rows_of(text, path, "job_id", "requested_number_of_resources", *times):
        try:
            submit, start, finish = (float(row[name] or UNKNOWN) for name in times)
            run = float(row.get("execution_time") or finish - start)
            estimate = max(float(row.get("requested_time") or run), run)
            size = int(row["requested_number_of_resources"])
            named = row.get("allocated_resources")
            processors = None if named is None else bits(named)
        except (ValueError, TypeError, OverflowError):
            raise Unreadable(f"Cannot use {path}, line {line}: expected numbers and ranges of processors") from None
        if not (math.isfinite(submit) and size > 0) or run < 0 or math.isinf(run):
            raise Unreadable(f"Cannot use {path}, line {line}: expected an arrival, processors, and a run time from 0")
        yield Job(line, row["job_id"], submit, run, size, estimate, start, finish, processors)


def read_stays(path: str) -> List[Stay]:
    stays = []
    try:
        with opened(path) as text:
            names = ("job_id", "row", "from", "until", "allocated_resources")
            for line, row in rows_of(text, path, *names):
                job, at, start, end, named = (row[name] for name in names)
                stays.append(Stay(line, job, at, float(start), float(end), bits(named)))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Unreadable(f"Cannot read {path}: {error}") from None
    except (ValueError, TypeError):
        raise Unreadable(f"Cannot use {path}: expected numbers and ranges of processors") from None
    return stays


def bits(named: str) -> int:
    """A bit for each processor of ranges such as 0-3 7."""
    processors = 0
    for part in named.replace(",", " ").split():
        first, _, last = part.partition("-")
        if int(last or first) > MAX_PROCESSOR:
            raise ValueError(part)
        processors |= (1 << (int(last or first) + 1)) - (1 << int(first))
    return processors


def ranges(processors: int) -> str:
    parts = []
    while processors:
        first = (processors & -processors).bit_length() - 1
        above = processors >> first
        length = (~above & (above + 1)).bit_length() - 1
        parts.append(f"{first}-{first + length - 1}" if length > 1 else str(first))
        processors = above >> length << (first + length)
    return " ".join(parts)


def wrong_processors(named: int, size: int, processors: int) -> Optional[str]:
    """Whether a job of that size cannot have these processors."""
    if named >> processors:
        return f"is on processor {named.bit_length() - 1} of 0 to {processors - 1}"
    count = bin(named).count("1")
    return f"is on {count} processors, but needs {size}" if count != size else None


def illegal(jobs: List[Job], processors: int, is_shared: bool) -> Iterator[str]:
    """What no policy may do."""
    seen = set()
    for job in jobs:
        name = f"line {job.line}: job {job.number}"
        if job.number in seen:
            yield f"{name} is twice in the schedule"
        seen.add(job.number)
        if job.start != job.start or job.finish != job.finish:
            yield f"{name} has no start"
            continue
        if round(job.start - job.submit, DIGITS) < 0:
            yield f"{name} starts at {job.start:g}, but arrives at {job.submit:g}"
        if round(job.start + job.run - job.finish, DIGITS) != 0:
            yield f"{name} starts at {job.start:g} and runs {job.run:g} s, but ends at {job.finish:g}"
        if job.size > processors:
            yield f"{name} has {job.size} of {processors} processors"
        if job.processors is not None:
            wrong = wrong_processors(job.processors, job.size, processors)
            if wrong is not None:
                yield f"{name} {wrong}"
    if not is_shared:
        yield from used_twice([job for job in jobs if job.start == job.start and job.run > 0], processors)


def used_twice(jobs: List[Job], processors: int) -> Iterator[str]:
    changes = []
    for job in jobs:
        changes.append((round(job.start, DIGITS), 1, job))
        changes.append((round(job.finish, DIGITS), 0, job))
    used = 0
    busy = 0
    for at, is_start, job in sorted(changes, key=lambda change: change[:2]):
        used += job.size if is_start else -job.size
        named = job.processors or 0
        if not is_start:
            busy &= ~named
            continue
        when = f"when job {job.number} starts at {at:g}"
        if used > processors:
            yield f"line {job.line}: {used} of {processors} processors are used {when}"
        if busy & named:
            yield f"line {job.line}: processors {ranges(busy & named)} have another job {when}"
        busy |= named


def wrong_stays(jobs: List[Job], stays: List[Stay], processors: int, rows: Optional[int]) -> Iterator[str]:
    """What no matrix may have: jobs in rows at other times than theirs, processors twice in a row, too many rows."""
    of_job = defaultdict(list)
    changes = []
    known = {job.number: job for job in jobs}
    for stay in stays:
        job = known.get(stay.job)
        wrong = "is not in the schedule" if job is None else wrong_processors(stay.processors, job.size, processors)
        if wrong is not None:
            yield f"places, line {stay.line}: job {stay.job} {wrong}"
            continue
        of_job[stay.job].append(stay)
        if not stay.start < stay.end:
            yield f"places, line {stay.line}: from {stay.start:g} until {stay.end:g}"
        changes.append((stay.start, 1, stay))
        changes.append((stay.end, 0, stay))
    for job in jobs:
        own = of_job[job.number]
        name = f"line {job.line}: job {job.number}"
        if any(stay.start < job.submit or stay.end > job.finish for stay in own):
            yield f"{name} is in a row before it arrives or after it ends"
        if not any(stay.start <= job.start < stay.end for stay in own):
            yield f"{name} starts at {job.start:g}, but is in no row"
        if not any(stay.end == job.finish for stay in own):
            yield f"{name} ends at {job.finish:g}, but has left its rows"
    busy: Dict[str, int] = defaultdict(int)
    for at, is_start, stay in sorted(changes, key=lambda change: change[:2]):
        if not is_start:
            busy[stay.row] &= ~stay.processors
            if not busy[stay.row]:
                del busy[stay.row]
            continue
        twice = busy[stay.row] & stay.processors
        if twice:
            yield (
                f"places, line {stay.line}: processors {ranges(twice)} of row {stay.row} have another job "
                f"when job {stay.job} comes at {at:g}"
            )
        busy[stay.row] |= stay.processors
        if rows is not None and len(busy) > rows:
            yield f"places, line {stay.line}: {len(busy)} of {rows} rows have jobs at {at:g}"


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


def other_jobs(jobs: List[Job], workload: List[Job], processors: int, is_shared: bool) -> Iterator[str]:
    """Differences between the jobs and those of the workload that fit on the machine."""
    def what(job: Job) -> tuple:
        # A job that shares time is there for longer than it runs.
        return (job.submit, job.size) if is_shared else (job.submit, job.run, job.size, job.estimate)

    wanted = {job.number: job for job in workload if job.size <= processors}
    for job in jobs:
        original = wanted.pop(job.number, None)
        name = f"line {job.line}: job {job.number}"
        if original is None:
            yield f"{name} is not in the workload, or twice in the schedule"
        elif what(original) != what(job):
            names = "arrives and needs" if is_shared else "arrives, runs, needs and expects"
            yield f"{name} {names} {what(job)}, but {what(original)} in the workload"
        elif round(job.finish - job.start - original.run, DIGITS) < 0:
            yield f"{name} is there for {job.finish - job.start:g} s, but runs for {original.run:g} s"
    for job in wanted.values():
        yield f"job {job.number} of the workload (line {job.line}) is missing"


class Task(NamedTuple):
    """A schedule to check, and against what."""

    file: str
    policy: Optional[str] = None
    processors: Optional[int] = None
    workload: Optional[str] = None
    places: Optional[str] = None
    rows: Optional[int] = None
    is_shared: bool = False


def check(task: Task) -> Tuple[List[str], str, List[Job]]:
    """What is wrong, what was checked, and the jobs."""
    trace = read(task.file)
    jobs = trace.jobs
    processors = task.processors or trace.processors
    if processors is None:
        raise Unreadable(f"Cannot check {task.file}: it has no line MaxProcs, expected --processors N")
    stays = None if task.places is None else read_stays(task.places)
    is_shared = task.is_shared or stays is not None
    troubles = list(illegal(jobs, processors, is_shared))
    done = ["arrivals"]
    if stays is not None:
        troubles += wrong_stays(jobs, stays, processors, task.rows)
        done.append("places in the matrix")
    elif not is_shared:
        done += ["capacity"] if not jobs or jobs[0].processors is None else ["capacity", "processors"]
    if task.workload is not None:
        troubles += other_jobs(jobs, read(task.workload).jobs, processors, is_shared)
        done.append("jobs of the workload")
    if task.policy is not None and not troubles:
        troubles += wrong_starts(task.policy, jobs, processors)
        done.append(f"starts of {task.policy}")
    return troubles, f"{len(jobs)} jobs on {processors} processors: {', '.join(done)}", jobs


def show(troubles: List[str]) -> None:
    for trouble in troubles[:SHOWN]:
        print(trouble)
    if len(troubles) > SHOWN:
        print(f"and {len(troubles) - SHOWN} more")


def other_waits(jobs: List[Job], mean: float, longest: float) -> Iterator[str]:
    waits = [job.start - job.submit for job in jobs]
    for name, wait, expected in (("mean", sum(waits) / len(jobs), mean), ("longest", max(waits), longest)):
        if not abs(wait - expected) <= 1e-9 * expected:
            yield f"the {name} wait is {wait!r}, but {expected!r} in golden.tsv"


def check_archive(folder: str, traces: Optional[str], prefixes: List[str]) -> int:
    """Checks every schedule of a folder, and the waits in its table; returns how many were rejected."""
    accepted = refused = rejected = 0
    with open(os.path.join(folder, "golden.tsv"), newline="") as text:
        lines = list(csv.DictReader(text, delimiter="\t"))
    for line in lines:
        source, policy = line["source"], line["policy"]
        if prefixes and not any(source.startswith(prefix) for prefix in prefixes):
            continue
        if line["jobs"] == "refused":
            refused += 1
            continue
        file = os.path.join(folder, source.replace(":", ","), policy.replace(":", ","))
        workload = os.path.join(folder, f"{source.replace(':', ',')}.swf")
        if not os.path.exists(workload):
            workload = os.path.join(traces, source) if traces is not None else None
        with opened(f"{file}.csv") as text:
            is_shared = "allocated_resources" not in text.readline()
        places = f"{file}.places.csv"
        task = Task(
            f"{file}.csv",
            policy if policy in POLICIES else None,
            int(line["processors"]),
            workload,
            places if os.path.exists(places) else None,
            next((int(word[5:]) for word in policy.split(":") if word.startswith("rows=")), None),
            is_shared,
        )
        troubles, what, jobs = check(task)
        if len(jobs) != int(line["jobs"]):
            troubles.append(f"{len(jobs)} jobs, but {line['jobs']} in the table")
        troubles += other_waits(jobs, float(line["meanWaitS"]), float(line["maxWaitS"]))
        accepted += not troubles
        rejected += bool(troubles)
        print(f"{'rejected' if troubles else 'accepted'}: {source} {policy}, {what}, waits of the table", flush=True)
        show(troubles)
    if accepted + refused + rejected == 0:
        raise Unreadable(f"Cannot check {folder}: its golden.tsv has no schedules, or none of these sources")
    print(f"{accepted} schedules accepted, {rejected} rejected; {refused} policies refuse their machine")
    return rejected


def positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="*", help="the schedule; with --archive, names with which sources begin")
    parser.add_argument("--policy", choices=sorted(POLICIES), help="also compare every start")
    parser.add_argument("--processors", type=positive, help="default: MaxProcs of an SWF file")
    parser.add_argument("--workload", help="SWF file whose jobs the schedule must have")
    parser.add_argument("--places", help="table of the places of jobs that share time")
    parser.add_argument("--rows", type=positive, help="with --places: the most rows that the matrix may have")
    parser.add_argument("--archive", metavar="FOLDER", help="check all schedules of a folder")
    parser.add_argument("--traces", metavar="FOLDER", help="with --archive: where the traces are")
    words = parser.parse_args()
    if words.archive is None and len(words.file) != 1:
        parser.error("expected one schedule, or --archive")
    try:
        if words.archive is not None:
            return 1 if check_archive(words.archive, words.traces, words.file) else 0
        task = Task(words.file[0], words.policy, words.processors, words.workload, words.places, words.rows)
        troubles, what, _ = check(task)
    except (Unreadable, OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        print(error, file=sys.stderr)
        return 66
    except (KeyError, ValueError, ZeroDivisionError) as error:
        # Only the table of an archive is read without a check of each value.
        print(f"Cannot read the table of the archive: {error!r}", file=sys.stderr)
        return 66
    if not troubles:
        print(f"accepted: {what}")
    show(troubles)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
