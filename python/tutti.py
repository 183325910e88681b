"""Jobs of the scheduler Tutti, and its laboratory, from Python.

    import tutti

    job = tutti.submit(["./a.out", "input.dat"], tasks=4, time="10m")
    if job.wait() != "done":
        print(job.why())

    squares = tutti.map(square, range(100))                 # one job for each item
    result = tutti.simulate("trace.swf.gz", policy="easy")  # the schedule, as columns

This is one file. It needs only the standard library of Python 3.9 or newer, so you may copy it. The
guide is docs/python.md in the repository of Tutti.

Times are in seconds and memory is in bytes, unless a name or a sentence says otherwise. All errors
of Tutti are subclasses of TuttiError. Threads may call all functions.

How map and Executor run a function: the function, its arguments and its results go through pickles
in a folder that only the user can open.

    ~/.local/state/tutti-python/     0700, or $XDG_STATE_HOME/tutti-python
      calls-k3x0a9q1/                0700, removed when the last result has been read
        header                       JSON: where modules are found, and the script of this program
        function                     pickle
        items                        pickles of the arguments, behind a table of offsets
        result-17-1                  what the call with index 17 returned or raised in attempt 1

Each call is a job of an array. It imports this file, and finds its index in TUTTI_ARRAY_INDEX.
"""

from __future__ import annotations

import concurrent.futures
import csv
import datetime
import functools
import glob
import http.client
import importlib
import io
import json
import logging
import os
import pickle
import re
import runpy
import shutil
import socket
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time as clock
import traceback
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, NoReturn
from typing import Optional, Sequence, Set, Tuple, TYPE_CHECKING, TypedDict, TypeVar, Union, overload

if TYPE_CHECKING:
    from typing import Literal
    from typing_extensions import Unpack

__all__ = [
    "Comparison",
    "Executor",
    "Job",
    "JobFailed",
    "JobFuture",
    "NoScheduler",
    "Refused",
    "Result",
    "TuttiError",
    "as_completed",
    "compare",
    "map",
    "simulate",
    "submit",
    "wait",
]

T = TypeVar("T")
R = TypeVar("R")
Path = Union[str, "os.PathLike[str]"]
Duration = Union[int, float, str, datetime.timedelta]
Use = Union[str, Mapping[str, int]]
Info = Dict[str, Any]

ACTIVE = ("queued", "held", "starting", "running", "paused", "ending")
ENDED = ("done", "failed", "cancelled")
MAX_JOBS = 10_000

log = logging.getLogger("tutti")


# Errors


class TuttiError(Exception):
    """Something that Tutti could not do. Its text says what failed, why, and what to do."""


class NoScheduler(TuttiError):
    """No scheduler can be reached."""


class Refused(TuttiError):
    """The scheduler refused a request. `code` is its reason as a word, such as "not-found"."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class JobFailed(TuttiError):
    """A job of map or of an Executor ended without a result.

    It was cancelled, killed, reached a limit, or its process ended in another way than by returning
    or raising. `job` is its number, `state` is "done", "failed" or "cancelled", `why` is a sentence.
    """

    def __init__(self, job: int, state: str, why: str) -> None:
        super().__init__(job, state, why)
        self.job = job
        self.state = state
        self.why = why

    def __str__(self) -> str:
        return self.why


class RemoteTraceback(Exception):
    """The traceback of an error in a job. It is the `__cause__` of the error that map raises."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


# The scheduler


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


