/**
 * Tests the command line as users see it: results, exit codes, and messages about input that cannot be used.
 * A process starts for what only a process has, such as pipes and signals, and for a few commands of each
 * kind; the others run here.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { EXIT_MEANINGS, ExitCode } from "@tutti/cli/errors.ts";
import { OLDER_NAMES } from "@tutti/cli/registry.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHEATS, moduleOf } from "./cheats.ts";
import {
  type CommandResult,
  filesIn,
  makeFolder,
  removeFolder,
  shell,
  smallTrace,
  swfLine,
  tutti,
} from "./command.ts";
import { tuttiHere } from "./command-here.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let folder = "";

beforeAll(() => {
  folder = makeFolder();
  write("trace.swf", smallTrace());
});
afterAll(() => removeFolder(folder));

function write(name: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, name), content);
}

/** Starts each job, whether it fits or not. */
const GREEDY_POLICY = `export default { name: "greedy", sharing: "space", make: (pool) => ({
  arrive(job) { this.job = job; }, depart() {}, decide() { if (this.job !== undefined) pool.start(this.job, 6); this.job = undefined; } }) };`;

/** Expects one clear line, nothing else, and no stack trace. */
function expectRefusal(result: CommandResult, status: number, ...words: readonly (string | RegExp)[]): void {
  expect(result.stderr).toMatch(/^tutti: Cannot [^\n]*\n$/);
  for (const word of words) expect(result.stderr).toMatch(word);
  expect(result.stdout).toBe("");
  expect(result.status).toBe(status);
}

describe("the command line here does what a process does", () => {
  test.each([
    ["a result", ["compare", "trace.swf", "--policy", "fcfs,easy"], 0],
    ["a broken rule", ["simulate", "trace.swf", "--policy", "./greedy.mjs"], 1],
    ["a word that is wrong", ["simulate", "trace.swf", "--policy", "esay"], 2],
    ["an option that is missing", ["simulate", "trace.swf"], 2],
    ["a file that is missing", ["simulate", "none.swf", "--policy", "easy"], 66],
    ["a folder that is missing", ["simulate", "trace.swf", "--policy", "easy", "--swf", "nowhere/a"], 74],
  ])("%s", async (_, words, status) => {
    write("greedy.mjs", GREEDY_POLICY);
    const result = tutti(folder, words);
    expect(result.status).toBe(status);
    expect(await tuttiHere(folder, words)).toEqual(result);
  });
});

test("docs/cli.md has the table of exit codes", () => {
  const rows = Object.entries(ExitCode).map(
    ([name, code]) => `| ${code} | ${EXIT_MEANINGS[name as keyof typeof ExitCode].replace("|", "\\|")} |`,
  );
  expect(readFileSync(join(root, "docs/cli.md"), "utf8")).toContain(`\n${rows.join("\n")}\n\n`);
});

