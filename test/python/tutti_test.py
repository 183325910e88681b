"""Tests python/tutti.py with a real scheduler, whose socket is TUTTI_SOCKET.

test/live-python.test.ts runs this file. TUTTI_TEST_FOLDER is an empty folder for files.
"""

import concurrent.futures
import importlib.util
import json
import os
import pickle
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import tutti  # noqa: E402

FOLDER = os.environ["TUTTI_TEST_FOLDER"]
STATE = os.path.join(os.environ["XDG_STATE_HOME"], "tutti-python")
HERE = os.path.dirname(os.path.abspath(tutti.__file__))


class Point:
    """A class of the script, so that jobs and tests must agree about it."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is Point and other.x == self.x


def prefix(_):
    return os.path.realpath(sys.prefix)


class Strange(Exception):
    """Cannot be unpickled: its constructor needs two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def square(x):
    return x * x


def doubled(point):
    return Point(point.x * 2)


def odd_only(x):
    if x % 2 == 0:
        raise KeyError(x)
    return x


def strange(_):
    raise Strange(1, 2)


def unpicklable(_):
    return threading.Lock()


def leave(code):
    sys.exit(code)


def vanish(_):
    os._exit(0)


def kill(_):
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds):
    time.sleep(seconds)


def power(base, exponent, *, add=0):
    return base**exponent + add


def environment(name):
    return os.environ[name], os.getcwd()


def script(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(f"import sys\nsys.path.insert(0, {HERE!r})\nimport tutti\n" + textwrap.dedent(text))
    return path


def python(*words, **options):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, **options)


def until(condition):
    while not condition():
        time.sleep(0.02)