class _Scheduler:
    """Finds the scheduler as the command line does, and sends requests to it."""

    GIVE_UP_S = 600.0
    POLL_S = 0.2
    # The kernel's queue of connections may be full for a moment.
    MAX_TRIES = 100
    RETRY_S = 0.02

    def __init__(self) -> None:
        self._reached = False

    def ask(self, method: str, path: str, body: Optional[object] = None) -> Any:
        """The JSON answer. A request must be harmless when it is repeated."""
        return json.loads(self.read(method, path, body))

    def read(self, method: str, path: str, body: Optional[object] = None) -> bytes:
        """The answer as bytes. Waits for a scheduler that is being restarted, up to 10 minutes.

        Does not wait for a scheduler that has never answered.
        """
        _refuse_while_importing()
        content = None if body is None else json.dumps(body).encode()
        give_up_at: Optional[float] = None
        while True:
            try:
                answer = self._once(method, path, content)
                self._reached = True
                return answer
            except (NoScheduler, Refused) as error:
                # A scheduler that is ending still answers. One that is full serves others first.
                is_brief = isinstance(error, NoScheduler) or error.code == "unavailable"
                is_brief = is_brief or (method == "GET" and isinstance(error, Refused) and error.code == "full")
                if not is_brief or not self._reached:
                    raise
                now = clock.monotonic()
                if give_up_at is None:
                    give_up_at = now + self.GIVE_UP_S
                    log.warning("waiting for the scheduler (running jobs continue): %s", error)
                if now > give_up_at:
                    raise
                clock.sleep(self.POLL_S)

    def _once(self, method: str, path: str, content: Optional[bytes]) -> bytes:
        socket_path, own, token = _discover()
        headers = {"Host": "localhost"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        # The user's own socket first; it may have been left behind by a scheduler that is gone.
        paths = [own, socket_path] if os.path.exists(own) else [socket_path]
        tries = 0
        while True:
            connection = _Connection(paths[0])
            try:
                try:
                    connection.connect()
                except (FileNotFoundError, ConnectionRefusedError, PermissionError):
                    if len(paths) == 1:
                        raise
                    paths.pop(0)
                    continue
                connection.request(method, path, content, headers)
                answer = connection.getresponse()
                text = answer.read()
                self._reached = True
                break
            except BlockingIOError as error:
                tries += 1
                if tries >= self.MAX_TRIES:
                    raise _unreachable("too many clients are connecting to it") from error
                clock.sleep(self.RETRY_S)
            except (OSError, http.client.HTTPException) as error:
                raise _unreachable(f'"{paths[0]}": {error or type(error).__name__}') from error
            finally:
                connection.close()
        if 200 <= answer.status < 300:
            return text
        raise _refusal(text, answer.status)


_scheduler = _Scheduler()


def _discover() -> Tuple[str, str, Optional[str]]:
    """The socket, the user's own socket next to it, and the user's token."""
    uid = os.getuid()
    given = os.environ.get("TUTTI_SOCKET")
    machine = "/run/tutti/tutti.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    user = f"{runtime}/tutti/tutti.sock" if runtime else f"{_own_temporary_folder(uid)}/tutti.sock"
    candidates = [os.path.abspath(given)] if given else [machine] if uid == 0 else [user, machine]
    existing = [path for path in candidates if _may_exist(path)]
    if not existing:
        raise _unreachable("there is no socket " + " or ".join(f'"{path}"' for path in candidates))
    trusted = [path for path in existing if _is_trustworthy(os.path.dirname(path))]
    if not trusted:
        folder = os.path.dirname(existing[0])
        raise NoScheduler(
            f'Cannot trust the scheduler at "{existing[0]}": other users can write to the folder "{folder}",'
            f" or it belongs to neither you nor root; remove it if it should not be there"
        )
    folder = os.path.dirname(trusted[0])
    try:
        with open(f"{folder}/tokens/{uid}", encoding="ascii") as file:
            token: Optional[str] = file.read().strip()
    except OSError:
        token = None
    return trusted[0], f"{folder}/{uid}.sock", token


def _own_temporary_folder(uid: int) -> str:
    """/tmp/tutti-UID; if it is not the user's, the first /tmp/tutti-UID.* that is."""
    folder = f"/tmp/tutti-{uid}"
    for path in [folder, *sorted(glob.glob(f"{folder}.*"))]:
        try:
            if os.lstat(path).st_uid == uid:
                return path
        except OSError:
            pass
    return folder


def _may_exist(path: str) -> bool:
    try:
        os.lstat(path)
    except PermissionError:
        return True  # Connecting to it says more.
    except OSError:
        return False
    return True


def _is_trustworthy(folder: str) -> bool:
    """Whether nobody but this user and root could have put a socket there."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def _unreachable(why: str) -> NoScheduler:
    return NoScheduler(
        f"Cannot reach the scheduler: {why}; tutti serve starts one, or set TUTTI_SOCKET to the path of its socket"
    )


def _refusal(text: bytes, status: int) -> TuttiError:
    try:
        answer = json.loads(text)
        return Refused(str(answer["refused"]), str(answer["message"]))
    except (ValueError, KeyError, TypeError):
        return TuttiError(f"The scheduler answered with status {status}, expected an answer of its API")


# Jobs


class Job:
    """A job of the scheduler, by its number. Jobs are equal if their numbers are."""

    number: int

    def __init__(self, number: int) -> None:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"Cannot use {number!r} as a job: expected a number from 1 on")
        self.number = number
        self._ended: Optional[Info] = None

    def __repr__(self) -> str:
        return f"Job({self.number})"

    def __str__(self) -> str:
        return str(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.number == self.number

    def __hash__(self) -> int:
        return hash((Job, self.number))

    def __reduce__(self) -> Tuple[type, Tuple[int]]:
        return Job, (self.number,)

    def info(self) -> Info:
        """Everything that the API says about the job now: the schema Job of /openapi.json.

        Raises Refused with the code "not-found" if there is no such job.
        """
        return self._ended or self._keep(_scheduler.ask("GET", f"/v1/jobs/{self.number}")["job"])

    @property
    def state(self) -> str:
        """queued, held, starting, running, paused, ending; at the end done, failed or cancelled."""
        return str(self.info()["state"])

    @property
    def exit_code(self) -> Optional[int]:
        """Exit code from 0 to 255. None before the end, and if a signal ended the job or it never ran."""
        code = self.info().get("code")
        return None if code is None else int(code)

    def wait(self, timeout: Optional[float] = None) -> str:
        """Waits until the job has ended, and returns its state: done, failed or cancelled.

        timeout: seconds; None waits for ever. Raises TimeoutError.
        """
        until = _deadline(timeout)
        for _ in _as_ended([self], until):
            pass
        return self.state

    def output(self, stream: str = "stdout") -> str:
        """What the job has written so far, as UTF-8; bytes that are not UTF-8 become U+FFFD.

        stream: "stdout" or "stderr". They are the same if the job was submitted with `output` only.
        """
        return self.output_bytes(stream).decode("utf-8", "replace")

    def output_bytes(self, stream: str = "stdout") -> bytes:
        """The same as bytes."""
        if stream not in ("stdout", "stderr"):
            raise ValueError(f'Cannot read the stream {stream!r}: expected "stdout" or "stderr"')
        try:
            return _scheduler.read("GET", f"/v1/jobs/{self.number}/logs/{stream}")
        except Refused as error:
            if error.code != "wrong-state":
                raise
        # One of the user's own files: it is read with the user's own rights.
        path = str(self.info()[stream])
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return b""
        with open(file, "rb") as opened:
            return opened.read() if stat.S_ISREG(os.fstat(file).st_mode) else b""

    def cancel(self) -> None:
        """Ends the job: SIGTERM to all its processes, and after a grace time SIGKILL.

        Returns when the scheduler has accepted it; `wait` waits for the end. A job that has ended
        stays as it is.
        """
        _cancel([self.number])

    def why(self) -> str:
        """Why the job waits, what it runs on, or how it ended: the sentences of `tutti why`."""
        answer = _scheduler.ask("GET", f"/v1/jobs/{self.number}/why")
        return " ".join(answer["sentences"])

    def _keep(self, info: Info) -> Info:
        if info["state"] in ENDED:
            self._ended = info
        return info


# From packages/protocol/job-fields.ts: `npm run fields` writes these lines.

class JobOptions(TypedDict, total=False):
    """What a job may ask for, as `submit` says."""

    name: str
    tasks: int
    threads: int
    time: Duration
    memory: Union[int, str]
    use: Use
    tasks_run: Literal["once", "each"]
    mpi: str
    queue: str
    after: Union[Job, int, str, Iterable[Union[Job, int, str]]]
    singleton: bool
    begin: Union[int, float, datetime.datetime]
    hold: bool
    priority: int
    retries: int
    retry_on: Union[str, Iterable[str]]
    retry_delay: Duration
    on_start: str
    on_end: str
    on_fail: str
    webhook: str
    mail: str
    notify: Union[str, Iterable[str]]
    output: Path
    error: Path
    open_mode: Literal["append", "truncate"]
    cwd: Path
    env: Mapping[str, str]
    module: Union[str, Iterable[str]]
    conda: Path
    venv: Path
    image: Path


# Fields of the API and their kinds, by argument.
_JOB_FIELDS: Dict[str, Tuple[str, str]] = {
    "name": ("name", "text"),
    "tasks": ("tasks", "count"),
    "threads": ("threads", "count"),
    "time": ("limitMs", "duration"),
    "memory": ("memoryBytes", "bytes"),
    "use": ("use", "use"),
    "tasks_run": ("tasksRun", "choice"),
    "mpi": ("mpi", "word"),
    "queue": ("queue", "text"),
    "after": ("after", "dependencies"),
    "singleton": ("singleton", "flag"),
    "begin": ("beginAtMs", "time"),
    "hold": ("held", "flag"),
    "priority": ("priority", "count"),
    "retries": ("retries", "count"),
    "retry_on": ("retryOn", "ends"),
    "retry_delay": ("retryDelayMs", "duration"),
    "on_start": ("onStart", "hook"),
    "on_end": ("onEnd", "hook"),
    "on_fail": ("onFail", "hook"),
    "webhook": ("webhook", "url"),
    "mail": ("mail", "addresses"),
    "notify": ("notify", "events"),
    "output": ("stdout", "path"),
    "error": ("stderr", "path"),
    "open_mode": ("openMode", "choice"),
    "cwd": ("cwd", "folder"),
    "env": ("env", "environment"),
    "module": ("modules", "names"),
    "conda": ("conda", "path"),
    "venv": ("venv", "path"),
    "image": ("image", "path"),
}

# End of these lines.


@overload
def submit(command: Sequence[Path], *, array: None = None, **options: Unpack[JobOptions]) -> Job: ...


@overload
def submit(command: Sequence[Path], *, array: str, **options: Unpack[JobOptions]) -> List[Job]: ...


def submit(command: Sequence[Path], *, array: Optional[str] = None, **options: Any) -> Union[Job, List[Job]]:
    """Submits a job, or with `array` one job for each index, and returns it or a list of them.

    When it returns, the jobs are on disk and survive a crash.

    command: program and arguments. No shell reads them; for pipes, use ["sh", "-c", "a | b"].
    array: indices such as "1-100", "0-20:5" or "1-100%4" (at most four at once). A job finds its
        index in TUTTI_ARRAY_INDEX. At most 10,000 jobs.
    tasks: number of processes, 1 to 65,536. threads: CPUs of each. The job gets tasks × threads CPUs.
    time: limit on running time: seconds, "90s", "10m", "2h", "1d", or a timedelta. The scheduler
        plans with it. At the limit the job gets SIGTERM, then SIGKILL.
    memory: of the whole job: bytes, or "512M", "2G" (powers of 1024).
    use: countable resources: "gpu", "gpu:2,licence:1", or {"gpu": 2}.
    queue, name: at most 64 and 256 characters. Default name: the program's.
    after: jobs that must succeed first: a Job, a number, or a list. "any:12" waits for any end of job
        12, "notok:12" for its failure, and "each:12" for the job of that array with the same index.
    env: the whole environment of the job. Default: that of this program.
    module, conda, venv: what is activated before the command: environment modules such as
        ["gcc/12", "openmpi"], an environment of conda, a virtual environment of Python.
    image: a container instead: a file for apptainer, a name for podman, a folder for bubblewrap.
    cwd: its folder. Default: the current one.
    output, error: files for standard output and error; %j is the job, %a the index. With output
        alone, both go there. Default: kept for Job.output().
    retries: how often it is started again after it was lost or requeued, 0 to 1000, and after the
        ends in retry_on: "fail", exit codes such as "75", signals such as "SIGBUS"; the first time
        after retry_delay.
    begin: not before this time, a datetime or seconds since 1970. hold: wait until `tutti release`.
        singleton: after your earlier jobs of this name. priority: −100 to 0.
    tasks_run, mpi: "each" runs the command once per task on a cluster, with this type of MPI.
    on_start, on_end, on_fail: commands for /bin/sh at these events, run as you, at most 30 s.
    webhook, mail: an address that gets a POST with JSON, and mail addresses separated by commas, at
        the events in notify: "start", "end", "fail". Default: "end".

    Options that are None are as if left out. The class JobOptions has the types of all.

    Raises ValueError or TypeError for values that cannot be meant, Refused if the scheduler refuses
    them, and NoScheduler.
    """
    spec = _spec(command, **options)
    if array is not None:
        spec["array"] = array
    numbers = _submit(spec, uuid.uuid4().hex)
    return [Job(number) for number in numbers] if array is not None else Job(numbers[0])


def _submit(spec: Info, key: str) -> List[int]:
    """The numbers of the jobs. A second request with the same key returns the same jobs."""
    answer = _scheduler.ask("POST", "/v1/jobs", {"jobs": [spec], "key": key})
    return [job["job"] for job in answer["jobs"]]


def _spec(command: Sequence[Path], **options: Any) -> Info:
    """The request of a job, as the schema SubmitJob of /openapi.json has it."""
    if isinstance(command, (str, bytes, os.PathLike)):
        raise TypeError(
            f'Cannot submit {command!r}: expected a list of words such as ["./a.out", "x"];'
            f' no shell reads them, but you may submit ["sh", "-c", …]'
        )
    words = [_text(word, "a word of the command") for word in command]
    if not words:
        raise ValueError("Cannot submit a job without a command: expected a list with the name of a program")
    for option in options:
        if option not in _JOB_FIELDS:
            raise TypeError(f"Cannot use the option {option}: expected one of {', '.join(_JOB_FIELDS)}")
    given = {option: value for option, value in options.items() if value is not None}
    if "output" in given:
        given.setdefault("error", given["output"])
    fields: Info = {
        "command": words,
        "name": os.path.basename(words[0])[:256] or None,
        "cwd": os.getcwd() if "cwd" not in given else None,
        "env": _environment() if "env" not in given else None,
        "umask": _umask(),
    }
    for option, value in given.items():
        field, kind = _JOB_FIELDS[option]
        read = _READERS.get(kind)
        fields[field] = value if read is None else read(value, option)
    return {field: value for field, value in fields.items() if value is not None}


# How arguments of each kind become values of the API; others are these values already.
_READERS: Dict[str, Callable[[Any, str], Any]] = {
    "bytes": lambda value, _: _bytes(value),
    "duration": lambda value, _: max(1, round(_seconds(value) * 1000)),
    "time": lambda value, _: round(1000 * (value.timestamp() if isinstance(value, datetime.datetime) else value)),
    "path": lambda value, option: _text(value, option),
    "folder": lambda value, _: os.path.abspath(_text(value, "the folder")),
    "ends": lambda value, _: _words(value),
    "names": lambda value, _: _words(value),
    "events": lambda value, _: _words(value),
    "use": lambda value, _: _use(value),
    "environment": lambda value, option: {k: _text(v, f"{k} in {option}") for k, v in value.items()},
    "dependencies": lambda value, _: _after(value),
}


def _words(value: Union[str, Iterable[str]]) -> List[str]:
    """A list, or words separated by commas."""
    return value.split(",") if isinstance(value, str) else list(value)


def _text(value: object, what: str) -> str:
    """Text that JSON and the kernel can hold."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"Cannot use {value!r} as {what}: expected text")
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError(f"Cannot use {value!r} as {what}: expected text, not bytes")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"Cannot use {text!r} as {what}: expected text that UTF-8 can hold") from None
    return text


