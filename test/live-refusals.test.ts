/**
 * A refusal changes nothing: every verb is refused while a scheduler runs, and afterwards all files, their
 * owners, modes and contents, and what the scheduler says, are as before.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { OLDER_NAMES, VERBS } from "@tutti/cli/registry.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

type Words = readonly string[];

const AT_ONCE = 4;
const s = new LiveScheduler();
s.isPrivate = process.getuid?.() !== 0;
const file = (name: string) => join(s.folder, name);
const busy = createServer();
/** Jobs: 1 runs, 2 is held, 3 has ended; 9 is none. */
const RUNS = "1";
const HELD = "2";
const ENDED = "3";
const NONE = "9";
/** What changes by itself in the answers: the time, and measurements of the running programs. */
const PASSING = new Set(["nowMs", "ranMs", "lateP99Ms", "residentBytes", "lastTurnMs"]);
/** What programs that run write by themselves: the conductor's turns, and readers' marks in shared memory. */
const WRITTEN_ANYWAY = /-shm$|^state\/conductor\/state\.json$/;
/**
 * What comes and goes by itself: the scheduler has a socket and a token for each user of the machine, and
 * other tests make users; the conductor renames its new state.
 */
const PASSING_FILES = /^run\/(?:[1-9]\d*\.sock|tokens\/[1-9]\d*)$|^state\/conductor\/state\.json\.new$/;

beforeAll(async () => {
  await s.start();
  await s.running(await s.submit("exec sleep 1000"));
  await s.submit("true", { held: true });
  await s.client.ended(await s.submit("true"));
  // It has given its CPU back: its end is complete.
  await vi.waitFor(async () => expect((await s.status()).busyCpus).toBe(1), { timeout: 120_000 });
  for (const name of ["home", "home/cwd", "xdg", "thesis", "damaged"]) mkdirSync(file(name), { mode: 0o755 });
  writeFileSync(file("thesis/thesis.tex"), "mine");
  writeFileSync(file("thesis/sbatch"), "mine");
  writeFileSync(file("damaged/tutti.db"), "no database");
  writeFileSync(file("plain"), "text", { mode: 0o644 });
  writeFileSync(file("bad.toml"), "rows = 'many'\n", { mode: 0o600 });
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  busy.close();
  await s.clear();
});