describe("help", () => {
  test("--help shows at most 40 verbs on a screen, and ends well", () => {
    const { status, stdout } = tutti(folder, ["--help"]);
    expect(stdout).toMatch(/config.*window.*usage.*list.*simulate.*compare.*workload.*lab/s);
    expect(stdout.match(/^ {2}[a-z][a-z-]* {2,}/gm)!.length).toBeLessThanOrEqual(40);
    // Two thirds of the 88 lines for 55 verbs.
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(58);
    expect(stdout).not.toMatch(new RegExp(`^ +(?:${Object.keys(OLDER_NAMES).join("|")}) `, "m"));
    expect(status).toBe(0);
  });

  test.each(["simulate", "lab reproduce", "list policies", "workload", "config completions"])(
    "%s --help says what it takes, and so does help %s",
    async (verb) => {
      const { status, stdout } = await tuttiHere(folder, [...verb.split(" "), "--help"]);
      expect(stdout).toMatch(new RegExp(`^Usage: tutti ${verb}`));
      expect(status).toBe(0);
      expect((await tuttiHere(folder, ["help", ...verb.split(" ")])).stdout).toBe(stdout);
    },
  );

  test.each(Object.entries(OLDER_NAMES))("tutti %s --help is that of tutti %s", async (older, words) => {
    const now = words.split(" ").filter((word) => !word.startsWith("-"));
    const { stdout, stderr } = await tuttiHere(folder, [older, "--help"]);
    expect(stdout).toMatch(new RegExp(`^Usage: tutti ${now.join(" ")} `));
    // No hint without a terminal.
    expect(stderr).toBe("");
  });

  test("no help is wider than 80 columns, states a default twice, or has the heading of another group", async () => {
    const verbs = [...(await tuttiHere(folder, ["--help"])).stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(
      ([, name]) => name,
    );
    expect(verbs.length).toBeGreaterThan(30);
    const all = [[], ...verbs.map((verb) => [verb])];
    for (const words of all) {
      const { stdout } = await tuttiHere(folder, [...words, "--help"]);
      const wide = stdout.split("\n").filter((line) => line.length > 80);
      expect(wide, words.join(" ")).toEqual([]);
      const [, parts = ""] = words.length === 1 ? stdout.split("\nCommands:\n") : [];
      for (const [, part] of parts.matchAll(/^ {2}([a-z]+)/gm))
        if (part !== "help") all.push([...words, part]);
      const entries = stdout.split(/^ {2}(?=\S)/m).map((entry) => entry.replace(/\s+/g, " "));
      const doubled = entries.filter((entry) => /default.*default|default.*\(choices/.test(entry));
      expect(doubled, words.join(" ")).toEqual([]);
    }
    expect(all.length).toBeGreaterThan(verbs.length + 15);
  });

  test.each(["run", "submit"])("%s reads the script before it looks for a scheduler", async (verb) => {
    expectRefusal(
      await tuttiHere(folder, [verb, "MISSING.sh"]),
      2,
      '"MISSING.sh": there is no such file',
      `to run a command, write tutti ${verb} -- MISSING.sh`,
    );
  });

  test("--version prints the version of package.json, the revision and its date", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const line = new RegExp(`^tutti ${version} \\([0-9a-f]{12,}(-dirty)?, \\d{4}-\\d\\d-\\d\\d\\)\n$`);
    // Built, and from the source, which asks git.
    for (const words of [["--version"], ["-V"]]) {
      expect(tutti(folder, words)).toEqual({ status: 0, stdout: expect.stringMatching(line), stderr: "" });
      expect(await tuttiHere(folder, words)).toEqual({
        status: 0,
        stdout: expect.stringMatching(line),
        stderr: "",
      });
    }
  });

  test("reproduce alone lists the papers", async () => {
    const { status, stdout } = await tuttiHere(folder, ["lab", "reproduce"]);
    for (const key of ["zhou1999", "zhou2000", "silva1999", "kawanami2008", "dimitriadou2009"])
      expect(stdout).toMatch(new RegExp(`^${key}: `, "m"));
    expect(status).toBe(0);
  });

  test("reproduce --all takes no paper and no seed", async () => {
    expectRefusal(await tuttiHere(folder, ["lab", "reproduce", "zhou2000", "--all"]), 2, /one or the other/);
    expect(await tuttiHere(folder, ["lab", "reproduce", "--all", "--seed", "1"])).toMatchObject({
      status: 2,
      stdout: "",
    });
  });

  test("policies easy states its rules as sentences", async () => {
    const { stdout } = await tuttiHere(folder, ["list", "policies", "easy"]);
    expect(stdout).toMatch(/shadow time/);
    expect(stdout).toMatch(/spare processors/);
  });

  test("policies NAME prints five rules, --all the rules in force, --json all of these", async () => {
    const rulesOf = async (...words: string[]) => {
      const { stdout } = await tuttiHere(folder, ["list", "policies", ...words]);
      const section = stdout.slice(stdout.indexOf("\nRules\n") + 7, stdout.indexOf("\n\nParameters"));
      return section.split(/\n {2}(?! )/).map((text) => text.replace(/^ *- /, "").replace(/\s+/g, " "));
    };
    const five = await rulesOf("br:rows=4");
    const all = await rulesOf("br:rows=4", "--all");
    expect(five.slice(0, 5)).toEqual(all.slice(0, 5));
    expect(five.slice(5)).toEqual([`and ${all.length - 5} more; --all shows all`]);
    expect(all).toContain("queue=fcfs: no job passes the head");
    expect(all.join("\n")).not.toMatch(/^(no job waits|queue=easy|migrate|memory)/m);
    const [{ rules }] = JSON.parse(
      (await tuttiHere(folder, ["list", "policies", "br:rows=4", "--json"])).stdout,
    ).policies;
    expect(rules).toEqual(all);
    expect((await rulesOf("connected-reservation:reservations=none", "--all")).join("\n")).not.toMatch(
      /donor|threshold/,
    );
    expect((await rulesOf("sites-one:backfill=none", "--all")).join("\n")).not.toMatch(
      /threshold|critical|fastest/,
    );
  });

  test("policies lists every kind of policy with the command that runs it", async () => {
    const { status, stdout } = await tuttiHere(folder, ["list", "policies"]);
    const groups = stdout.split("\n\n");
    const held = (title: string) => groups.find((group) => group.startsWith(`${title}: `)) ?? "";
    expect(held("Space sharing")).toMatch(/^ {2}easy .*tutti simulate TRACE --policy NAME$/ms);
    expect(held("Time sharing")).toMatch(/^ {2}brmms .*tutti simulate TRACE --policy NAME$/ms);
    expect(held("Several sites")).toMatch(
      /^ {2}sites-one .*^ {2}sites-across .*tutti simulate sites --policy NAME$/ms,
    );
    expect(held("Tasks on a processor")).toMatch(
      /^ {2}tasks-idle .*^ {2}tasks-grades .*tutti simulate tasks --policy NAME$/ms,
    );
    expect(status).toBe(0);
  });

  test("policies NAME states for each policy what it schedules, its rules, its source and a command that exists", async () => {
    const { policies } = JSON.parse((await tuttiHere(folder, ["list", "policies", "--json"])).stdout);
    expect(policies.length).toBeGreaterThan(15);
    const { models } = JSON.parse((await tuttiHere(folder, ["list", "models", "--json"])).stdout);
    for (const { name, machine, rules, source, command } of policies) {
      const wing = models.find((model: { policies?: string[] }) => model.policies?.includes(name));
      expect(command).toBe(`tutti simulate ${wing?.name ?? "TRACE"} --policy ${name}`);
      for (const text of [machine, source, ...rules]) expect(text, name).toMatch(/\w/);
    }
    const { stdout } = await tuttiHere(folder, ["list", "policies", "sites-across:threshold=2"]);
    expect(stdout).toMatch(
      /^sites-across: .*Schedules.*grid scheduler.*Rules.*several\s+sites\s+together\s+suffice/s,
    );
    expect(stdout).toMatch(
      /sites-across:threshold=0.*Source.*approach 2.*Runs with\n {2}tutti simulate sites --policy sites-across/s,
    );
  });

  test("models lists every model and every machine with jobs of its own, with rules and parameters", async () => {
    const { stdout } = await tuttiHere(folder, ["list", "models"]);
    expect(stdout).toMatch(
      /^Jobs for one machine\n.*^ {2}lublin .*^Machines with.*^ {2}sites .*^ {2}tasks /ms,
    );
    expect((await tuttiHere(folder, ["list", "models", "sites:load=2"])).stdout).toMatch(
      /Rules.*overhead.*sites:sizes=16,16\n.*integers separated by\s+commas,\s+from\s+1.*tutti simulate sites --policy sites-one\|sites-across/s,
    );
    expect((await tuttiHere(folder, ["list", "models", "lublin"])).stdout).toMatch(
      /Parameters.*tutti simulate lublin --policy/s,
    );
    expectRefusal(await tuttiHere(folder, ["list", "models", "site"]), 2, '"site"', 'did you mean "sites"');
  });

  test.each(["bash", "zsh", "fish"])("completions %s names every verb and option", async (name) => {
    const { status, stdout } = await tuttiHere(folder, ["config", "completions", name]);
    for (const word of ["simulate", "reproduce", "missing-estimate", "easy", "downey"])
      expect(stdout).toContain(word);
    expect(status).toBe(0);
  });

  test("the bash completion script parses and completes a verb, an option and a policy", () => {
    write("example.sh", "");
    const replies = {
      "tutti sim": "simulate",
      "tutti compare --missing": "--missing-estimate",
      "tutti compare --policy eas": "easy",
      // Only policies that can run there are offered.
      "tutti simulate --policy sites-o": "",
      "tutti list policies sites-o": "sites-one",
      "tutti workload generate --ou": "--out",
      "tutti submit exam": "example.sh",
      "tutti cancel exam": "",
      "tutti cancel l": "last",
      "tutti serve --mode c": "concurrent",
      "tutti jobs --columns exi": "exit_code",
      "tutti jobs --columns job,name,exi": "job,name,exit_code",
    };
    const lines = Object.keys(replies).map(
      (words) =>
        `COMPREPLY=(); COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _tutti; echo "${words}: \${COMPREPLY[@]}"`,
    );
    const { stdout } = shell(folder, `source <(tutti config completions bash)\n${lines.join("\n")}`);
    expect(stdout.trimEnd().split(/ *\n/)).toEqual(
      Object.entries(replies).map(([words, reply]) => `${words}: ${reply}`.trimEnd()),
    );
  });
});

describe("results", () => {
  test("simulate prints waits by hand: two jobs of the whole machine, one after the other", () => {
    write("two.swf", `; MaxProcs: 4\n${swfLine(1, 0, 100, 4, 100)}\n${swfLine(2, 10, 50, 4, 50)}\n`);
    const { status, stdout } = tutti(folder, ["simulate", "two.swf", "--policy", "fcfs", "--json"]);
    expect(status).toBe(0);
    const { policies, workload } = JSON.parse(stdout);
    const wait = policies[0].summary.metrics.find(({ name }: { name: string }) => name === "wait").all;
    expect(workload.processors).toBe(4);
    expect(workload.jobs).toBe(2);
    expect(wait).toMatchObject({ count: 2, mean: 45, max: 90, maxJobId: 2 });
  });

  test("compare prints one line per policy, with the rules it was made with", async () => {
    const { status, stdout } = await tuttiHere(folder, ["compare", "trace.swf", "--policy", "fcfs,easy"]);
    expect(stdout).toMatch(/^fcfs .*%/m);
    expect(stdout).toMatch(/^easy .*%/m);
    expect(stdout).toMatch(
      /overrun=raise.*missing-estimate=run.*oversize=drop.*warmup=0.*workload [0-9a-f]{16}.*tutti \d+\.\d+\.\d+/s,
    );
    expect(status).toBe(0);
  });

  test("a machine with jobs of its own: table, JSON and CSV say the same, with an audit", async () => {
    const words = [
      "compare",
      "sites:sizes=8,8:load=0.7:gangs=2,3:jobs=500",
      "--policy",
      "sites-one,sites-across",
    ];
    const audited = await tuttiHere(folder, [...words, "--audit"]);
    expect(audited).toMatchObject({ status: 0 });
    expect(audited.stderr).toMatch(
      /audit of sites-one: no rule.*\d{4} starts and ends.*audit of sites-across: no rule/s,
    );
    expect(audited.stdout).toMatch(
      /500 jobs on 16 processors.*mean response \(s\) .*^sites-one +[\d.]+ .*^sites-across .*%$/ms,
    );
    const { policies, label } = JSON.parse((await tuttiHere(folder, [...words, "--json"])).stdout);
    expect(label).toBe(words[1]);
    const [heading, ...lines] = (await tuttiHere(folder, [...words, "--csv"])).stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^policy,seed,metric,unit,value,workload,/);
    const values = policies.flatMap((policy: { measures: { name: string; values: number[] }[] }) =>
      policy.measures.map(({ name, values: [value] }) => [name, String(value)]),
    );
    expect(lines.map((line) => line.split(",")).map(([, , name, , value]) => [name, value])).toEqual(values);
    const replicated = (await tuttiHere(folder, [...words, "--replications", "3", "--workers", "2"])).stdout;
    expect(replicated).toMatch(/3 replications.*±.*difference from sites-one.*±/s);
  });

  test("turns of a user's own file: locks with a list of groups, gangs by name, and what does not fit together", async () => {
    const turns = "job,gpus,train_s,rollout_s\nanna,4,10,10\nanna,4,10,10\nbo,4,10,10\nbo,4,10,10\n";
    writeFileSync(join(folder, "turns.csv"), turns);
    writeFileSync(join(folder, "names.txt"), "gang=job\nunits=gpus\nhold=train_s\nwait=rollout_s\n");
    const source = "phases:file=turns.csv:columns=names.txt:units=4:restore=2";
    const policies = "phases-exclusive,phases-lock:groups=4,phases-rows";
    const { status, stdout } = await tuttiHere(folder, ["compare", source, "--policy", policies, "--audit"]);
    // By hand, as in packages/papers/wings/phases/wing.test.ts: 80 s exclusively, 54 s under a lock.
    expect(stdout).toMatch(/^phases-exclusive +180 +1\.?0* /m);
    expect(stdout).toMatch(/^phases-lock:groups=4 +267 +1\.48 /m);
    expect(status).toBe(0);
    const lists = [
      "compare",
      "phases:gangs=4",
      "--policy",
      "phases-lock:groups=8,4,2,2,phases-rows",
      "--json",
    ];
    const { policies: found } = JSON.parse((await tuttiHere(folder, lists)).stdout);
    expect(found.map(({ label }: { label: string }) => label)).toEqual([
      "phases-lock:groups=8,4,2,2",
      "phases-rows",
    ]);
    const simulate = ["simulate", source, "--policy", "phases-lock"];
    const explained = await tuttiHere(folder, [...simulate, "--explain", "bo"]);
    expect(explained.stdout).toMatch(
      /^gang bo under phases-lock: 2 turns\n.*left at 54 s.*gang anna \(4, until 10 s\)/s,
    );
    expectRefusal(await tuttiHere(folder, [...simulate, "--explain", "cy"]), 66, '"cy"', "anna, bo");
    expectRefusal(await tuttiHere(folder, [...simulate, "--explain", "bo", "--json"]), 2, "--json");
    expectRefusal(
      await tuttiHere(folder, ["compare", source, "--policy", "phases-rows", "--replications", "2"]),
      2,
      "the same each time",
    );
    const missing = ["simulate", "phases:file=none.csv", "--policy", "phases-rows"];
    expectRefusal(await tuttiHere(folder, missing), 66, "none.csv: there is no such file");
  });

  test("pilots for the jobs of a packed log: waits and node-hours, and which pilot took a job", async () => {
    const job = (id: number, submit: number, run: number, size: number, limit: number) =>
      `${id} ${submit} -1 ${run} ${size} -1 -1 ${size} ${limit} -1 1 1 1 -1 1 -1 -1 -1`;
    const log = ["; MaxProcs: 16", job(1, 0, 3594, 4, 3600), job(2, 6900, 3594, 2, 3600), ""].join("\n");
    writeFileSync(join(folder, "site.swf.gz"), gzipSync(log));
    const source = "pilots:file=site.swf.gz:cpus=2";
    const policies = "pilots-fixed,pilots-elastic:idle=0,pilots-elastic:idle=none";
    const words = ["compare", source, "--policy", policies, "--audit", "--json"];
    const { policies: found } = JSON.parse((await tuttiHere(folder, words)).stdout);
    const numbers = found.map(({ measures }: { measures: { name: string; values: number[] }[] }) =>
      ["wait", "used", "idle", "pilots"].map((name) => measures.find((one) => one.name === name)!.values[0]),
    );
    // By hand: all 8 nodes for 10,494 s, of which jobs have 2 and then 1 for 3,594 s. With idle=0, two pilots
    // that begin 3 s after the jobs come, and 3 s before these start. With idle=none, a pilot of one node is
    // asked for 300 s before the limit of each, 3,720 s after its begin, and replaces it if nothing runs on
    // it: 2 nodes from 3 s to 3,600 s, then one each from 3,426, from 6,849 and from 10,272 s. When the
    // second job comes, it may start on the third pilot for another 9 s.
    const busyNodeS = 3 * 3594;
    const hours = (usedNodeS: number) => [usedNodeS / 3600, (usedNodeS - busyNodeS) / 3600];
    expect(numbers).toEqual([
      [0, ...hours(8 * 10_494), 1],
      [6, ...hours(3 * 3597), 2],
      [3, ...hours(2 * 3597 + (6849 - 3426) + (10_494 - 6849) + (10_494 - 10_272)), 4],
    ]);
    const explain = ["simulate", source, "--policy", "pilots-elastic:idle=0", "--explain", "2"];
    expect((await tuttiHere(folder, explain)).stdout).toMatch(/started at 6 s on 1 node of pilot 2/);
    expectRefusal(await tuttiHere(folder, [...explain, "--json"]), 2, "--explain", "pilots");
    const short = ["compare", source, "--policy", "pilots-fixed,pilots-elastic:longest=3600"];
    const { status, stderr } = await tuttiHere(folder, short);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("pilots-elastic:longest=3600 never ended 2 jobs"),
    ]);
  });

  test("--csv has one line per policy, metric and class, and no empty heading", async () => {
    const [heading, ...lines] = (
      await tuttiHere(folder, ["compare", "trace.swf", "--policy", "fcfs,easy", "--csv"])
    ).stdout
      .trimEnd()
      .split("\n");
    const width = heading?.split(",").length;
    expect(heading).toMatch(/^policy,seed,metric,unit,class,jobs,mean/);
    expect(lines.length).toBe(2 * 4 * 5);
    for (const line of lines) expect(line.split(",").length).toBe(width);
  });

  test("--swf writes a schedule that reads back, waits filled in", async () => {
    const result = await tuttiHere(folder, ["simulate", "two.swf", "--policy", "fcfs", "--swf", "out.swf"]);
    expect(result.status).toBe(0);
    const jobs = readFileSync(join(folder, "out.swf"), "utf8")
      .split("\n")
      .filter((line) => /^\s*\d/.test(line))
      .map((line) => line.trim().split(/\s+/).slice(0, 5).map(Number));
    expect(jobs).toEqual([
      [1, 0, 0, 100, 4],
      [2, 10, 90, 50, 4],
    ]);
  });

  test("--html writes a report in one file", async () => {
    const { status } = await tuttiHere(folder, [
      "compare",
      "trace.swf",
      "--policy",
      "fcfs,easy",
      "--html",
      "report.html",
    ]);
    expect(status).toBe(0);
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(page).toMatch(/^<!doctype html>/i);
    expect(page).not.toMatch(/<(?:script|link|img)[^>]*(?:src|href)="?https?:/);
  });

  test("a trace may come from standard input, packed, or by the beginning of its name", () => {
    const simulate = (source: string, options = {}) =>
      tutti(folder, ["simulate", source, "--policy", "easy", "--csv"], options).stdout;
    const packed = gzipSync(smallTrace());
    // The name of the source is in every line.
    const expected = simulate("trace.swf");
    expect(simulate("-", { input: smallTrace() })).toBe(expected.replaceAll("trace.swf", "stdin"));
    expect(simulate("-", { input: packed })).toBe(expected.replaceAll("trace.swf", "stdin"));
    const env = { ...process.env, TUTTI_TRACES: folder };
    write("gamma-1999.swf", packed);
    expect(simulate("gamma", { env })).toBe(expected.replaceAll("trace.swf", "gamma-1999.swf"));
  });

  test("a model can stand for a trace, and its workload can be written and read", async () => {
    const words = ["downey:jobs=300:load=0.8", "--seed", "7"];
    const direct = await tuttiHere(folder, ["simulate", ...words, "--policy", "easy", "--json"]);
    expect((await tuttiHere(folder, ["workload", "generate", ...words, "--out", "model.swf"])).status).toBe(
      0,
    );
    const info = await tuttiHere(folder, ["workload", "info", "model.swf", "--json"]);
    expect(direct.status).toBe(0);
    expect(JSON.parse(info.stdout).jobs).toBe(300);
    expect(JSON.parse(info.stdout).hash).toBe(JSON.parse(direct.stdout).workload.hash);
  });

  test("one job on one processor is no plural", async () => {
    write("one.swf", `; MaxProcs: 1\n${swfLine(1, 0, 5, 1, 5)}\n`);
    const simulate = ["simulate", "one.swf", "--policy"];
    for (const words of [
      ["workload", "info", "one.swf"],
      [...simulate, "easy"],
      [...simulate, "easy", "--explain", "1"],
      [...simulate, "br", "--explain", "1"],
    ]) {
      const { status, stdout } = await tuttiHere(folder, words);
      expect(stdout).not.toMatch(/\b1 (?:jobs|processors|rows|slots|were|are)\b/);
      expect(stdout).toMatch(/1 processor\b/);
      expect(status).toBe(0);
    }
  });
  test("a window says how many jobs it leaves", async () => {
    const window = ["--warmup", ".5", "--cooldown", ".49"];
    const { status, stderr } = await tuttiHere(folder, [
      "compare",
      "trace.swf",
      "--policy",
      "fcfs,easy",
      ...window,
    ]);
    // 40 jobs less 20 and, rounded down, 19.
    expect(stderr).toBe("1 of 40 jobs is counted\n");
    expect(status).toBe(0);
  });
  test("replications give intervals, and differences from the first policy", async () => {
    const { status, stdout } = await tuttiHere(folder, [
      ...["compare", "downey:jobs=200", "--policy", "fcfs,easy", "--replications", "4"],
    ]);
    expect(stdout).toMatch(/^fcfs .*±/m);
    expect(stdout).toMatch(/^fcfs .* \(seed [1-4], job \d+\)$/m);
    expect(stdout).toMatch(/difference from fcfs +mean wait \(\w+\) +mean response \(\w+\)/);
    expect(stdout).toMatch(/hashes of\s+seed\s+1/);
    expect(status).toBe(0);
  });

  test("the policy of the example runs, with its parameter", async () => {
    const file = join(root, "examples/my-policy.ts");
    expect(readFileSync(file, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    const { status, stdout } = await tuttiHere(folder, [
      "simulate",
      "trace.swf",
      "--policy",
      `${file}:reserve=2`,
    ]);
    expect(stdout).toMatch(/^keep-some-free:reserve=2/m);
    expect(stdout).toMatch(/40 policy's own rule/);
    expect(status).toBe(0);
  });
});

describe("--explain", () => {
  test("says why a job started when it did", async () => {
    const { status, stdout } = await tuttiHere(folder, [
      "simulate",
      "two.swf",
      "--policy",
      "fcfs",
      "--explain",
      "2",
    ]);
    expect(stdout).toMatch(/^job 2 under fcfs: 4 of 4 processors/);
    expect(stdout).toMatch(/90 s/); // it arrived at 10 s and waited for job 1 to end at 100 s
    expect(status).toBe(0);
  });

  test("refuses a job that is not there", async () => {
    expectRefusal(
      await tuttiHere(folder, ["simulate", "two.swf", "--policy", "fcfs", "--explain", "9"]),
      66,
      "job 9",
    );
    expectRefusal(
      await tuttiHere(folder, ["simulate", "two.swf", "--policy", "fcfs", "--explain", "x"]),
      2,
      'job "x"',
      "an integer of 0 or more",
    );
  });
});

describe("--audit", () => {
  test("says what was checked, and the result follows", async () => {
    const { status, stdout, stderr } = await tuttiHere(folder, [
      "compare",
      "trace.swf",
      "--policy",
      "fcfs,easy",
      "--audit",
    ]);
    expect(stderr).toMatch(/^audit of fcfs: no rule is broken$/m);
    expect(stderr).toMatch(/^audit of easy: no rule is broken$/m);
    expect(stdout).toMatch(/^easy /m);
    expect(status).toBe(0);
  });

  test("refuses the result of a policy that cheats only where no checker is; every seed is checked", async () => {
    write("watched.mjs", moduleOf(CHEATS["looks-whether-it-is-watched"]));
    const jobs = "lublin:jobs=200:processors=64";
    const run = (policy: string) =>
      tuttiHere(folder, ["compare", jobs, "-p", "100", "--policy", policy, "--replications", "2", "--audit"]);
    const { status, stdout, stderr } = await run("fcfs,./watched.mjs");
    expect(stderr).toMatch(/^audit of fcfs, seed 1: no rule is broken$/m);
    expect(stderr).toMatch(/^audit of cheat, seed 2: no rule is broken$/m);
    expect(stderr).toMatch(/^audit of cheat: rule "other-run" is broken$/m);
    expect(stdout).toBe("");
    expect(status).toBe(1);
  });

  test("names the job, the time and the rule of the first violation; no result follows", async () => {
    // Starts the last job of the queue that fits, but claims that the first never fits after its decisions.
    write(
      "liar.mjs",
      `export default { name: "liar", sharing: "space",
        guarantees: () => ({ headNeverFits: true, workConserving: true, keepsPromises: false }),
        make: (pool, jobs) => ({ queue: [], arrive(job) { this.queue.push(job); }, depart() {},
          decide() { if (this.queue.length && jobs.size[this.queue.at(-1)] <= pool.free) pool.start(this.queue.pop(), 6); } }) };`,
    );
    const { status, stdout, stderr } = await tuttiHere(folder, [
      "simulate",
      "trace.swf",
      "--policy",
      "./liar.mjs",
      "--audit",
    ]);
    expect(stderr).toMatch(/^audit of liar: rule "[a-z-]+" is broken \(job \d+, \d+ s\)$/m);
    expect(stdout).toBe("");
    expect(status).toBe(1);
  });
});

describe("the same seed gives the same bytes", () => {
  const words = [
    "compare",
    "downey:jobs=400:load=0.9",
    "--policy",
    "fcfs,easy,conservative",
    "--replications",
    "3",
  ];

  test("on two runs, and with 1 and with 2 workers", () => {
    const one = tutti(folder, [...words, "--json", "--workers", "1"]);
    expect(one.status).toBe(0);
    expect(JSON.parse(one.stdout).policies[2].replications).toHaveLength(3);
    expect(tutti(folder, [...words, "--json", "--workers", "1"]).stdout).toBe(one.stdout);
    expect(tutti(folder, [...words, "--json", "--workers", "2"]).stdout).toBe(one.stdout);
  });

  test("and another seed gives others", async () => {
    const hash = async (seed: string) =>
      JSON.parse(
        (await tuttiHere(folder, ["workload", "info", "downey:jobs=100", "--seed", seed, "--json"])).stdout,
      ).hash;
    expect(await hash("1")).not.toBe(await hash("2"));
  });
});

describe("bad input: one line, the documented exit code", () => {
  const simulate = (name: string, ...more: string[]) =>
    tuttiHere(folder, ["simulate", name, "--policy", "easy", ...more]);
  const job = swfLine(1, 0, 100, 2, 100);

  test("a missing file", async () =>
    expectRefusal(await simulate("none.swf"), 66, '"none.swf"', "no such file", "TUTTI_TRACES"));
  test("a directory", async () => {
    mkdirSync(join(folder, "directory.swf"));
    expectRefusal(await simulate("directory.swf"), 66, '"directory.swf"', "directory");
  });
  test("a file of 0 bytes, plain and packed", async () => {
    write("empty.swf", "");
    expectRefusal(await simulate("empty.swf"), 66, '"empty.swf"', "empty");
    write("empty.swf.gz", gzipSync(""));
    expectRefusal(await simulate("empty.swf.gz"), 66, '"empty.swf.gz"', "empty");
  });
  test("a truncated .gz", async () => {
    write("short.swf.gz", gzipSync(smallTrace()));
    truncateSync(join(folder, "short.swf.gz"), 200);
    expectRefusal(await simulate("short.swf.gz"), 66, '"short.swf.gz"', "end too early");
  });
  test("a damaged .gz", async () => {
    const bytes = gzipSync(smallTrace());
    bytes.fill(0xff, 40, 80);
    write("damaged.swf.gz", bytes);
    expectRefusal(await simulate("damaged.swf.gz"), 66, '"damaged.swf.gz"', "damaged");
  });
  test("no size of the machine: the largest job is named", async () => {
    write("headless.swf", job);
    expectRefusal(
      await simulate("headless.swf"),
      66,
      '"headless.swf"',
      "--processors",
      "its largest job has 2",
    );
  });
  test("no jobs, and something that is no trace at all", async () => {
    write("header.swf", "; MaxProcs: 8\n");
    expectRefusal(await simulate("header.swf"), 66, "header.swf", /no job/i);
    write("prose.swf", "This is a letter.\nIt has two lines.\n");
    expectRefusal(await simulate("prose.swf"), 66, "prose.swf");
  });
  test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    write("secret.swf", smallTrace());
    chmodSync(join(folder, "secret.swf"), 0);
    expectRefusal(await simulate("secret.swf"), 66, '"secret.swf"', "permission");
  });
  test("no size of the machine", async () => {
    write("sizeless.swf", `${job}\n`);
    expectRefusal(await simulate("sizeless.swf"), 66, "sizeless.swf", "--processors");
    expect((await simulate("sizeless.swf", "--processors", "4")).status).toBe(0);
  });

  test.each([
    ["a short line", "2 10 -1 50 1", "line 3"],
    ["text in a number", swfLine(2, 10, 50, 1, 60).replace(" 50 ", " fifty "), "line 3"],
    ["NaN", swfLine(2, 10, 50, 1, 60).replace(" 50 ", " NaN "), "line 3"],
    ["a negative submit time", swfLine(2, -10, 50, 1, 60), "line 3"],
    ["unsorted submit times", `${swfLine(2, 500, 50, 1, 60)}\n${swfLine(3, 20, 50, 1, 60)}`, "line 4"],
  ])("%s is repaired or dropped, and reported with its line", async (_, lines, place) => {
    write("odd.swf", `; MaxProcs: 8\n${job}\n${lines}\n`);
    const { status, stdout, stderr } = await simulate("odd.swf");
    expect(status).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^(?:repaired|dropped|kept) \d+: /m);
    expect(stdout.replace(/\s+/g, " ")).toContain(place);
  });

  test("a job larger than the machine is left out and reported, or clipped", async () => {
    write("large.swf", `; MaxProcs: 8\n${job}\n${swfLine(2, 10, 50, 9, 60)}\n`);
    expect((await simulate("large.swf")).stdout).toMatch(/^dropped 1: /m);
    expect((await simulate("large.swf", "--oversize", "clip")).stdout).toMatch(/^repaired 1: /m);
  });
  test("a policy with a typo", async () => {
    expectRefusal(
      await tuttiHere(folder, ["simulate", "trace.swf", "--policy", "esay"]),
      2,
      '"esay"',
      'did you mean "easy"',
    );
  });
  test("a policy that schedules something else than one machine, with the command that runs it", async () => {
    for (const verb of ["simulate", "compare"]) {
      expectRefusal(
        await tuttiHere(folder, [verb, "trace.swf", "--policy", "sites-one:order=oldest"]),
        2,
        '"sites-one"',
        "it schedules processors with one queue each, grouped into sites",
        "`tutti simulate sites --policy sites-one:order=oldest` runs it",
      );
    }
    const result = await tuttiHere(folder, ["simulate", "trace.swf", "--policy", "tasks-grades"]);
    expectRefusal(result, 2, '"tasks-grades"', "`tutti simulate tasks --policy tasks-grades` runs it");
  });
  test("on a machine with jobs of its own: options and policies for one machine, and its jobs elsewhere", async () => {
    for (const options of [
      ["--slot", "10"],
      ["--html", "a.html"],
      ["--explain", "3"],
      ["--warmup", "10%"],
    ])
      expectRefusal(
        await tuttiHere(folder, ["simulate", "sites", "--policy", "sites-one", ...options]),
        2,
        `${options[0]} with "sites"`,
        "`tutti list models sites`",
      );
    for (const [policy, text] of [
      ["easy", "sites-one, sites-across"],
      ["sites-one,sites-one", "twice"],
    ])
      expectRefusal(await tuttiHere(folder, ["compare", "sites", "--policy", policy]), 2, text);
    const sizes = "sites:sizes=4,x";
    expectRefusal(
      await tuttiHere(folder, ["simulate", sizes, "--policy", "sites-one"]),
      2,
      '"x"',
      "an integer from 1",
    );
    expectRefusal(
      await tuttiHere(folder, ["simulate", "sites:gangs=33", "--policy", "sites-one"]),
      2,
      "at most 32",
    );
    expectRefusal(await tuttiHere(folder, ["workload", "info", "tasks"]), 2, "not for one machine");
  });
  test("a policy's parameter with a typo, and one out of range", async () => {
    expectRefusal(
      await tuttiHere(folder, ["simulate", "trace.swf", "--policy", "easy:ordre=wfp"]),
      2,
      '"ordre"',
      '"order"',
    );
    expectRefusal(
      await tuttiHere(folder, ["simulate", "trace.swf", "--policy", "easy:order=short"]),
      2,
      '"short"',
      "shortest",
    );
  });
  test("a model's parameter out of range, and a model with a typo", async () => {
    expectRefusal(await simulate("downey:load=-3"), 2, "load", "-3");
    expectRefusal(
      await tuttiHere(folder, ["workload", "generate", "downy"]),
      2,
      '"downy"',
      'did you mean "downey"',
    );
  });
  test("a model with a typo in the place of a trace", async () => {
    expectRefusal(await simulate("down:jobs=5"), 66, '"down:jobs=5"', 'did you mean "downey"');
    expectRefusal(await simulate("lubiln"), 66, 'did you mean "lublin"');
  });
  test("a model's parameters that contradict each other", async () => {
    const words = ["downey:minRunS=100:maxRunS=50"];
    expectRefusal(await simulate(words[0]), 2, "minRunS to be at most maxRunS");
    expectRefusal(
      await tuttiHere(folder, ["workload", "generate", ...words]),
      2,
      "minRunS to be at most maxRunS",
    );
  });
  test("more processors than time sharing keeps records of, by --processors or by the trace", async () => {
    const gangs = (source: string, ...more: string[]) =>
      tuttiHere(folder, ["simulate", source, "--policy", "br", ...more]);
    expectRefusal(await gangs("trace.swf", "--processors", "2147483647"), 2, "br", "at most 16777216");
    write("vast.swf", `; MaxProcs: 100000000\n${job}\n`);
    expectRefusal(await gangs("vast.swf"), 66, "br", "at most 16777216");
    expect((await simulate("vast.swf")).status).toBe(0);
  });
  test("seeds beyond what a number holds exactly", async () => {
    const words = ["compare", "downey:jobs=5", "--policy", "easy", "--replications", "2", "--seed"];
    expectRefusal(await tuttiHere(folder, [...words, "9007199254740991"]), 2, "--seed 9007199254740991");
  });
  test("the same policy twice", async () => {
    expectRefusal(
      await tuttiHere(folder, ["compare", "trace.swf", "--policy", "easy,easy"]),
      2,
      '"easy" twice',
    );
  });
  test("older names of options give the same result, and help shows the present ones", async () => {
    const run = async (...options: string[]) => {
      const { status, stdout } = await simulate("trace.swf", "--json", ...options);
      expect(status).toBe(0);
      const { results } = JSON.parse(stdout) as { results: unknown };
      return JSON.stringify(results);
    };
    const present = await run("--processors", "8", "--first", "1");
    expect(await run("--procs", "8", "--limit", "1")).toBe(present);
    expect(await run("--procs", "9", "--processors", "8", "--first", "2", "--limit", "1")).toBe(present);
    const help = (await tuttiHere(folder, ["simulate", "--help"])).stdout;
    expect(help).toMatch(/--processors <n>[\s\S]*--first <n>/);
    expect(help).not.toMatch(/--procs|--limit/);
  });
  test("replications of a trace", async () => {
    const words = ["compare", "trace.swf", "--policy", "easy", "--replications", "3"];
    expectRefusal(await tuttiHere(folder, words), 66, "trace is the same every time");
  });

  test.each([
    [["simulte"], "simulate"],
    [["simulate", "trace.swf", "--polcy", "easy"], "--policy"],
    [["simulate", "trace.swf"], "--policy"],
    [["simulate", "--policy", "easy"], "trace"],
    [["simulate", "trace.swf", "--policy", "easy", "--processors", "0"], "--processors"],
    [["simulate", "trace.swf", "--policy", "easy", "--procs", "many"], "--procs"],
    [["simulate", "trace.swf", "--policy", "easy", "--warmup", "1.5"], "--warmup"],
    [["simulate", "trace.swf", "--policy", "easy", "--slot", "0"], "--slot"],
    [["simulate", "trace.swf", "--policy", "easy", "--slot", "2 weeks"], "--slot"],
    [["simulate", "trace.swf", "--policy", "easy", "--overrun", "ignore"], "raise, kill"],
    [["simulate", "trace.swf", "--policy", "easy", "--missing-estimate", "-5"], "--missing-estimate"],
    [["simulate", "trace.swf", "--policy", "easy", "--slot", "1e-9"], "--slot"],
    [["simulate", "trace.swf", "--policy", "easy", "--slot", "0.0000001"], "at least 0.000001 s"],
    [["simulate", "trace.swf", "--policy", "easy", "--bound", "9".repeat(400)], "at most 10950 d"],
    [["simulate", "downey:jobs=9", "--policy", "easy", "--load", "1e99"], "above 0, at most 1000000"],
    [["simulate", "downey:jobs=9", "--policy", "gang", "--switch", "-5"], "of 0 s or more"],
    [["simulate", "trace.swf", "--policy", "easy", "--first", "9e17"], "from 1 to 9007199254740991"],
    [["simulate", "trace.swf", "--policy", "easy", "--policy", "fcfs"], "one policy"],
    [["config", "completions", "tcsh"], "bash"],
    [["jobs", "--columns", "job,nmae"], 'did you mean "name"'],
    [["jobs", "--ended", "-o", "%i %T"], "instead of Slurm's -o, use --columns job,name,state"],
  ])("%j is a matter of usage", async (words, word) => {
    const { status, stdout, stderr } = await tuttiHere(folder, words);
    expect(stderr).toMatch(/^tutti: /);
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });
});