def _environment() -> Dict[str, str]:
    """The environment of this program. Bytes that are not UTF-8 become U+FFFD, as on the command line."""
    pairs = ((name.decode("utf-8", "replace"), value) for name, value in os.environb.items())
    return {name: value.decode("utf-8", "replace") for name, value in pairs if name}


def _umask() -> Optional[str]:
    """The mask of this process. To read it with os.umask would change it for all threads."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
            found = re.search(r"^Umask:\s*0?([0-7]{3})$", file.read(), re.MULTILINE)
    except OSError:
        return None
    return found.group(1) if found else None


def _seconds(value: Duration) -> float:
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", value.strip())
        units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
        seconds = float(found.group(1)) * units[found.group(2)] if found else -1.0
    else:
        seconds = float(value)
    if not 0 < seconds < float("inf"):
        raise ValueError(f'Cannot use {value!r} as a time: expected seconds above 0, or "90s", "10m", "2h" or "1d"')
    return seconds


def _bytes(value: Union[int, str]) -> int:
    if isinstance(value, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])(?:i?B)?", value.strip(), re.IGNORECASE)
        size = round(float(found.group(1)) * 1024 ** " KMGT".index(found.group(2).upper())) if found else 0
    else:
        size = int(value)
    if size < 1:
        raise ValueError(f'Cannot use {value!r} as memory: expected bytes, or a size such as "512M" or "2G"')
    return size


def _use(use: Use) -> Dict[str, int]:
    if not isinstance(use, str):
        return dict(use)
    parts = [part.partition(":") for part in use.split(",")]
    try:
        return {kind: int(units) if colon else 1 for kind, colon, units in parts}
    except ValueError:
        raise ValueError(f'Cannot use {use!r} as resources: expected "gpu" or "gpu:2,licence:1"') from None


def _after(after: Union[Job, int, str, Iterable[Union[Job, int, str]]]) -> List[Info]:
    jobs = [after] if isinstance(after, (Job, int, str)) else list(after)
    return [_dependency(job) for job in jobs]


def _dependency(job: Union[Job, int, str]) -> Info:
    found = re.fullmatch(r"(?:(any|ok|notok|each):)?(\d{1,15})", str(job))
    if found is None:
        raise ValueError(f'Cannot wait for {job!r}: expected a job, or "any:12", "notok:12" or "each:12"')
    kind, number = found.groups()
    entry: Info = {"job": int(number), "ok": kind in (None, "ok")}
    return {**entry, "kind": kind} if kind in ("notok", "each") else entry


def _cancel(numbers: Iterable[int]) -> List[int]:
    """Cancels those that have not ended, and returns them."""
    cancelled: List[int] = []
    for part in _parts(numbers):
        answer = _scheduler.ask("POST", "/v1/batch", {"action": "cancel", "jobs": part, "states": list(ACTIVE)})
        cancelled += [one["number"] for one in answer["results"] if "job" in one]
    return cancelled


def _parts(numbers: Iterable[int], max_length: int = 6000) -> Iterator[str]:
    """Lists such as 3-9,12, each short enough for the line of a request."""
    text = ""
    for first, last in _ranges(sorted(numbers)):
        word = str(first) if first == last else f"{first}-{last}"
        if text and len(text) + len(word) >= max_length:
            yield text
            text = ""
        text += f",{word}" if text else word
    if text:
        yield text


def _ranges(numbers: Sequence[int]) -> Iterator[Tuple[int, int]]:
    first: Optional[int] = None
    last = 0
    for number in numbers:
        if first is not None and number == last + 1:
            last = number
            continue
        if first is not None:
            yield first, last
        first = last = number
    if first is not None:
        yield first, last


# Waiting


class DoneAndNotDone(NamedTuple):
    """What `wait` returns: the jobs that have ended, and the others."""

    done: Set[Job]
    not_done: Set[Job]


def wait(jobs: Iterable[Job], timeout: Optional[float] = None) -> DoneAndNotDone:
    """Waits until all jobs have ended, or until `timeout` seconds are over (None: no limit).

    Raises Refused with the code "not-found" if there is no such job, or not any more.
    """
    all_jobs = set(jobs)
    done: Set[Job] = set()
    try:
        for job in _as_ended(all_jobs, _deadline(timeout)):
            done.add(job)
    except TimeoutError:
        pass
    return DoneAndNotDone(done, all_jobs - done)


def as_completed(jobs: Iterable[Job], timeout: Optional[float] = None) -> Iterator[Job]:
    """The jobs in the order in which they end, each once.

    timeout: seconds from now for all of them; None: no limit. Raises TimeoutError.
    """
    return _as_ended(jobs, _deadline(timeout))


def _deadline(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else clock.monotonic() + timeout


def _as_ended(jobs: Iterable[Job], until: Optional[float], max_wait_s: int = 30) -> Iterator[Job]:
    pending: Dict[int, List[Job]] = {}
    for job in dict.fromkeys(jobs):
        pending.setdefault(job.number, []).append(job)
    while pending:
        left = float("inf") if until is None else until - clock.monotonic()
        parts = list(_parts(pending))
        # A request of the scheduler waits for whole seconds.
        wait_s = 0 if len(parts) > 1 or left < 1 else int(min(left, max_wait_s))
        ended = [info for part in parts for info in _ended_among(part, wait_s)]
        for info in sorted(ended, key=lambda one: int(one.get("endedAtMs", 0))):
            for job in pending.pop(info["job"], []):
                job._keep(info)
                yield job
        if not pending:
            return
        if until is not None and clock.monotonic() >= until:
            raise TimeoutError(f"{len(pending)} of the jobs have not ended, such as job {min(pending)}")
        # A break, so that jobs that end shortly after each other come in one answer.
        pause = 0.05 if ended or wait_s > 0 else 0.1 if len(parts) == 1 else 1.0
        clock.sleep(pause if until is None else max(0.0, min(pause, until - clock.monotonic())))


def _ended_among(numbers: str, wait_s: int) -> List[Info]:
    found: List[Info] = []
    after: Optional[int] = 0
    while after is not None:
        path = f"/v1/jobs?after={after}&states={','.join(ENDED)}&numbers={numbers}&wait={wait_s}"
        answer = _scheduler.ask("GET", path)
        for gone in answer.get("missing", []):
            which = "is forgotten" if gone["because"] == "forgotten" else "does not exist"
            raise Refused("not-found", f"Cannot wait for job {gone['first']}: it {which}")
        found += answer["jobs"]
        after = answer.get("next")
        wait_s = 0
    return found


# Functions as jobs

_importing = False
# A job imports the script of the program under this name, as multiprocessing does. So results
# whose classes are defined in the script are found here under the same name.
sys.modules.setdefault("__mp_main__", sys.modules["__main__"])


def _refuse_while_importing() -> None:
    if _importing:
        raise RuntimeError(
            "Cannot use the scheduler while a job imports this script, because each job would start all jobs again:"
            ' put what the program does below the line if __name__ == "__main__":'
        )


class _Calls:
    """Calls of one function, each a job: the folder with their pickles, and the jobs."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Tuple[Any, ...]]) -> None:
        _refuse_while_importing()
        if len(arguments) > MAX_JOBS:
            raise ValueError(
                f"Cannot start {len(arguments):,} jobs: expected at most {MAX_JOBS:,}; chunksize= runs several items in a job"
            )
        self.count = len(arguments)
        self.jobs: Dict[int, int] = {}
        self._key = uuid.uuid4().hex
        self._spec: Optional[Info] = None
        self._contents = {
            "header": json.dumps(_header(function)).encode(),
            "function": _pickled_function(function),
            "items": _with_offsets([_pickled(one, f"the arguments of call {i}") for i, one in enumerate(arguments)]),
        }
        # The name is known before the folder exists, so an interrupt at any moment leaves nothing.
        self.folder = os.path.join(_private_folder(_state_folder()), f"calls-{self._key}")

    def write(self) -> None:
        """Makes the folder with the pickles, which `remove` removes."""
        os.mkdir(self.folder, 0o700)
        for name, content in self._contents.items():
            _write_private(os.path.join(self.folder, name), content)
        self._contents.clear()

    def submit(self, at_once: Optional[int], options: Mapping[str, Any]) -> List[Job]:
        """Submits all calls as an array. Whatever it raises: `remove` is to be called afterwards."""
        _refuse_options(options)
        self.write()
        place, name = os.path.split(os.path.abspath(__file__))
        # The environment of a job has a Python of its own, which must read what this one has pickled.
        own = any(options.get(name) for name in ("venv", "conda", "image"))
        spec = _spec(["python3" if own else sys.executable, "-c", _BEGIN, place, os.path.splitext(name)[0], self.folder], **options)
        if at_once is not None and at_once < 1:
            raise ValueError(f"Cannot run {at_once} jobs at once: expected a number from 1 on")
        spec["array"] = f"0-{self.count - 1}" + ("" if at_once is None else f"%{at_once}")
        self._spec = spec
        self._send()
        return [Job(number) for number in self.jobs]

    def _send(self) -> None:
        assert self._spec is not None
        numbers = _submit(self._spec, self._key)
        self.jobs = {number: index for index, number in enumerate(numbers)}

    def result(self, job: Job) -> Any:
        """What the call of a job that has ended returned. Raises what it raised, or JobFailed."""
        info = job.info()
        if info["state"] == "done" or (info["state"] == "failed" and info.get("code") == 1):
            name = f"result-{self.jobs[job.number]}-{info['attempt']}"
            content = _read_private(os.path.join(self.folder, name))
            if content is not None:
                kind, value, text = pickle.loads(content)
                return pickle.loads(value) if kind == "returned" else _raise(pickle.loads(value), text)
        note = "" if info["state"] != "done" else "; it ended before its function returned"
        raise JobFailed(job.number, str(info["state"]), job.why() + note)

    def cancel(self) -> None:
        """Ends all jobs, also those whose numbers have not arrived, and waits for their ends."""
        if self._spec is None:
            return
        if not self.jobs:
            # The request may have reached the scheduler. With the same key it returns the same jobs.
            self._send()
        pending = [Job(number) for number in _cancel(self.jobs)]
        wait(pending, timeout=60)

    def remove(self) -> None:
        """Removes the folder. A job that is still ending may add a file at the same time."""
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.lexists(self.folder):
                return
            clock.sleep(0.05)


