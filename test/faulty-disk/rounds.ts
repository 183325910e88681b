/**
 * The shipped store, with Node's own SQLite, on a disk that refuses, and that forgets at a power cut what was
 * not synced. In each round a real process changes the store until something happens; then the next one must
 * find a sound store with all that was acknowledged and nothing that was not asked.
 *
 *   node test/faulty-disk/rounds.ts SEED ROUNDS
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { COMPILER_FLAG } from "@tutti/lab/experiments/compiler-flag.ts";
import { Draws } from "@tutti/torture/world/random.ts";
import { checkStore } from "../../packages/live/daemon/store/check.ts";
import { miscounts } from "../../packages/live/daemon/store/ledger.ts";
import { Store } from "../../packages/live/daemon/store/store.ts";
import { type Contents, contentsOf } from "./contents.ts";
import { cutPower, readFolder } from "./disk.ts";

/** Of a writer, if nothing ends it before. */
const MOST_TRANSACTIONS = 20;
/** More than any writer has. */
const NUMBERS_OF_WRITER = 1000;
/** A writer makes some 500 changes, and syncs once for each transaction. */
const FAULTS = {
  none: { most: 1, times: [1] },
  kill: { most: 400, times: [1] },
  write: { most: 300, times: [1, 3, 1e9] },
  full: { most: 300, times: [1, 10, 1e9] },
  sync: { most: 8, times: [1, 2, 1e9] },
} as const;
const KINDS = ["kill", "write", "full", "sync", "sync", "none", "none"] as const;
/** Writers after each other, before the power may fail: the next one reads what was not synced. */
const MOST_WRITERS = 3;
/** After that many rounds there is a new store: what is done first is tried, too. */
const ROUNDS_OF_STORE = 10;

export interface Counts {
  readonly problems: readonly string[];
  readonly rounds: number;
  readonly killed: number;
  readonly powerCuts: number;
  readonly acknowledged: number;
  readonly refused: number;
}

export async function runOnFaultyDisk(seed: number, rounds: number): Promise<Counts> {
  const top = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-disk-"));
  try {
    const library = join(top, "disk.so");
    const source = fileURLToPath(new URL("disk.c", import.meta.url));
    execFileSync("gcc", ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source]);
    return await new Rounds(top, library, seed).run(rounds);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

class Rounds {
  readonly #folder: string;
  readonly #log: string;
  readonly #library: string;
  readonly #seed: number;
  readonly #problems: string[] = [];
  readonly #counts = { killed: 0, powerCuts: 0, acknowledged: 0, refused: 0 };
  /** What the store has surely. */
  #last: Contents = { number: 0, digest: "" };
  /** What each later transaction would leave: it was refused, or its writer has ended. */
  readonly #begun = new Map<number, string>();

  constructor(top: string, library: string, seed: number) {
    this.#folder = join(top, "state");
    this.#log = join(top, "log");
    this.#library = library;
    this.#seed = seed;
  }

  async run(rounds: number): Promise<Counts> {
    for (let round = 0; round < rounds; round++) {
      if (round % ROUNDS_OF_STORE === 0) this.#makeStore();
      await this.#round(round);
    }
    return { problems: this.#problems, rounds, ...this.#counts };
  }

  #makeStore(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
    this.#last = { number: 0, digest: "" };
  }

  async #round(round: number): Promise<void> {
    const random = new Draws(this.#seed * 1e6 + round);
    const before = readFolder(this.#folder);
    rmSync(this.#log, { force: true });
    this.#begun.clear();
    let what = `seed ${this.#seed}, round ${round}`;
    for (let writer = random.between(1, MOST_WRITERS); writer > 0; writer--) {
      const kind = random.pick(KINDS);
      const { most, times } = FAULTS[kind];
      const fault = { kind, at: random.between(1, most), times: random.pick<number>(times) };
      await this.#write(round * MOST_WRITERS + writer, random.between(1, MOST_TRANSACTIONS), fault);
      what += `, ${kind} ${fault.at} (${fault.times} times)`;
    }
    if (random.chance(0.7)) {
      cutPower(this.#folder, before, this.#log, random);
      this.#counts.powerCuts++;
      what += ", power cut";
    }
    try {
      this.#judge(what);
    } catch (error) {
      this.#problems.push(`${what}: ${error instanceof Error ? error.stack : error}`);
      this.#makeStore();
    }
  }

  async #write(
    order: number,
    transactions: number,
    { kind, at, times }: { kind: string; at: number; times: number },
  ): Promise<void> {
    const writer = fileURLToPath(new URL("writer.ts", import.meta.url));
    const first = order * NUMBERS_OF_WRITER;
    const words = [join(this.#folder, "tutti.db"), this.#seed + order, first, transactions];
    const child = spawn(process.execPath, [COMPILER_FLAG, writer, ...words.map(String)], {
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        ...process.env,
        LD_PRELOAD: this.#library,
        FAULTY_DISK_FOLDER: this.#folder,
        FAULTY_DISK_LOG: this.#log,
        FAULTY_DISK_KIND: kind,
        FAULTY_DISK_AT: String(at),
        FAULTY_DISK_TIMES: String(times),
      },
    });
    const begun = this.#begun;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [what, number, digest] = line.split(" ");
      if (what === "begun") begun.set(Number(number), digest);
      else if (what === "refused") this.#counts.refused++;
      else {
        this.#counts.acknowledged++;
        this.#last = { number: Number(number), digest: begun.get(Number(number)) ?? "" };
        begun.clear();
      }
    });
    const [, signal] = await once(child, "close");
    if (signal === "SIGKILL") this.#counts.killed++;
  }

  #judge(what: string): void {
    const path = join(this.#folder, "tutti.db");
    const store = new Store(path, 0);
    const found = contentsOf(store);
    store.close();
    const { number, digest } = this.#last;
    const expected = new Map(this.#begun).set(number, digest);
    if (number === 0) expected.set(0, found.digest);
    if (expected.get(found.number) !== found.digest)
      this.#problems.push(
        `${what}: the store has transaction ${found.number} with ${found.digest}, expected one of ${JSON.stringify([...expected])}`,
      );
    const database = new DatabaseSync(path, { readOnly: true });
    for (const problem of [...checkStore(path, database).problems, ...miscounts(database)])
      this.#problems.push(`${what}: ${problem}`);
    database.close();
    this.#last = found;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seed = "1", rounds = "100"] = process.argv.slice(2);
  const { problems, ...counts } = await runOnFaultyDisk(Number(seed), Number(rounds));
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
  console.log(JSON.stringify(counts));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
