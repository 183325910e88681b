/**
 * Walks everything that a policy can reach, and checks that nothing of it depends on which jobs come later: a
 * policy lists all properties of the objects that it is handed, with their prototypes, and what their
 * functions answer, before each arrival. It does so in worlds with the same past and other futures.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { definePolicy } from "@tutti/kernel/policies/define-policy.ts";
import { instanceOf, type TestJob } from "@tutti/kernel/policies/instances-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPolicy } from "./own-policy.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-cheat-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Job = TestJob & { readonly user: string; readonly memoryKB?: number };
/** Jobs that arrive, and one that ends, before the futures differ, at 20 s. */
const PAST: readonly Job[] = [
  { submitS: 0, runS: 2, estimateS: 9, size: 1, user: "anna" },
  { submitS: 0, runS: 70, estimateS: 90, size: 2, user: "ben" },
  { submitS: 6, runS: 50, estimateS: 60, size: 3, user: "anna" },
  { submitS: 11, runS: 5, estimateS: 15, size: 1, user: "carl" },
];
const SPLIT_S = 20;
const many = (count: number, user: (i: number) => string, memoryKB?: number): readonly Job[] =>
  Array.from({ length: count }, (_, i) => ({
    submitS: SPLIT_S + i,
    runS: 1 + (i % 7),
    size: 1 + (i % 4),
    id: 5000 + 3 * i,
    user: user(i),
    ...(memoryKB !== undefined && { memoryKB }),
  }));
/** None; one of a known user; and many, beyond a power of two: of new users, of one user, with memory. */
const FUTURES: readonly (readonly Job[])[] = [
  [],
  [{ submitS: SPLIT_S, runS: 1, size: 4, user: "anna" }],
  many(200, (i) => `user ${i}`),
  many(300, () => "ben", 4096),
];

function worldOf(future: readonly Job[]): Instance {
  const all = [...PAST, ...future];
  const instance = instanceOf(4, all);
  const numbers = Int32Array.from(all, (_, job) => (job < PAST.length ? job : 7 * job + future.length));
  const column = (): Int32Array => numbers.slice();
  const trace = { user: column(), group: column(), queue: column(), application: column() };
  const users = { anna: 3, ben: 1 };
  return {
    ...instance,
    workload: {
      ...instance.workload,
      trace: trace as never,
      notes: all.map(({ user }) => ({ user })),
      shares: { halfLifeS: 100, users: {}, groups: { lab: { shares: 2, users } } },
    },
    shape: { processes: column(), threads: column(), queue: column() },
    molding: {
      minSize: new Int32Array(all.length).fill(1),
      maxSize: Int32Array.from(all, ({ size }, job) => (job < PAST.length ? size : 4)),
      serialShare: Float64Array.from(numbers, (number) => 1 / (1 + number)),
    },
    resources: [{ name: "gpu", amount: 9 }],
    demand: [Int32Array.from(all, (_, job) => (job < PAST.length ? 1 : 2))],
    ...(all.some(({ memoryKB }) => memoryKB) && {
      memoryKB: Float64Array.from(all, ({ memoryKB = -1 }) => memoryKB),
    }),
    interruptions: {
      outages: [{ first: 3, processors: 1, fromS: 900, untilS: 950, announcedS: 4 }],
      stops: [],
    },
  };
}

/**
 * The text of a function: what can be reached from a value, as lines. Functions are called without an
 * argument, with one (rows that exist, that may come, and that cannot be), and with more if they take more.
 */
const WALK = `
  const ROWS = [-1, 0, 1, 2, 3, 4, 5, 0.5, 63, 64, 203, 204, 255, 256, 303, 304, 4096, NaN, Infinity, undefined,
    "0", "length", "byteLength", "constructor", "__proto__"];
  const KNOWN = new Set([Object.prototype, Function.prototype, Array.prototype, Error.prototype]);
  for (const Kind of [Int32Array, Float64Array, Uint8Array, Map, Set, WeakMap])
    for (let at = Kind.prototype; at !== null; at = Object.getPrototypeOf(at)) KNOWN.add(at);
  function walk(root) {
    const lines = [], seen = new Map();
    const shown = (value) => typeof value === "string" ? JSON.stringify(value) : Object.is(value, -0) ? "-0" : String(value);
    const answer = (path, call) => {
      let value;
      try { value = call(); } catch (error) {
        lines.push(path + " throws " + error.name + ": " + error.message);
        for (const key of Reflect.ownKeys(error)) if (key !== "stack") lines.push(path + "!" + String(key) + " " + shown(error[key]));
        return;
      }
      visit(path, value);
    };
    const visit = (path, value) => {
      if ((typeof value !== "object" && typeof value !== "function") || value === null) {
        lines.push(path + " = " + shown(value));
        return;
      }
      if (seen.has(value)) { lines.push(path + " is " + seen.get(value)); return; }
      seen.set(value, path);
      lines.push(path + (Object.isFrozen(value) || typeof value === "function" ? "" : " open"));
      if (ArrayBuffer.isView(value)) {
        lines.push(path + " " + value.length + " of " + value.buffer.byteLength + " bytes: " + value.join(" "));
        return;
      }
      for (const key of Reflect.ownKeys(value)) {
        const name = path + "." + String(key);
        const property = Object.getOwnPropertyDescriptor(value, key);
        if ("value" in property) visit(name, property.value);
        else answer(name, () => value[key]);
      }
      if (typeof value === "function") {
        answer(path + "()", () => value());
        // Of runs that do not exist, the matrix knows no end.
        for (const row of path.includes(".next") ? ROWS.slice(0, 2) : ROWS) {
          answer(path + "(" + shown(row) + ")", () => value(row));
          answer(path + "(" + shown(row) + ", 0)", () => value(row, 0));
          if (value.length > 2) answer(path + "(" + shown(row) + ", 0, 0, 1)", () => value(row, 0, 0, 1));
        }
      }
      for (let above = Object.getPrototypeOf(value); above !== null && !KNOWN.has(above); above = Object.getPrototypeOf(above)) {
        lines.push(path + " inherits " + Reflect.ownKeys(above).map(String));
        for (const key of Reflect.ownKeys(above)) {
          if (key !== "constructor") answer(path + ".^" + String(key), () => value[key]);
        }
      }
    };
    visit("", root);
    return lines.join("\\n");
  }
`;