def _raise(error: BaseException, text: str) -> NoReturn:
    raise error from RemoteTraceback(text)


def _refuse_options(options: Mapping[str, Any]) -> None:
    for name in ("array", "command"):
        if name in options:
            raise TypeError(f"Cannot use the option {name} for functions: the call itself decides it")


def _pickled_function(function: Callable[..., Any]) -> bytes:
    if not callable(function):
        raise TypeError(f"Cannot run {function!r} as a job: expected a function")
    inner = _inner(function)
    name = getattr(inner, "__qualname__", repr(inner))
    if getattr(inner, "__module__", None) == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        raise TypeError(
            f"Cannot send {name} to a job: it is defined in an interactive session, which a job cannot import;"
            f" put it into a file and import it"
        )
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"Cannot send {name} to a job: {error}; expected a function that a job can import by its name,"
            f" so no lambda and no function inside a function"
        ) from error


def _pickled(value: object, what: str) -> bytes:
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"Cannot send {what} to a job: {error}; expected values that pickle can write") from error


def _with_offsets(items: Sequence[bytes]) -> bytes:
    """A table of count + 1 offsets of 8 bytes, and then the items, so that a job reads only its own."""
    offset = 8 * (len(items) + 1)
    offsets = [offset]
    for item in items:
        offset += len(item)
        offsets.append(offset)
    return struct.pack(f"<{len(offsets)}Q", *offsets) + b"".join(items)