class Jobs(unittest.TestCase):
    def test_a_job_has_state_exit_code_and_output(self):
        job = tutti.submit(["sh", "-c", "echo out; echo err >&2; exit 3"], time="1m", memory="64M")
        self.assertEqual(job.wait(), "failed")
        self.assertEqual((job.state, job.exit_code), ("failed", 3))
        self.assertEqual((job.output(), job.output("stderr")), ("out\n", "err\n"))
        self.assertRegex(job.why(), rf"^job {job.number} \(sh\) failed with exit code 3 after .* s\.$")
        self.assertEqual(job.info()["limitMs"], 60_000)
        self.assertEqual(job.info()["memoryBytes"], 64 * 1024 * 1024)
        self.assertEqual(pickle.loads(pickle.dumps(job)), job)

    def test_hostile_text_stays_text(self):
        word = "a\nb\x1b[2J$(touch x) {}é"
        job = tutti.submit(["printf", "%s|%s", word, ""], name=word, env={"PATH": os.environ["PATH"]})
        self.assertEqual(job.wait(), "done")
        self.assertEqual(job.output(), f"{word}|")
        self.assertEqual(job.info()["name"], word)
        self.assertNotIn("\n", job.why())
        self.assertNotIn("\x1b", job.why())

    def test_output_may_go_to_a_file_of_the_user(self):
        job = tutti.submit(["sh", "-c", "pwd; echo err >&2"], cwd=FOLDER, output="out-%j")
        self.assertEqual(job.wait(), "done")
        self.assertEqual(job.output(), f"{os.path.realpath(FOLDER)}\nerr\n")
        self.assertTrue(os.path.exists(os.path.join(FOLDER, f"out-{job}")))

    def test_hooks_run_at_their_events(self):
        log = os.path.join(FOLDER, "hooks.log")
        commands = {f"on_{event}": f"echo {event} $TUTTI_JOB >> {log}" for event in ("start", "end", "fail")}
        job = tutti.submit(["false"], **commands)
        expected = sorted(f"{event} {job}" for event in ("start", "end", "fail"))
        lines = []
        deadline = time.monotonic() + 60
        while len(lines) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    lines = file.read().splitlines()
        self.assertEqual(sorted(lines), expected)
        with self.assertRaisesRegex(tutti.Refused, "mail"):
            tutti.submit(["true"], mail="-oQ/tmp", notify="end,fail")
        with self.assertRaisesRegex(tutti.Refused, "notify"):
            tutti.submit(["true"], mail="ada", notify=["never"])

    def test_after_array_why_and_cancel(self):
        first = tutti.submit(["sleep", "1000"])
        array = tutti.submit(["sh", "-c", "echo $TUTTI_ARRAY_INDEX"], array="3-5", after=first)
        last = tutti.submit(["true"], after=[f"any:{first}", array[0].number])
        self.assertEqual(array[0].why().split(". ")[-1], f"It starts after job {first}.")
        done, not_done = tutti.wait([first, *array], timeout=0.1)
        self.assertEqual((done, not_done), (set(), {first, *array}))
        with self.assertRaises(TimeoutError):
            first.wait(timeout=0)
        first.cancel()
        self.assertEqual(first.wait(), "cancelled")
        self.assertIsNone(first.exit_code)
        first.cancel()
        self.assertEqual([job.wait() for job in array], ["cancelled"] * 3)
        self.assertEqual(last.wait(), "cancelled")

    def test_as_completed_yields_each_job_once_in_the_order_of_ends(self):
        pipe = os.path.join(FOLDER, "pipe")
        os.mkfifo(pipe)
        late = tutti.submit(["cat", pipe])
        early = tutti.submit(["true"])
        jobs = tutti.as_completed([late, early, early])
        self.assertEqual(next(jobs), early)
        with open(pipe, "w") as file:
            file.write("x")
        self.assertEqual(list(jobs), [late])
        self.assertEqual(late.output(), "x")

    def test_what_cannot_be_meant_is_refused_before_it_is_sent(self):
        for options, words in [
            ({"time": "10"}, "seconds above 0"),
            ({"time": -1}, "seconds above 0"),
            ({"time": float("nan")}, "seconds above 0"),
            ({"memory": "2X"}, "512M"),
            ({"use": "gpu:x"}, "licence:1"),
            ({"after": "soon:3"}, "any:12"),
            ({"env": {"A": "\udcff"}}, "UTF-8"),
        ]:
            with self.assertRaisesRegex(ValueError, words):
                tutti.submit(["true"], **options)
        with self.assertRaisesRegex(TypeError, "expected a list of words"):
            tutti.submit("echo a | cat")
        with self.assertRaises(ValueError):
            tutti.Job(0)

    def test_refusals_of_the_scheduler_have_code_and_message(self):
        with self.assertRaisesRegex(tutti.Refused, "Cannot run 60000 tasks") as caught:
            tutti.submit(["true"], tasks=60_000)
        self.assertEqual(caught.exception.code, "too-large")
        with self.assertRaises(tutti.Refused) as caught:
            tutti.Job(999_999).info()
        self.assertEqual(caught.exception.code, "not-found")
        with self.assertRaises(tutti.Refused) as caught:
            tutti.wait([tutti.Job(999_999)])
        self.assertEqual(caught.exception.code, "not-found")

    def test_lists_of_numbers_are_split_into_requests(self):
        self.assertEqual(list(tutti._parts([9, 4, 5, 3, 7])), ["3-5,7,9"])
        parts = list(tutti._parts(range(0, 20_000, 2), max_length=100))
        self.assertTrue(all(len(part) <= 100 for part in parts))
        self.assertEqual(",".join(parts), ",".join(str(n) for n in range(0, 20_000, 2)))