/** What the policy reached, by the instant: when it was made, at each end, before and after each decision. */
type Reached = readonly (readonly [atS: number, what: string])[];
const reachedBy = globalThis as { walked?: (readonly [number, string])[] };

const MADE = (sharing: string) => `({ name: "walker", sharing: "${sharing}",
     capabilities: { withdraw: true, restore: true }, copesWith: () => ["outages", "resources"],
     guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false, migrationS: 1 }),
     make(machine, jobs, parameters) {
       const look = (...more) => machine.nowS < ${SPLIT_S} && globalThis.walked.push([machine.nowS, walk([machine, jobs, parameters, ...more])]);
       look();
       return {
         depart(job) { look("depart", job); },
         withdraw() {}, restore() {},
         decide(arrived) {
           jobs.shares.update();
           look("decide", arrived);
           for (const job of arrived) {
             const calls = "${sharing}" === "space" ? [() => machine.start(job)]
               : [() => machine.place(job, machine.rowAt(0), 0), () => machine.place(job, machine.addRow(), 0)];
             calls.find((call) => { try { call(); return true; } catch { return false; } });
           }
           look("decided", arrived);
         } };
     } })`;

async function ownPolicy(sharing: string) {
  const file = join(folder, `${sharing}.mjs`);
  writeFileSync(file, `${WALK}\nexport default ${MADE(sharing)};`);
  return loadPolicy(file);
}

/** Up to the instant at which the futures differ. */
function reached(future: readonly Job[], choice: Parameters<typeof simulate>[1]): Reached {
  reachedBy.walked = [];
  simulate(worldOf(future), choice, { slotS: 1, switchS: 0 });
  return reachedBy.walked;
}

/** The first lines that differ, for a message that shows what leaks. */
function differences(a: Reached, b: Reached): readonly string[] {
  if (a.length !== b.length) return [`${a.length} looks, ${b.length} looks`];
  return a.flatMap(([atS, what], i) => {
    const others = b[i][1].split("\n");
    const own = what.split("\n");
    return own
      .flatMap((line, k) => (line === others[k] ? [] : [`at ${atS} s: ${line} | ${others[k]}`]))
      .slice(0, 5);
  });
}

describe.each(["space", "time"])("an own policy of %s sharing", (sharing) => {
  test("reaches nothing of jobs that have not arrived, of their users, and of their number", async () => {
    const choice = await ownPolicy(sharing);
    const nothing = reached(FUTURES[0], choice);
    const lookedAtS = nothing.map(([atS]) => atS);
    for (const atS of [0, 6, 11])
      expect(lookedAtS.filter((other) => other === atS).length).toBeGreaterThan(1);
    const all = nothing.map(([, what]) => what).join("\n");
    expect(all).toContain("has not arrived");
    expect(all).toMatch(/^\.1\.shares\.level\(1\) = [0-9.]*[1-9]/m);
    for (const future of FUTURES.slice(1)) expect(differences(reached(future, choice), nothing)).toEqual([]);
  });

  test("is handed only frozen objects, besides the columns that only it reads", async () => {
    const open = reached(FUTURES[2], await ownPolicy(sharing))
      .flatMap(([, what]) => what.split("\n"))
      .filter(
        (line) =>
          line.endsWith(" open") &&
          !/\.(size|submitS|estimateS|memoryKB)|^ |^\.(1\.(demand|origin|shape|molding)\.\w+|[34]) |prototype/.test(
            line,
          ),
      );
    expect([...new Set(open)]).toEqual([]);
  });
});

test.each(["space", "time"])(
  "the job table and the shares of a built-in policy of %s sharing hide the same",
  (sharing) => {
    const made = new Function(
      `${WALK}; return ${MADE(sharing).replace("walk([machine, jobs", "walk([jobs")};`,
    );
    const choice = makeChoice(definePolicy(made()));
    const nothing = reached(FUTURES[0], choice);
    for (const future of FUTURES.slice(1)) expect(differences(reached(future, choice), nothing)).toEqual([]);
  },
);