def _header(function: Callable[..., Any]) -> Info:
    """How a job finds the same modules as this program."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    path = getattr(main, "__file__", None)
    return {
        "module": __name__,
        "argv": sys.argv,
        "path": [os.path.abspath(part) for part in sys.path if isinstance(part, str)],
        "main": {"module": spec.name} if spec is not None else {"file": os.path.abspath(path)} if path else None,
        "name": _name_of(function),
    }


def _state_folder() -> str:
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(os.path.abspath(home), "tutti-python")


def _private_folder(path: str) -> str:
    """Makes a folder that only this user can open, or checks the one that is there.

    Unpickling runs whatever a pickle says, so nobody else may be able to put one there. Raises
    PermissionError.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    real = os.path.realpath(path)
    _require_private(os.lstat(path), path, 0o077)
    above = os.path.dirname(real)
    while True:
        found = os.lstat(above)
        if found.st_uid not in (0, os.getuid()):
            raise PermissionError(f'Cannot keep pickles below "{above}": it belongs to user {found.st_uid}')
        if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(
                f'Cannot keep pickles below "{above}": others may write to it; set XDG_STATE_HOME to a folder of your own'
            )
        if above == os.path.dirname(above):
            return real
        above = os.path.dirname(above)


def _require_private(found: os.stat_result, path: str, forbidden: int) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise PermissionError(f'Cannot trust "{path}": it is a link')
    if found.st_uid != os.getuid():
        raise PermissionError(f'Cannot trust "{path}": it belongs to user {found.st_uid}, expected user {os.getuid()}')
    if found.st_mode & forbidden:
        mode = stat.S_IMODE(found.st_mode)
        raise PermissionError(f'Cannot trust "{path}": its mode is {mode:o}, expected no rights for others')