/** What each verb refuses, in the folder home/cwd. */
const REFUSED: Readonly<Record<string, () => readonly Words[]>> = {
  serve: () => [["serve", "--slot", "1h"]],
  status: () => [["status", "extra"]],
  web: () => [["web"]],
  demo: () => [["demo", "--slot", "0"]],
  allocations: () => [["allocations"], ["allocations", "nonsense"]],
  pilot: () => [["pilot"], ["pilot", "nonsense"]],
  config: () => [
    ["config", "check", file("bad.toml")],
    ["config", "check", file("missing")],
  ],
  store: () => [
    ["store"],
    ["store", "backup", file("plain"), "--state", s.state],
    ["store", "check", file("missing")],
  ],
  doctor: () => [["doctor", "--nonsense"]],
  backup: () => [
    ["backup", file("plain"), "--state", s.state],
    ["backup", file("missing/backup.db"), "--state", s.state],
    ["backup", file("backup.db"), "--state", file("missing")],
  ],
  check: () => [
    ["check", file("plain")],
    ["check", file("missing")],
  ],
  drain: () => [
    ["drain", "--reason", ""],
    ["drain", "--end", "--reason", "disk"],
  ],
  window: () => [
    ["window", "add", "disk"],
    ["window", "add", "disk", "--begin", "2020-01-01", "--for", "1h"],
    ["window", "remove", "missing"],
    ["window", "list", "extra"],
  ],
  undrain: () => [["undrain", "extra"]],
  reserve: () => [
    ["reserve", "disk"],
    ["reserve", "disk", "--start", "2020-01-01", "--for", "1h"],
  ],
  unreserve: () => [["unreserve", "missing"]],
  windows: () => [["windows", "extra"]],
  down: () => [["down"], ["down", "--keep-pilot"], ["down", "--kill", "--keep-allocation"]],
  submit: () => [
    ["submit", "--queue", "missing", "--", "true"],
    ["submit", "-n", "0", "--", "true"],
    ["submit", "-n", "60000", "--", "true"],
    ["submit", "-a", "5-1", "--", "true"],
    ["submit", "--after", NONE, "--", "true"],
    ["submit", file("missing")],
  ],
  run: () => [
    ["run", "--queue", "missing", "--", "true"],
    ["run", "-a", "1-2", "--", "true"],
  ],
  top: () => [["top"]],
  attach: () => [
    ["attach", RUNS],
    ["attach", NONE],
  ],
  jobs: () => [
    ["jobs", "--columns", "nonsense"],
    ["jobs", "--ended", "--all"],
  ],
  show: () => [["show", NONE]],
  logs: () => [["logs", NONE]],
  wait: () => [["wait", NONE]],
  cancel: () => [
    ["cancel", ENDED],
    ["cancel", NONE],
    ["cancel", "name:missing"],
  ],
  hold: () => [
    ["hold", RUNS],
    ["hold", ENDED],
  ],
  release: () => [
    ["release", ENDED],
    ["release", NONE],
  ],
  requeue: () => [
    ["requeue", RUNS],
    ["requeue", HELD],
  ],
  rerun: () => [
    ["rerun", RUNS],
    ["rerun", NONE],
  ],
  pause: () => [
    ["pause", HELD],
    ["pause", ENDED],
  ],
  resume: () => [
    ["resume", HELD],
    ["resume", ENDED],
  ],
  update: () => [
    ["update", RUNS, "-n", "2"],
    ["update", ENDED, "--name", "x"],
    ["update", HELD],
  ],
  priority: () => [
    ["priority", "1", ENDED],
    ["priority", "much", HELD],
  ],
  why: () => [["why"], ["why", NONE], ["why", "--starts", "--nonsense"]],
  eta: () => [["eta", "--nonsense"]],
  matrix: () => [["matrix", "extra"]],
  list: () => [["list"], ["list", "nonsense"], ["list", "queues", "extra"]],
  queues: () => [["queues", "extra"]],
  policy: () => [
    ["policy", "nonsense"],
    ["policy", "gang:nonsense=1"],
  ],
  whatif: () => [
    ["whatif", "nonsense"],
    ["whatif", "--job", "-n 0"],
  ],
  efficiency: () => [["efficiency", NONE]],
  usage: () => [
    ["usage", "--since", "nonsense"],
    ["usage", NONE],
    ["usage", "--shares", "--by", "user"],
  ],
  shares: () => [["shares", "extra"]],
  history: () => [["history", "extra"]],
  export: () => [
    ["export", "--format", "nonsense"],
    ["export", "-o", file("missing/jobs.swf")],
  ],
  events: () => [["events", "extra"]],
  simulate: () => [["simulate", file("plain"), "--html", file("report.html"), "--swf", file("out.swf")]],
  compare: () => [["compare", file("plain"), "--html", file("report.html")]],
  lab: () => [
    ["lab"],
    ["lab", "nonsense"],
    ["lab", "page", file("missing/lab.html")],
    ["lab", "--one-file", file("missing/lab.html")],
  ],
  reproduce: () => [["reproduce", "nonsense", "--html", file("paper.html"), "--markdown", file("md")]],
  policies: () => [["policies", "nonsense"]],
  import: () => [
    ["import", file("missing")],
    ["import", file("plain")],
  ],
  models: () => [["models", "nonsense"]],
  workload: () => [
    ["workload", "generate", "nonsense", "-o", file("model.swf")],
    ["workload", "convert", file("plain"), "-o", file("out.swf")],
  ],
  torture: () => [
    ["torture", "extra"],
    ["torture", "--hours", "many"],
  ],
  "slurm-names": () => [
    ["slurm-names", file("thesis")],
    ["slurm-names", file("plain")],
  ],
  completions: () => [["completions", "nonsense"]],
};

test.each([...VERBS.map(({ name }) => name), ...Object.keys(OLDER_NAMES)])("tutti %s", async (verb) => {
  await changesNothing(REFUSED[verb]().map((words) => ({ words })));
});