class Map(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(os.listdir(STATE) if os.path.exists(STATE) else [], [])

    def test_results_are_in_order_and_of_classes_of_the_script(self):
        self.assertEqual(tutti.map(square, range(6)), [0, 1, 4, 9, 16, 25])
        self.assertEqual(tutti.map(doubled, iter([Point(1), Point(2)])), [Point(2), Point(4)])
        self.assertEqual(tutti.map(square, []), [])

    def test_a_thousand_items(self):
        count = 1000
        jobs = count if os.environ.get("TUTTI_SOAK") else 5
        self.assertEqual(tutti.map(square, range(count), chunksize=count // jobs), [x * x for x in range(count)])

    def test_options_are_those_of_submit(self):
        env = {**os.environ, "COLOUR": "a\nb"}
        results = tutti.map(environment, ["COLOUR", "TUTTI_JOB_NAME"], env=env, cwd=FOLDER, name="x\ny", at_once=1)
        self.assertEqual(results, [("a\nb", os.path.realpath(FOLDER)), ("x\ny", os.path.realpath(FOLDER))])
        with self.assertRaises(TypeError):
            tutti.map(square, [1], array="1-2")

    def test_functions_run_in_the_environment_of_the_job(self):
        place = os.path.join(FOLDER, "env")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        self.assertEqual(tutti.map(prefix, [0], venv=place), [os.path.realpath(place)])

    def test_an_error_is_raised_with_the_traceback_of_the_job(self):
        with self.assertRaises(KeyError) as caught:
            tutti.map(odd_only, [1, 2, 3])
        self.assertEqual(caught.exception.args, (2,))
        self.assertIn("in odd_only", str(caught.exception.__cause__))
        first, *others = tutti.map(odd_only, [1, 2, 3, 4, 5], return_exceptions=True, chunksize=2)
        self.assertEqual((first, others[1], others[3]), (1, 3, 5))
        self.assertEqual([repr(others[0]), repr(others[2])], ["KeyError(2)", "KeyError(4)"])
        self.assertIn("in odd_only", str(others[0].__cause__))

    def test_errors_and_results_that_pickle_cannot_carry(self):
        with self.assertRaisesRegex(RuntimeError, "^Strange: 1 and 2$"):
            tutti.map(strange, [0])
        with self.assertRaisesRegex(TypeError, "Cannot return the result of unpicklable: "):
            tutti.map(unpicklable, [0])
        with self.assertRaisesRegex(TypeError, "Cannot send .*<lambda> to a job: .*no lambda"):
            tutti.map(lambda x: x, [0])
        with self.assertRaisesRegex(TypeError, "Cannot send the arguments of call 1 to a job"):
            tutti.map(square, [1, threading.Lock()])
        with self.assertRaisesRegex(ValueError, "10,001 jobs: expected at most 10,000"):
            tutti.map(square, range(10_001))

    def test_a_job_that_ends_otherwise_says_why(self):
        for function, item, state, words, options in [
            (kill, 0, "failed", r"\(kill\[0\]\) was ended by SIGKILL", {}),
            (leave, 7, "failed", "failed with exit code 7", {}),
            (vanish, 0, "done", "ended before its function returned", {}),
            (sleep, 1000, "failed", "time limit", {"time": 0.3}),
        ]:
            with self.assertRaisesRegex(tutti.JobFailed, words) as caught:
                tutti.map(function, [item], **options)
            self.assertEqual(caught.exception.state, state)
            self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))

    def test_a_failure_cancels_the_other_jobs(self):
        with self.assertRaises(tutti.JobFailed):
            tutti.map(leave_or_sleep, [0, 1000, 1000])
        self.assertEqual(active("leave_or_sleep"), [])

    def test_ctrl_c_cancels_the_jobs_and_leaves_no_files(self):
        for begin, way in [("running", "map"), ("at once", "map"), ("running", "Executor")]:
            path = script(
                "endless.py",
                """
                import signal, time
                def endless(x): time.sleep(1000)
                if __name__ == "__main__":
                    # Also if the tests run in the background of a shell, which ignores the signal.
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    print("begins", flush=True)
                    if sys.argv[1] == "map":
                        tutti.map(endless, range(40))
                    with tutti.Executor() as executor:
                        executor.submit(endless, 1).result()
                """,
            )
            child = subprocess.Popen([sys.executable, path, way], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.readline()
            if begin == "running":
                until(lambda: any(job["state"] == "running" for job in active("endless")))
            child.send_signal(signal.SIGINT)
            _, stderr = child.communicate()
            self.assertIn(b"KeyboardInterrupt", stderr)
            self.assertEqual(active("endless"), [])
            self.assertEqual(os.listdir(STATE), [])

    def test_a_script_without_the_guard_does_not_start_jobs_without_end(self):
        done = python(script("bare.py", "def f(x): return x\nprint(tutti.map(f, [1, 2]))\n"))
        self.assertRegex(done.stderr, "RuntimeError: Cannot use the scheduler while a job imports this script")
        self.assertEqual(active("f"), [])

    def test_modules_and_interactive_sessions(self):
        os.makedirs(os.path.join(FOLDER, "package"), exist_ok=True)
        script(
            "package/part.py",
            """
            from .other import one
            def plus(x): return x + one
            if __name__ == "__main__": print(tutti.map(plus, [1, 2]))
            """,
        )
        script("package/other.py", "one = 1\n")
        self.assertEqual(python("-m", "package.part", cwd=FOLDER).stdout, "[2, 3]\n")
        code = f"import sys; sys.path.insert(0, {HERE!r}); import tutti\ndef f(x): return x\ntutti.map(f, [1])"
        self.assertIn("Cannot send f to a job: it is defined in an interactive session", python("-c", code).stderr)
        done = python("-c", code.replace("map(f, [1])", "map(len, ['abc'])").replace("tutti.map", "print(tutti.map") + ")")
        self.assertEqual(done.stdout, "[3]\n")


def leave_or_sleep(seconds):
    if seconds == 0:
        sys.exit(1)
    time.sleep(seconds)


def active(name):
    states = "queued,held,starting,running,paused,ending"
    return tutti._scheduler.ask("GET", f"/v1/jobs?after=0&name={name}&states={states}")["jobs"]


class Executors(unittest.TestCase):
    def test_is_an_executor_of_concurrent_futures(self):
        with tutti.Executor(tasks=1) as executor:
            self.assertIsInstance(executor, concurrent.futures.Executor)
            one = executor.submit(power, 2, 5, add=1)
            two = executor.submit(odd_only, 2)
            self.assertEqual(concurrent.futures.wait([one, two], timeout=60).not_done, set())
            self.assertEqual(one.result(), 33)
            self.assertEqual(repr(two.exception()), "KeyError(2)")
            self.assertEqual(list(executor.map(power, [1, 2, 3], [3, 2, 1], chunksize=2)), [1, 4, 3])
            self.assertEqual(list(executor.map(power, [], [])), [])
            self.assertEqual(one.job.state, "done")
        with self.assertRaisesRegex(RuntimeError, "after shutdown"):
            executor.submit(square, 1)
        self.assertEqual(os.listdir(STATE), [])

    def test_cancel_ends_calls_that_wait_and_no_others(self):
        executor = tutti.Executor(tasks=2)
        futures = [executor.submit(sleep, 1000) for _ in range(12)]
        try:
            until(lambda: futures[0].running())
            self.assertFalse(futures[0].cancel())
            last = futures[-1]
            self.assertEqual(last.job.state, "queued")
            self.assertTrue(last.cancel())
            self.assertTrue(last.cancelled())
            self.assertEqual(last.job.wait(), "cancelled")
        finally:
            for future in futures:
                future.job.cancel()
            executor.shutdown()
        self.assertIsInstance(futures[0].exception(), tutti.JobFailed)
        self.assertRegex(str(futures[0].exception()), "was cancelled")
        self.assertEqual(os.listdir(STATE), [])


class Trust(unittest.TestCase):
    def call_folder(self):
        calls = tutti._Calls(square, [(1,)])
        calls.write()
        return calls

    def test_folders_that_others_may_enter_are_refused(self):
        home = os.environ["XDG_STATE_HOME"]
        try:
            os.environ["XDG_STATE_HOME"] = os.path.join(FOLDER, "open")
            os.makedirs(os.path.join(FOLDER, "open", "tutti-python"), mode=0o700)
            os.chmod(os.path.join(FOLDER, "open", "tutti-python"), 0o755)
            with self.assertRaisesRegex(PermissionError, "its mode is 755, expected no rights for others"):
                tutti.map(square, [1])
            os.chmod(os.path.join(FOLDER, "open", "tutti-python"), 0o700)
            os.chmod(os.path.join(FOLDER, "open"), 0o777)
            with self.assertRaisesRegex(PermissionError, "others may write to it"):
                tutti.map(square, [1])
            os.environ["XDG_STATE_HOME"] = os.path.join(FOLDER, "linked")
            os.mkdir(os.path.join(FOLDER, "linked"))
            os.symlink(STATE, os.path.join(FOLDER, "linked", "tutti-python"))
            with self.assertRaisesRegex(PermissionError, "it is a link"):
                tutti.map(square, [1])
        finally:
            os.environ["XDG_STATE_HOME"] = home

    def test_results_that_others_could_have_written_are_not_unpickled(self):
        calls = self.call_folder()
        try:
            path = os.path.join(calls.folder, "result-0-1")
            with open(path, "wb") as file:
                file.write(b"evil")
            os.chmod(path, 0o666)
            with self.assertRaisesRegex(PermissionError, "its mode is 666"):
                tutti._read_private(path)
            os.chmod(path, 0o600)
            self.assertEqual(tutti._read_private(path), b"evil")
            os.rename(path, f"{path}.old")
            os.symlink(f"{path}.old", path)
            with self.assertRaisesRegex(PermissionError, "it is a link"):
                tutti._read_private(path)
            os.remove(path)
            os.mkfifo(path)
            with self.assertRaisesRegex(PermissionError, "it is not a file"):
                tutti._read_private(path)
            os.chmod(calls.folder, 0o770)
            with self.assertRaisesRegex(PermissionError, "its mode is 770"):
                tutti._read_private(f"{path}.old")
            os.chmod(calls.folder, 0o700)
            if os.getuid() == 0:
                os.chown(f"{path}.old", 65_534, 65_534)
                with self.assertRaisesRegex(PermissionError, "belongs to user 65534"):
                    tutti._read_private(f"{path}.old")
        finally:
            calls.remove()

    def test_files_are_for_the_user_alone(self):
        mask = os.umask(0)
        try:
            calls = self.call_folder()
        finally:
            os.umask(mask)
        try:
            self.assertEqual(stat.S_IMODE(os.stat(calls.folder).st_mode), 0o700)
            self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(calls.folder)).st_mode), 0o700)
            modes = {stat.S_IMODE(os.stat(os.path.join(calls.folder, name)).st_mode) for name in os.listdir(calls.folder)}
            self.assertEqual(modes, {0o600})
        finally:
            calls.remove()

    def test_a_socket_that_another_user_could_have_made_is_not_trusted(self):
        run = os.path.join(FOLDER, "run")
        os.mkdir(run)
        os.chmod(run, 0o777)
        with open(os.path.join(run, "tutti.sock"), "w"):
            pass
        code = f"import sys; sys.path.insert(0, {HERE!r}); import tutti; tutti.Job(1).info()"
        env = {**os.environ, "TUTTI_SOCKET": os.path.join(run, "tutti.sock")}
        self.assertIn("NoScheduler: Cannot trust the scheduler", python("-c", code, env=env).stderr)
        os.chmod(run, 0o700)
        self.assertIn("NoScheduler: Cannot reach the scheduler", python("-c", code, env=env).stderr)
        env["TUTTI_SOCKET"] = os.path.join(FOLDER, "none", "tutti.sock")
        self.assertIn("there is no socket", python("-c", code, env=env).stderr)