describe("a policy of the user's own that is wrong", () => {
  const own = (name: string, text: string) => {
    write(name, text);
    return tuttiHere(folder, ["simulate", "trace.swf", "--policy", `./${name}`]);
  };

  test("is missing, is no module, or has no definition", async () => {
    expectRefusal(
      await tuttiHere(folder, ["simulate", "trace.swf", "--policy", "./none.ts"]),
      2,
      "no such file",
    );
    expectRefusal(await own("broken.ts", "export default {"), 2, "./broken.ts", "SyntaxError");
    expectRefusal(await own("nothing.ts", "export const a = 1;"), 2, "no default export");
    expectRefusal(await own("half.ts", 'export default { name: "half", sharing: "space" };'), 2, "make");
  });
  test("starts a job that does not fit: the rule, the job and the time are named", async () => {
    const { status, stderr, stdout } = await own("greedy.mjs", GREEDY_POLICY);
    expect(stderr).toMatch(/^tutti: rule "[a-z-]+" broken: Cannot start job \d+ at \d+ s[^\n]*\n$/);
    expect(stdout).toBe("");
    expect(status).toBe(1);
  });
  test("never starts some jobs: their count is reported, and the run has failed", async () => {
    write(
      "lazy.mjs",
      `export default { name: "lazy", sharing: "space", make: (pool) => ({
        arrive(job) { this.job = job; }, depart() {}, decide() { if (this.job === 0) pool.start(0, 6); this.job = -1; } }) };`,
    );
    for (const [verb, policy] of [
      ["simulate", "./lazy.mjs"],
      ["compare", "fcfs,./lazy.mjs"],
    ] as const) {
      const { status, stdout, stderr } = await tuttiHere(folder, [verb, "trace.swf", "--policy", policy]);
      expect(stderr).toBe("tutti: lazy never started 39 jobs: the numbers above cover only the other jobs\n");
      expect(stdout).toContain("lazy");
      expect(status).toBe(1);
    }
  });
  test("places a gang before it has arrived: the message has the job's number in the trace", async () => {
    write("numbered.swf", `; MaxProcs: 8\n${swfLine(71, 0, 9, 1, 9)}\n${swfLine(72, 5, 9, 1, 9)}\n`);
    write(
      "early.mjs",
      `export default { name: "early", sharing: "time", make: (machine) => ({
        arrive() {}, depart() {}, decide() { machine.place(1, machine.addRow(), 0); } }) };`,
    );
    const { status, stderr } = await tuttiHere(folder, [
      "simulate",
      "numbered.swf",
      "--policy",
      "./early.mjs",
    ]);
    expect(stderr).toMatch(/^tutti: rule "start-before-arrival" broken: Cannot place job 72: [^\n]*\n$/);
    expect(status).toBe(1);
  });
  test("ends the program, or never gets ready", async () => {
    const ends = await own("ends.mjs", "process.exit(0);");
    expectRefusal(ends, 2, "./ends.mjs", "a policy may not use process");
    const stray = await own(
      "stray.mjs",
      `export default { name: "stray", sharing: "space", make: () => ({
        arrive() { Promise.reject(new Error("later")); }, depart() {}, decide() {} }) };`,
    );
    expect(stray.stderr).toMatch(
      /^tutti: Cannot continue with policy "\.\/stray\.mjs": [^\n]*Error: later$/m,
    );
    expect(stray.status).toBe(1);
    expectRefusal(await own("never.mjs", "await new Promise(() => {});"), 2, "./never.mjs", "never happens");
  });
  test("throws: its message and its line", async () => {
    const text = `export default { name: "thrower", sharing: "space", make: () => ({
      arrive() {}, depart() {}, decide() { throw new Error("no idea"); } }) };`;
    const { status, stderr } = await own("thrower.mjs", text);
    expect(stderr).toMatch(
      /^tutti: Cannot continue with policy "\.\/thrower\.mjs": it failed with Error: no idea at thrower\.mjs:2:\d+\n$/,
    );
    expect(status).toBe(1);
  });
});