def _open_private(path: str) -> io.BufferedReader:
    """A file of a private folder. Raises PermissionError if the folder or the file is not private."""
    folder = os.path.dirname(path)
    _require_private(os.lstat(folder), folder, 0o077)
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK))
    except OSError as error:
        if os.path.islink(path):
            raise PermissionError(f'Cannot trust "{path}": it is a link') from error
        raise
    try:
        found = os.fstat(file.fileno())
        _require_private(found, path, 0o022)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError(f'Cannot trust "{path}": it is not a file')
    except BaseException:
        file.close()
        raise
    return file


def _write_private(path: str, content: bytes) -> None:
    """Makes a file that only this user can read. Raises FileExistsError if there is one."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)


def _read_private(path: str) -> Optional[bytes]:
    try:
        with _open_private(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


# In the job


# Python runs it with -c, because it compiles a file that it runs each time. It replaces the current
# folder on the path before anything is imported.
_BEGIN = "import sys; sys.path[0] = sys.argv[1]; sys.exit(__import__(sys.argv[2])._begin(sys.argv[3]))"


def _begin(folder: str) -> Any:
    """Imports this module again under the name that the program used, so that both see the same classes."""
    with _open_private(os.path.join(folder, "header")) as file:
        header = json.load(file)
    sys.path[:] = header["path"]
    sys.argv[:] = header["argv"]
    return importlib.import_module(header["module"])._work(folder, header)


def _work(folder: str, header: Info) -> int:
    """Carries out one call, and returns the exit code of the job."""
    index = int(os.environ["TUTTI_ARRAY_INDEX"])
    path = os.path.join(folder, f"result-{index}-{os.environ['TUTTI_ATTEMPT']}")
    try:
        function, arguments = _call(folder, index, header["main"])
        value = function(*arguments)
        content = _pickled_result(value, header["name"])
        kind, text, code = "returned", "", 0
    except Exception as error:
        text = traceback.format_exc()
        print(text, end="", file=sys.stderr, flush=True)
        kind, content, code = "raised", _pickled_error(error), 1
    try:
        _write_private(f"{path}.new", pickle.dumps((kind, content, text)))
        os.rename(f"{path}.new", path)
    except FileNotFoundError:
        pass  # The program that waits for the result has left.
    return code


def _call(folder: str, index: int, main: Optional[Mapping[str, str]]) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    function = _read_private(os.path.join(folder, "function"))
    with _open_private(os.path.join(folder, "items")) as file:
        file.seek(8 * index)
        begin, end = struct.unpack("<2Q", file.read(16))
        file.seek(begin)
        item = file.read(end - begin)
    if function is None:
        raise FileNotFoundError(f'There is no file "{folder}/function"')
    # Also if only data contain this word: then the import is not needed, but harmless.
    if main is not None and any(b"__main__" in part or b"__mp_main__" in part for part in (function, item)):
        _import_main(main)
    return pickle.loads(function), pickle.loads(item)


def _import_main(main: Mapping[str, str]) -> None:
    """Makes what the script of the program defines available as the module __main__."""
    global _importing
    module = type(sys)("__mp_main__")
    _importing = True
    try:
        if "module" in main:
            content = runpy.run_module(main["module"], run_name="__mp_main__", alter_sys=True)
        else:
            content = runpy.run_path(main["file"], run_name="__mp_main__")
    finally:
        _importing = False
    module.__dict__.update(content)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module


def _pickled_result(value: object, name: str) -> bytes:
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"Cannot return the result of {name}: {error}; expected a value that pickle can write") from error


def _pickled_error(error: Exception) -> bytes:
    """Errors with constructors of their own cannot always be read back."""
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
        return content
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


# map and Executor


def map(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    chunksize: int = 1,
    at_once: Optional[int] = None,
    return_exceptions: bool = False,
    **options: Any,
) -> List[R]:
    """Calls a function for each item, each call in a job of its own, and returns the results in order.

    The function must be one that a job can import by its name: at the top level of a module, or of
    the script that you run. In a script, put everything that the program does below the line
    `if __name__ == "__main__":`, because each job imports the script.

    chunksize: items per job, from 1 on; use more if a call takes less than a second. At most 10,000
        jobs.
    at_once: how many of the jobs may run at the same time. Default: as many as there are CPUs for.
    return_exceptions: True: an error takes the place of its result. False: the first error is
        raised, and the other jobs are cancelled.
    options: those of `submit`, except array, for each of the jobs: tasks, threads, time, memory, …

    Raises what the function raised, with the traceback of the job as its cause; JobFailed if a job
    is killed, is cancelled or reaches a limit; TypeError if the function, an item or a result
    cannot be pickled. If anything interrupts it, such as Ctrl-C, all jobs are cancelled and all
    files are removed. A restart of the scheduler does not disturb it.
    """
    if chunksize < 1:
        raise ValueError(f"Cannot run {chunksize} items in a job: expected a number from 1 on")
    all_items = list(items)
    chunks = [all_items[i : i + chunksize] for i in range(0, len(all_items), chunksize)]
    if not chunks:
        _pickled_function(function)
        return []
    calls = _Calls(functools.partial(_run_chunk, function, return_exceptions), [(chunk,) for chunk in chunks])
    options.setdefault("name", _name_of(function))
    results: List[List[Any]] = [[] for _ in chunks]
    try:
        for job in as_completed(calls.submit(at_once, options)):
            index = calls.jobs[job.number]
            try:
                results[index] = [_failure(value) for value in calls.result(job)]
            except Exception as error:
                if not return_exceptions:
                    raise
                results[index] = [error] * len(chunks[index])
    except BaseException:
        try:
            calls.cancel()
        except TuttiError as error:
            log.warning("the jobs of map could not be cancelled: %s", error)
        raise
    finally:
        calls.remove()
    return [value for chunk in results for value in chunk]


class _Raised:
    """An error of one item of a chunk, with its traceback."""

    def __init__(self, content: bytes, text: str) -> None:
        self.content = content
        self.text = text


def _failure(value: Any) -> Any:
    if not isinstance(value, _Raised):
        return value
    error = pickle.loads(value.content)
    error.__cause__ = RemoteTraceback(value.text)
    return error


def _run_chunk(function: Callable[[Any], Any], keep_errors: bool, items: Sequence[Any]) -> List[Any]:
    results: List[Any] = []
    for item in items:
        try:
            results.append(function(item))
        except Exception as error:
            if not keep_errors:
                raise
            results.append(_Raised(_pickled_error(error), traceback.format_exc()))
    return results


def _name_of(function: Callable[..., Any]) -> str:
    inner = _inner(function)
    return str(getattr(inner, "__name__", type(inner).__name__))[:256]


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that the user gave."""
    while isinstance(function, functools.partial):
        ours = function.func in (_run_chunk, _run_tuples)
        function = function.args[0] if ours else function.func
    return function


