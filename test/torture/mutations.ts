/**
 * Faults that are planted into the live code, one at a time, to prove that lives in a simulated world can
 * find such faults (scripts/torture-mutations.ts). Each replaces a text that is exactly once in its file.
 */
import type { Mutation } from "../../scripts/torture-bundle.ts";

export interface PlantedFault extends Mutation {
  readonly name: string;
  /** What a user or an administrator would see. */
  readonly why: string;
}

const CONDUCTOR = "packages/live/conductor";
const DAEMON = "packages/live/daemon";

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: "acts before it notes",
    file: `${CONDUCTOR}/state-file.ts`,
    find: "this.write();\n      for (const act of acts) act();",
    replace: "for (const act of acts) act();",
    why: "kills of a conductor that dies then are taken for ends of the jobs' own",
  },
  {
    name: "the reason of an end is not noted",
    file: `${CONDUCTOR}/attempts/gang-part.ts`,
    find: "this.machine.note(() => this.#sendSignal(isNew));",
    replace: "this.#sendSignal(isNew);",
    why: "the time limit becomes ended by SIGTERM when the conductor dies just then, and is retried",
  },
  {
    name: "attempts are forgotten at adoption",
    file: `${CONDUCTOR}/conductor.ts`,
    find: "if (attempt !== undefined) this.#attempts.set(attempt.name, attempt);",
    replace:
      'if (attempt !== undefined && attempt.reason === "none") this.#attempts.set(attempt.name, attempt);',
    why: "an attempt that was about to end is one that the new conductor does not know",
  },
  {
    name: "an exit of another identity is accepted",
    file: `${CONDUCTOR}/attempts/shim.ts`,
    find: "if (!/^[0-9]{1,4}$/.test(number) || identity !== of.identity || more.length > 0)",
    replace: "if (!/^[0-9]{1,4}$/.test(number) || more.length > 0)",
    why: "after a restore, a job gets the result of another with its number",
  },
  {
    name: "a gang is not continued",
    file: `${CONDUCTOR}/round-robin.ts`,
    find: "if (attempt.frozen) attempt.thaw();\n      }\n      attempt.slotBegins",
    replace:
      "if (attempt.frozen && attempt.spec.job % 5 !== 0) attempt.thaw();\n      }\n      attempt.slotBegins",
    why: "a fifth of the jobs stands still for ever once it was stopped",
  },
  {
    name: "a gang is not stopped",
    file: `${CONDUCTOR}/round-robin.ts`,
    find: "if (!attempt.turns || on.has(attempt.name)) continue;",
    replace: "if (!attempt.turns || on.has(attempt.name) || attempt.spec.job % 5 === 0) continue;",
    why: "a fifth of the jobs runs in the slots of others",
  },
  {
    name: "CPUs of a new matrix are not followed",
    file: `${CONDUCTOR}/round-robin.ts`,
    find: "attempts.get(gangName(gang))?.pin(gang.cpus);",
    replace: "if (isSaved) attempts.get(gangName(gang))?.pin(gang.cpus);",
    why: "a moved gang stays on the CPUs of another",
  },
  {
    name: "paused gangs run on after a restart",
    file: `${CONDUCTOR}/round-robin.ts`,
    find: "if (isSaved) paused.add(gangs);",
    replace: "if (isSaved) paused.set(new Set());",
    why: "a job that its user has paused runs when the conductor was killed",
  },
  {
    name: "no guardian",
    file: `${CONDUCTOR}/conductor.ts`,
    find: "    this.#guardian.start();\n",
    replace: "",
    why: "stopped jobs stand still as long as nobody starts the conductor again",
  },
  {
    name: "the signal before the limit comes twice",
    file: `${CONDUCTOR}/attempts/attempt.ts`,
    find: "attempt.warnedRanMs = saved.warnedRanMs ?? (saved.warned ? 0 : undefined);",
    replace: "attempt.warnedRanMs = undefined;",
    why: "a job gets its warning again from the next conductor",
  },
  {
    name: "no kill after the grace time",
    file: `${CONDUCTOR}/attempts/gang-part.ts`,
    find: "this.#killAtMs = nowMs + graceMs;",
    replace: "",
    why: "a job that ignores TERM never ends",
  },
  {
    name: "processes of an ended gang are left",
    file: `${CONDUCTOR}/attempts/attempt.ts`,
    find: 'if (this.#entry.state === "yes" && !freezer.kill(this.name) && nowMs < this.#gaveUpAtMs)',
    replace: "if (nowMs < Number.NEGATIVE_INFINITY)",
    why: "what a job leaves in the background keeps running on CPUs of others",
  },
  {
    name: "an end is lost while the state is away",
    file: `${CONDUCTOR}/attempts/attempt.ts`,
    find: "if (this.waitsForHome) return false;",
    replace: "",
    why: "a result that is there again with the folder counts as lost",
  },
  {
    name: "a claim is not exclusive",
    file: `${CONDUCTOR}/attempts/shim.ts`,
    find: 'if ! ln -s "$identity" claim 2>/dev/null; then',
    replace: 'if ! ln -sfn "$identity" claim 2>/dev/null; then',
    why: "a job runs twice if its shim was started twice",
  },
  {
    name: "a reason is lost that the disk refuses",
    file: `${CONDUCTOR}/attempts/shim.ts`,
    find: '" > lost; do\n    case',
    replace: '" > lost || :; do\n    case',
    why: "a job that could not begin on a full disk has ended by itself, with exit code 74",
  },
  {
    name: "the limit is looked at before the end",
    file: `${CONDUCTOR}/attempts/attempt.ts`,
    find: "if (this.ranMs(nowMs) >= this.limitMs && !this.#hasEnded)",
    replace: "if (this.ranMs(nowMs) >= this.limitMs)",
    why: "a job that ended by itself while its conductor hung is one that took too long",
  },
  {
    name: "the store does not sync",
    file: `${DAEMON}/store/store.ts`,
    find: "PRAGMA synchronous = FULL",
    replace: "PRAGMA synchronous = OFF",
    why: "a power cut loses acknowledged jobs",
  },
  {
    name: "the key of a submit is not stored",
    file: `${DAEMON}/store/store.ts`,
    find: "const values = [job, uid, key, environment, script, spec, keptBytes, ...changingValues(record)];",
    replace:
      "const values = [job, uid, key && null, environment, script, spec, keptBytes, ...changingValues(record)];",
    why: "a submit whose answer was lost makes its jobs a second time",
  },
  {
    name: "units are forgotten at a restart",
    file: `${DAEMON}/store/rows.ts`,
    find: 'units: typeof row.units === "string" ? JSON.parse(row.units) : undefined,',
    replace: "units: undefined,",
    why: "two jobs get the same GPU",
  },
  {
    name: "the limit of an array is forgotten at a restart",
    file: `${DAEMON}/store/rows.ts`,
    find: "const { arrayAtOnce: arrayLimit, ...spec } = JSON.parse(String(row.spec));",
    replace:
      "const { arrayAtOnce: _, ...spec } = JSON.parse(String(row.spec));\n  const arrayLimit = undefined;",
    why: "more jobs of an array run than it allows",
  },
  {
    name: "starting jobs do not count against a limit",
    file: `${DAEMON}/book/job-limits.ts`,
    find: "if (hasProcess(after.state) && limits.length > 0)",
    replace: 'if (hasProcess(after.state) && after.state !== "starting" && limits.length > 0)',
    why: "a user has more running jobs than allowed",
  },
  {
    name: "a start that was not seen is not noted",
    file: `${DAEMON}/dispatch/dispatcher.ts`,
    find: "const record = noteStart(this.#context, known, end.startedAtMs);",
    replace: "const record = known;",
    why: "an attempt that began and ended while the front end was away has no start, and no hook for it",
  },
  {
    name: "no start hook for a second attempt",
    file: `${DAEMON}/dispatch/noted.ts`,
    find: "  news.started(running);\n",
    replace: "  if (record.attempt === 1) news.started(running);\n",
    why: "a hook is left out",
  },
  {
    name: "a stop is not repeated",
    file: `${DAEMON}/dispatch/dispatcher.ts`,
    find: "    if (record.ending !== undefined) {\n",
    replace: "    if (record.ending !== undefined && !this.#isSameBoot) {\n",
    why: "a cancel that was acknowledged while no conductor was there is forgotten",
  },
  {
    name: "an attempt of before a reboot is launched again",
    file: `${DAEMON}/dispatch/dispatcher.ts`,
    find: "const isSameBoot = this.#isSameBoot || !executor.capabilities.endsWithReboot;",
    replace: "const isSameBoot = executor !== undefined;",
    why: "a job whose claim was not synced runs twice under one number of its attempt",
  },
  {
    name: "one retry too many",
    file: `${DAEMON}/dispatch/retries.ts`,
    find: "if (starts > retries) return undefined;",
    replace: "if (starts > retries + 1) return undefined;",
    why: "a job that fails runs more often than its user allowed",
  },
  {
    name: "the end by a limit is retried",
    file: `${DAEMON}/dispatch/retries.ts`,
    find: 'const own = reason === "none" ? (signal ?? String(code)) : undefined;',
    replace: 'const own = reason !== "cancelled" ? (signal ?? String(code)) : undefined;',
    why: "a job with a limit as a fence runs again and again",
  },
  {
    name: "a retry's delay by Unix time",
    file: `${DAEMON}/dispatch/retry-delays.ts`,
    find: ": record.notBeforeMs + movedMs;",
    replace: ": record.notBeforeMs;",
    why: "the next attempt comes too early or late when the clock was set",
  },
  {
    name: "begin by monotonic time",
    file: `${DAEMON}/dispatch/waiting-jobs.ts`,
    find: "const unixMs = clock.unixMs();\n    for (const record of book.takeDue(unixMs, MAX_DUE_IN_CYCLE)) {",
    replace:
      "const unixMs = clock.unixMs();\n    (this as any).ahead ??= clock.unixMs() - clock.nowMs();\n    for (const record of book.takeDue(clock.nowMs() + (this as any).ahead, MAX_DUE_IN_CYCLE)) {",
    why: "a job begins before the time that its user set",
  },
  {
    name: "nothing wakes after a clock step",
    file: "packages/host/clock.ts",
    find: "nowMs + Math.min(LOOK_MS, Math.max(0, leftMs))",
    replace: "nowMs + Math.max(0, leftMs)",
    why: "an idle scheduler starts a job hours after its begin has come",
  },
  {
    name: "a drain is forgotten at a restart",
    file: `${DAEMON}/front-end/front-end.ts`,
    find: "    machine.drain = storedDrain(store);\n",
    replace: "    void storedDrain(store);\n",
    why: "jobs start on a machine that an administrator has drained",
  },
  {
    name: "windows are forgotten at a restart",
    file: `${DAEMON}/windows.ts`,
    find: "if (text !== undefined) this.#windows.set(JSON.parse(text));",
    replace: "",
    why: "jobs start in a window that is kept for nobody",
  },
  {
    name: "a refused cycle is not rolled back in the book",
    file: `${DAEMON}/front-end/cycle.ts`,
    find: "    book.rollback();\n",
    replace: "",
    why: "after a full disk, the front end acts on changes that were never written",
  },
  {
    name: "hooks of a killed runner are not run again",
    file: `${DAEMON}/news/runner-process.ts`,
    find: "    this.#child = undefined;\n    this.#isReady = false;\n    this.#again",
    replace:
      "    this.#child = undefined;\n    this.#isReady = false;\n    this.#tasks.clear();\n    this.#again",
    why: "a hook is left out, and later ones of its user wait for ever",
  },
  {
    name: "a restored store runs jobs again",
    file: `${DAEMON}/dispatch/earlier-starts.ts`,
    find: "if (latest <= attempt) return undefined;",
    replace: "if (latest <= attempt || attempt === 0) return undefined;",
    why: "after a restore, a job that has run in the meantime runs once more, and nobody has asked for it",
  },
  {
    name: "the log is not written again at the start",
    file: `${DAEMON}/store/store.ts`,
    find: "    makeLogDurable(path);\n",
    replace: "",
    why: "after a failed sync and a restart, a power cut takes all that was confirmed since",
  },
  {
    name: "attempts that the store does not know are killed",
    file: `${DAEMON}/dispatch/dispatcher.ts`,
    find: 'this.#outbox.push({ type: "keep", ...namedBy(attempt) });',
    replace: 'this.#outbox.push({ type: "stop", ...namedBy(attempt), kill: true, reason: "cancelled" });',
    why: "a restored store kills what has started since its backup",
  },
  {
    name: "a pause that the store does not know is undone",
    file: `${DAEMON}/dispatch/noted.ts`,
    find: "if (pausedAtMs !== undefined && !isPaused) {",
    replace: "if (pausedAtMs !== undefined && isPaused) {",
    why: "after a restore, a job that its user has paused runs on without a word",
  },
  {
    name: "a held job goes on saying that it runs",
    file: `${DAEMON}/dispatch/earlier-starts.ts`,
    find: "      store.noteAttemptEnd(end);\n    }\n    this.#holdIfWaiting(record);",
    replace: "      store.noteAttemptEnd(end);\n    }",
    why: "after a restore, nobody learns that the attempt which the store did not know has ended",
  },
  {
    name: "the policy sees another limit",
    file: `${DAEMON}/scheduling/live-jobs.ts`,
    find: "estimateMs: record.estimateMs,",
    replace: "estimateMs: record.estimateMs * (1 + (record.job % 3)),",
    why: "jobs start at other times than in a simulation of the same workload, and later than they could",
  },
];