describe("output that cannot be written", () => {
  test.skipIf(!existsSync("/dev/full"))("a full device: one line, exit code 74", () => {
    for (const line of [
      "tutti simulate trace.swf --policy easy > /dev/full",
      "tutti simulate trace.swf --policy easy --html /dev/full > /dev/null",
      "tutti workload generate downey --out /dev/full",
    ]) {
      const { status, stderr } = shell(folder, line);
      expect(stderr).toMatch(/^tutti: Cannot write [^\n]*no space[^\n]*\n$/);
      expect(status).toBe(74);
    }
  });

  test("a file that is read, or written twice, is refused and stays as it is", async () => {
    const before = filesIn(folder);
    const simulate = ["simulate", "trace.swf", "--policy", "easy"];
    expectRefusal(
      await tuttiHere(folder, [...simulate, "--swf", "./trace.swf"]),
      2,
      "--swf",
      "the trace itself",
    );
    expectRefusal(
      await tuttiHere(folder, [...simulate, "--swf", "x", "--html", "./x"]),
      2,
      "--html names the same file",
    );
    expectRefusal(
      await tuttiHere(folder, ["workload", "convert", "trace.swf", "--out", "trace.swf"]),
      2,
      "--out",
    );
    expect(filesIn(folder)).toEqual(before);
    expect(readFileSync(join(folder, "trace.swf"), "utf8")).toBe(smallTrace());
  });

  test("a reader that closes the pipe is no error, nor of --swf /dev/stdout", () => {
    const result = shell(
      folder,
      "tutti simulate downey:jobs=20000 --policy fcfs --swf /dev/stdout | head -n 1",
    );
    expect(result).toEqual({ status: 0, stdout: "; Version: 2.2\n", stderr: "" });
  });

  test("a reader that closes the pipe is no error", () => {
    const { status, stdout, stderr } = shell(folder, "tutti workload generate downey:jobs=50000 | head -n 1");
    expect(stdout.split("\n").length).toBe(2);
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  test("a folder that is not there: nothing is left behind", async () => {
    const before = filesIn(folder);
    const result = await tuttiHere(folder, [
      "simulate",
      "trace.swf",
      "--policy",
      "easy",
      "--swf",
      "nowhere/out.swf",
    ]);
    expectRefusal(result, 74, '"nowhere/out.swf"', "no folder");
    expect(filesIn(folder)).toEqual(before);
  });

  test("Ctrl-C in the middle of a long run ends it at once and leaves nothing behind", async () => {
    const before = filesIn(folder);
    const child = spawn(
      process.execPath,
      [
        join(root, "bin/tutti.js"),
        ...[
          "simulate",
          "downey:jobs=3000000",
          "--policy",
          "easy",
          "--html",
          "late.html",
          "--swf",
          "late.swf",
        ],
      ],
      { cwd: folder, stdio: "ignore" },
    );
    const ended = new Promise<string | number | null>((resolve) =>
      child.on("exit", (code, signal) => resolve(signal ?? code)),
    );
    await new Promise((resolve) => setTimeout(resolve, 700));
    child.kill("SIGINT");
    expect(["SIGINT", 130]).toContain(await ended);
    expect(filesIn(folder)).toEqual(before);
  });
});