class Restart(unittest.TestCase):
    def test_waits_for_a_scheduler_that_ends_or_is_full_but_not_after_other_refusals(self):
        """A stand-in for the scheduler answers each request with the next of these refusals."""
        run = os.path.join(FOLDER, "stand-in")
        os.mkdir(run, 0o700)
        codes = ["unavailable", "full", None, "full", "wrong-state"]
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(run, "tutti.sock"))
        listener.listen()

        def serve():
            for code in codes:
                connection, _ = listener.accept()
                with connection:
                    # A request with a body comes in two pieces.
                    request = connection.recv(65_536)
                    if request.startswith(b"POST") and not request.endswith(b"{}"):
                        connection.recv(65_536)
                    status = "503 Service Unavailable" if code else "200 OK"
                    body = json.dumps({"refused": code, "message": "later"} if code else {"fine": 1}).encode()
                    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                    connection.sendall(head.encode() + body)

        thread = threading.Thread(target=serve)
        thread.start()
        before = os.environ["TUTTI_SOCKET"]
        os.environ["TUTTI_SOCKET"] = os.path.join(run, "tutti.sock")
        try:
            scheduler = tutti._Scheduler()
            with self.assertLogs("tutti", "WARNING") as logged:
                self.assertEqual(scheduler.ask("GET", "/v1/status"), {"fine": 1})
            self.assertEqual(len(logged.output), 1)
            for code in ["full", "wrong-state"]:
                with self.assertRaises(tutti.Refused) as caught:
                    scheduler.ask("POST", "/v1/jobs", {})
                self.assertEqual(caught.exception.code, code)
        finally:
            os.environ["TUTTI_SOCKET"] = before
            thread.join()
            listener.close()