describe("a second tutti serve", () => {
  const serve = (words: Words, env: NodeJS.ProcessEnv = {}) => ({
    words: ["serve", "--no-http", ...words],
    env,
  });
  const other = () => ({ TUTTI_SOCKET: file("other/tutti.sock") });
  const state = () => ["--state", file("second/state")];

  test("is refused at the same socket, whatever its state, and all users stay connected", async () => {
    const before = s.isPrivate ? [0o700, 0o700] : [0o755, 0o711];
    const modes = () => ["run", "run/tokens"].map((name) => lstatSync(file(name)).mode & 0o7777);
    expect(modes()).toEqual(before);
    const said = await changesNothing([
      serve(state()),
      serve(["--private", ...state()]),
      serve(["--private", "--state", file("second")]),
      serve(["--state", s.state]),
    ]);
    expect(modes()).toEqual(before);
    for (const text of said) expect(text).toMatch(/a scheduler is running there already|another one uses it/);
  });

  test("is refused with the same state at another socket", async () => {
    await changesNothing([
      serve(["--state", s.state], other()),
      serve(["--private", "--state", s.state], other()),
    ]);
  });

  test("is refused for its settings, its port, or a place that it cannot use", async () => {
    const port = String((busy.address() as AddressInfo).port);
    const at = (path: string) => ({ TUTTI_SOCKET: file(path) });
    await changesNothing([
      serve(["--config", file("bad.toml"), ...state()], other()),
      serve(["--policy", "nonsense", ...state()], other()),
      serve(["--cpus", "4000", ...state()], other()),
      { words: ["serve", "--port", port, ...state()], env: other() },
      serve(state(), at("thesis/tutti.sock")),
      serve(state(), at("plain/tutti.sock")),
      serve(state(), { ...at("xdg/tutti.sock"), XDG_RUNTIME_DIR: file("xdg") }),
      serve(state(), at(`${"long".repeat(30)}/tutti.sock`)),
      serve(["--state", file("thesis")], other()),
      serve(["--state", file("plain")], other()),
      serve(["--state", file("plain/state")], other()),
      serve(["--state", file("damaged")], other()),
      serve(["--state", file("long".repeat(30))], other()),
      serve(["--on", "slurm", "--nodes", "2", ...state()], { ...other(), PATH: file("home") }),
      serve(["--on", "slurm", "--native", "--policy", "easy", "--state", file("third/state")], {
        ...other(),
        PATH: file("home"),
      }),
    ]);
  });
});

/** Runs commands, each of which is refused. @returns what they said */
async function changesNothing(
  commands: readonly { readonly words: Words; readonly env?: NodeJS.ProcessEnv }[],
): Promise<string[]> {
  expect(commands.length).toBeGreaterThan(0);
  const before = { tree: tree(s.folder), answers: await answers() };
  const said: string[] = [];
  for (let i = 0; i < commands.length; i += AT_ONCE) {
    await Promise.all(
      commands.slice(i, i + AT_ONCE).map(async ({ words, env }) => {
        const options = { cwd: file("home/cwd"), env: { HOME: file("home"), ...env } };
        const { status, stderr } = await startTutti(s.socket, words, options).result;
        const told = `${words.join(" ")}: ${status} ${stderr}`;
        expect(status, told).toBeGreaterThan(0);
        // 70: a bug of Tutti, with a stack trace.
        expect(status, told).not.toBe(70);
        expect(stderr, told).not.toBe("");
        said.push(stderr);
      }),
    );
  }
  expect({ tree: tree(s.folder), answers: await answers() }).toEqual(before);
  return said;
}

/** Everything in a folder: kind, mode, owner and content. */
function tree(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of ["", ...(readdirSync(folder, { recursive: true }) as string[]).sort()]) {
    if (PASSING_FILES.test(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path);
    const isPlain = stats.isFile() && !WRITTEN_ANYWAY.test(name);
    const content = isPlain ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
    found[name] = `${stats.mode.toString(8)} ${stats.uid}:${stats.gid} ${content}`;
  }
  return found;
}

async function answers(): Promise<unknown> {
  const known = [await s.status(), await s.client.jobs(), await s.client.ask("/v1/windows")];
  return JSON.parse(JSON.stringify(known, (name, value) => (PASSING.has(name) ? undefined : value)));
}