class JobFuture(concurrent.futures.Future):  # type: ignore[type-arg]
    """The future of a call. `job` is its job, to look at its state or its output."""

    job: Job

    def running(self) -> bool:
        """Whether the job has started and has not ended."""
        return not self.done() and self.job.state in ("starting", "running", "paused", "ending")

    def cancel(self) -> bool:
        """Cancels the job if it has not started. To end it in any case, use `job.cancel()`."""
        if self.cancelled():
            return True
        if self.done():
            return False
        try:
            # Unlike a job that waits, a held job cannot start before it is cancelled.
            _scheduler.ask("POST", f"/v1/jobs/{self.job.number}/hold")
        except Refused:
            if self.job.state != "held":
                return False
        self.job.cancel()
        return super().cancel()


class Executor(concurrent.futures.Executor):
    """Runs each call as a job: an executor for programs that use concurrent.futures.

    options: those of `submit`, except array, for each of the jobs.

    At the end of a with block it waits for the calls. If Ctrl-C or a SystemExit ends the block, it
    cancels them. `submit` and `map` raise as the function `map` of this module does.
    """

    def __init__(self, **options: Any) -> None:
        _refuse_options(options)
        _spec(["true"], **options)
        self._options = options
        self._lock = threading.Lock()
        self._pending: Dict[Job, Tuple[JobFuture, _Calls]] = {}
        self._open: Dict[int, int] = {}
        self._watcher: Optional[threading.Thread] = None
        self._is_shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> JobFuture:
        """Calls fn(*args, **kwargs) in a job."""
        return self._start(functools.partial(fn, **kwargs) if kwargs else fn, [args])[0]

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Like the function map of Python. All calls are jobs of one array; chunksize is as in `map`."""
        until = _deadline(timeout)
        if chunksize < 1:
            raise ValueError(f"Cannot run {chunksize} items in a job: expected a number from 1 on")
        arguments = list(zip(*iterables))
        chunks = [(arguments[i : i + chunksize],) for i in range(0, len(arguments), chunksize)]
        futures = self._start(functools.partial(_run_tuples, fn), chunks) if chunks else []

        def results() -> Iterator[Any]:
            try:
                for future in futures:
                    yield from future.result(None if until is None else max(0.0, until - clock.monotonic()))
            finally:
                for future in futures:
                    if not future.done():
                        future.cancel()

        return results()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accepts no more calls. Waits for those that were accepted, or cancels those that wait."""
        with self._lock:
            self._is_shut = True
            pending = list(self._pending.values())
            watcher = self._watcher
        if cancel_futures:
            for future, _ in pending:
                future.cancel()
        if wait and watcher is not None:
            watcher.join()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Optional[bool]:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            with self._lock:
                numbers = [job.number for job in self._pending]
            _cancel(numbers)
        self.shutdown(wait=True)
        return None

    def _start(self, fn: Callable[..., Any], arguments: Sequence[Tuple[Any, ...]]) -> List[JobFuture]:
        if self._is_shut:
            raise RuntimeError("Cannot start a call after shutdown")
        calls = _Calls(fn, arguments)
        try:
            jobs = calls.submit(None, {"name": _name_of(fn), **self._options})
        except BaseException:
            try:
                calls.cancel()
            except TuttiError:
                pass  # The first error says more.
            calls.remove()
            raise
        futures: List[JobFuture] = []
        with self._lock:
            self._open[id(calls)] = len(jobs)
            for job in jobs:
                future = JobFuture()
                future.job = job
                futures.append(future)
                self._pending[job] = (future, calls)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="tutti")
                self._watcher.start()
        return futures

    def _watch(self) -> None:
        """Ends when there is nothing to wait for, so that it does not keep the program from ending."""
        while True:
            with self._lock:
                jobs = list(self._pending)
                if not jobs:
                    self._watcher = None
                    return
            try:
                # Not longer than a second, so that calls that are added meanwhile are waited for, too.
                for job in _as_ended(jobs, clock.monotonic() + 1.0):
                    self._settle(job, None)
            except TimeoutError:
                continue
            except Exception as error:
                for job in jobs:
                    self._settle(job, error)

    def _settle(self, job: Job, error: Optional[Exception]) -> None:
        with self._lock:
            future, calls = self._pending[job] if job in self._pending else (None, None)
        if future is None or calls is None:
            return
        value: Any = None
        if error is None and not future.cancelled():
            try:
                value = calls.result(job)
            except Exception as raised:
                error = raised
        if future.set_running_or_notify_cancel():
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        with self._lock:
            del self._pending[job]
            self._open[id(calls)] -= 1
            is_last = self._open[id(calls)] == 0
            if is_last:
                del self._open[id(calls)]
        if is_last:
            calls.remove()


def _run_tuples(function: Callable[..., Any], chunk: Sequence[Tuple[Any, ...]]) -> List[Any]:
    return [function(*arguments) for arguments in chunk]


# The laboratory

# A column: a numpy array if numpy is installed and the column is of numbers, else a list.
Column = Any


class Result:
    """What one policy did with the jobs of a trace.

    columns: one entry for each job, in the order of submission. Times are in seconds of the trace:
        job, submit_s, wait_s, start_s, run_s, end_s, processors, estimate_s, user, group, queue.
        Under time sharing, run_s is the time from the first start to the end. -1 is unknown.
    summary: the document of `tutti simulate --json`, with the rules in words and all hashes.
    metrics: its numbers by metric, such as metrics["wait"]["mean"].
    """

    def __init__(self, columns: Dict[str, Column], summary: Info) -> None:
        self.columns = columns
        self.summary = summary
        metrics = summary["policies"][0]["summary"]["metrics"]
        self.metrics: Dict[str, Dict[str, Any]] = {metric["name"]: metric["all"] for metric in metrics}

    def __getitem__(self, column: str) -> Column:
        return self.columns[column]