class Laboratory(unittest.TestCase):
    def test_simulate_gives_the_schedule_as_columns(self):
        # By hand: on two processors, job 2 waits for the end of job 1 at 10 s, and job 3 passes it
        # under EASY, because it ends by then.
        trace = os.path.join(FOLDER, "-trace.swf")
        lines = ["1 0 -1 10 1 -1 -1 1 10", "2 2 -1 5 2 -1 -1 2 5", "3 3 -1 4 1 -1 -1 1 4"]
        with open(trace, "w") as file:
            file.write("; MaxProcs: 2\n" + "".join(f"{line} -1 1 7 8 -1 9 -1 -1 -1\n" for line in lines))
        result = tutti.simulate(os.path.relpath(trace), policy="easy")
        self.assertEqual(list(result["job"]), [1, 2, 3])
        self.assertEqual(list(result["wait_s"]), [0, 8, 0])
        self.assertEqual(list(result["start_s"]), [0, 10, 3])
        self.assertEqual(list(result["end_s"]), [10, 15, 7])
        self.assertEqual(list(result["processors"]), [1, 2, 1])
        self.assertEqual(list(result["user"]), [7, 7, 7])
        self.assertAlmostEqual(result.metrics["wait"]["mean"], 8 / 3)
        with self.assertRaisesRegex(tutti.TuttiError, "no-such"):
            tutti.simulate(trace, policy="no-such")

    def test_compare_has_a_row_for_each_policy_and_seed(self):
        comparison = tutti.compare("downey:jobs=40", ["fcfs", "easy"], replications=2, workers=1)
        rows = comparison.rows(metric="wait")
        self.assertEqual([(row["policy"], row["seed"]) for row in rows], [("fcfs", 1), ("fcfs", 2), ("easy", 1), ("easy", 2)])
        one = tutti.simulate("downey:jobs=40", policy="easy", seed=2)
        self.assertEqual(rows[3]["mean"], one.metrics["wait"]["mean"])
        self.assertAlmostEqual(rows[3]["mean"], sum(one["wait_s"]) / 40)
        table = [line.split() for line in repr(comparison).splitlines()]
        self.assertEqual([line[0] for line in table], ["policy", "fcfs", "easy"])
        self.assertEqual(table[2][1], f"{(rows[2]['mean'] + rows[3]['mean']) / 2:.4g}")
        with self.assertRaises(KeyError):
            comparison.rows(no_such=1)
        with self.assertRaisesRegex(KeyError, "bounded-slowdown"):
            comparison.plot(metric="no-such")
        picture = os.path.join(FOLDER, "waits.svg")
        if importlib.util.find_spec("matplotlib") is None:
            with self.assertRaisesRegex(tutti.TuttiError, "pip install matplotlib"):
                comparison.plot(picture)
        else:
            comparison.plot(picture)
            with open(picture) as file:
                # Texts are drawn as paths, each after a comment.
                self.assertRegex(file.read(), r"(?s)<!-- mean wait \(s\) -->.*<!-- fcfs -->.*<!-- easy -->")


if __name__ == "__main__":
    unittest.main()