class Comparison:
    """What several policies did with the same jobs: a row for each policy, seed, metric and class.

    columns: those of `tutti compare --csv`: policy, seed, metric, unit, class, jobs, mean, sd,
        median, p90, p95, p99, max, max_job, area_weighted_mean, … A number that is not known is nan.
    """

    def __init__(self, columns: Dict[str, Column]) -> None:
        self.columns = columns

    def __getitem__(self, column: str) -> Column:
        return self.columns[column]

    def __repr__(self) -> str:
        """A table: the mean of each metric under each policy, over all seeds."""
        rows = self.rows()
        policies = list(dict.fromkeys(row["policy"] for row in rows))
        metrics = list(dict.fromkeys((row["metric"], row["unit"]) for row in rows))
        table = [["policy", *(f"{metric} ({unit})" if unit else metric for metric, unit in metrics)]]
        for policy in policies:
            means = (
                [row["mean"] for row in rows if (row["policy"], row["metric"]) == (policy, metric)]
                for metric, _ in metrics
            )
            table.append([policy, *(f"{sum(some) / len(some):.4g}" if some else "-" for some in means)])
        widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
        lines = (
            "  ".join(text.rjust(width) if i else text.ljust(width) for i, (text, width) in enumerate(zip(line, widths)))
            for line in table
        )
        return "\n".join(line.rstrip() for line in lines)

    def rows(self, **where: Any) -> List[Dict[str, Any]]:
        """The rows with these values, such as rows(metric="wait", policy="easy").

        Only rows about all jobs, unless you ask for a class such as `**{"class": "short-wide"}`.
        """
        wanted = {"class": "all", **where}
        for name in wanted:
            if name not in self.columns:
                raise KeyError(f"There is no column {name!r}: expected one of {', '.join(self.columns)}")
        count = len(self.columns["policy"])
        # Without numpy's own types of numbers.
        lists = {name: column if isinstance(column, list) else column.tolist() for name, column in self.columns.items()}
        rows = ({name: values[i] for name, values in lists.items()} for i in range(count))
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def plot(self, path: Optional[Path] = None, metric: str = "wait") -> Any:
        """Draws the mean of a metric under each policy, and a dot for each seed if there are several.

        Saves the picture if there is a path, such as "waits.png" or "waits.svg", and returns the figure of
        matplotlib, which must be installed.
        """
        rows = self.rows(metric=metric)
        if not rows:
            metrics = ", ".join(dict.fromkeys(self.columns["metric"]))
            raise KeyError(f"There is no metric {metric!r}: expected one of {metrics}")
        try:
            figure = importlib.import_module("matplotlib.figure").Figure
        except ImportError:
            # Not "tutti[plot]": on PyPI, that name is another project's.
            why = "Cannot draw without matplotlib: pip install matplotlib, or on Debian apt install python3-matplotlib"
            raise TuttiError(why) from None
        values: Dict[str, List[float]] = {}
        for row in rows:
            values.setdefault(row["policy"], []).append(row["mean"])
        drawn = figure(figsize=(7, 1 + 0.5 * len(values)), constrained_layout=True)
        axes = drawn.subplots()
        for place, (policy, means) in enumerate(values.items()):
            mean = sum(means) / len(means)
            axes.barh([place], [mean], color="#9ecae1")
            axes.annotate(f" {mean:.4g}", (max(mean, max(means)), place), va="center")
            if len(means) > 1:
                axes.plot(means, [place] * len(means), ".", color="#08519c")
        axes.set(yticks=range(len(values)), yticklabels=list(values), xlabel=f"mean {metric} ({rows[0]['unit']})")
        axes.margins(x=0.12)
        axes.invert_yaxis()
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        if path is not None:
            drawn.savefig(os.fspath(path), dpi=150)
        return drawn


def simulate(source: Path, policy: str = "easy", **options: Any) -> Result:
    """Runs one policy on a trace or a model: `tutti simulate SOURCE --policy POLICY`.

    source: a file, or a model such as "downey:jobs=1000:load=0.7".
    policy: such as "easy:order=shortest", or a file with a policy of your own.
    options: those of `tutti simulate --help` by their long names: processors=128, first=2000,
        load=0.9, seed=7, overrun="kill", missing_estimate="1h", slot="5m", warmup=0.1, audit=True, …

    Runs the command line, which must be on the PATH (or next to this file, in the package). Raises
    TuttiError with what it wrote if it fails.
    """
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        schedule = os.path.join(folder, "schedule.swf")
        given = {**options, "policy": policy, "swf": schedule}
        summary = json.loads(_run("simulate", source, given, "--json"))
        with open(schedule, encoding="utf-8", errors="replace") as file:
            columns = _schedule_columns(file)
    return Result(columns, summary)


def compare(source: Path, policies: Union[str, Sequence[str]], **options: Any) -> Comparison:
    """Runs several policies on the same jobs: `tutti compare SOURCE --policy A,B`.

    options: those of `tutti compare --help` by their long names, such as replications=10 or workers=4;
    otherwise as `simulate`.
    """
    names = policies if isinstance(policies, str) else ",".join(policies)
    text = _run("compare", source, {**options, "policy": names}, "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    return Comparison({name: _column([row[name] for row in rows]) for name in rows[0]})


def _run(verb: str, source: Path, options: Mapping[str, Any], output: str) -> str:
    words = [*_program(), verb, output, "--no-progress"]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if name in ("json", "csv", "html", "explain", "no_progress"):
            raise TypeError(f"Cannot use the option {name} here: the result is read by this program")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            # In one word, so that a value that begins with - is not read as an option.
            words.append(f"{option}={value}")
    done = subprocess.run(
        [*words, "--", os.fspath(source)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise TuttiError(done.stderr.strip() or f"tutti {verb} ended with {done.returncode}")
    return done.stdout


def _program() -> List[str]:
    """The command line: on the PATH, in the package that this file is part of, or next to this Python."""
    package = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "tutti.js")
    on_path = shutil.which("tutti")
    if on_path is not None:
        return [on_path]
    # The wheel's, in a virtual environment that is not activated.
    for program in (package, os.path.join(sysconfig.get_path("scripts"), "tutti")):
        if os.access(program, os.X_OK):
            return [program]
    raise TuttiError("Cannot run tutti: it is not on the PATH; install it, and add its folder to PATH")


# Fields of a line in Standard Workload Format, counted from 0.
_FIELDS = {"job": 0, "submit_s": 1, "wait_s": 2, "run_s": 3, "processors": 4, "estimate_s": 8}
_MORE_FIELDS = {"user": 11, "group": 12, "queue": 14}


def _schedule_columns(lines: Iterable[str]) -> Dict[str, Column]:
    rows = [line.split() for line in lines if line.strip() and not line.startswith(";")]
    columns: Dict[str, List[Any]] = {}
    for name, field in {**_FIELDS, **_MORE_FIELDS}.items():
        number: Callable[[str], Any] = float if name.endswith("_s") else int
        columns[name] = [number(row[field]) for row in rows]
    columns["start_s"] = [s + w for s, w in zip(columns["submit_s"], columns["wait_s"])]
    columns["end_s"] = [s + r for s, r in zip(columns["start_s"], columns["run_s"])]
    return {name: _numbers(values) for name, values in columns.items()}


def _column(texts: List[str]) -> Column:
    """Numbers if all texts are numbers or empty, else the texts."""
    for number in (int, float):
        try:
            return _numbers([number(text) if text or number is int else float("nan") for text in texts])
        except ValueError:
            continue
    return texts


def _numbers(values: List[Any]) -> Column:
    try:
        return importlib.import_module("numpy").array(values)
    except ImportError:
        return values

