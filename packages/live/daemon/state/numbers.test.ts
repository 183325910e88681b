/**
 * Compares the file of numbers with a model: crashes and power failures between any two steps, older stores,
 * damaged files.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { bootDigits, formatNumbers, type LineFile, lineFile, NumbersFile, parseNumbers } from "./numbers.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-numbers-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, String(++files));

const boot = bootDigits("boot");

class Crash extends Error {}

/** A disk that keeps synced data, and a random part of the rest after a power failure. */
class FakeDisk implements LineFile {
  synced: string | undefined;
  written: string | undefined;
  /** Number of steps until everything ends. */
  stepsLeft = Number.POSITIVE_INFINITY;

  step(): void {
    if (this.stepsLeft-- <= 0) throw new Crash();
  }

  read = () => this.written;
  write(line: string): void {
    this.step();
    this.written = line;
  }
  sync(): void {
    this.step();
    this.synced = this.written;
  }
  close = () => {};
}

/** The committed state of a store. */
interface Commit {
  readonly job: number;
  readonly event: number;
}

describe("numbers against a model", () => {
  interface Step {
    /** crash: written data stay; power: data that were not synced may be lost. */
    readonly end: "none" | "crash" | "power";
    readonly jobs: number;
    /** Steps of the cycle before the failure. */
    readonly after: number;
    readonly keeps: boolean;
    /** Age of the backup that is restored then. */
    readonly back: number | undefined;
  }
  const step: fc.Arbitrary<Step> = fc.record({
    end: fc.constantFrom("none" as const, "crash" as const, "power" as const),
    jobs: fc.integer({ min: 0, max: 3 }),
    after: fc.integer({ min: 0, max: 5 }),
    keeps: fc.boolean(),
    back: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 3 }),
  });

  test("no number is confirmed twice, and exactly the older stores are noticed", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const disk = new FakeDisk();
        let store: Commit = { job: 0, event: 0 };
        let commits: Commit[] = [store];
        let isPutBack = false;
        /** Whether the file has the last commit, because no power failure has removed it. */
        let isNoted = true;
        const acknowledged = new Set<number>();
        let latest = 0;
        let numbers: NumbersFile;
        let boot = "0";

        /** The start of the front end; see store-age.ts. */
        const start = (): void => {
          disk.stepsLeft = Number.POSITIVE_INFINITY;
          numbers = new NumbersFile(disk, boot);
          const found = numbers.found ?? { job: 0, event: 0 };
          const isOlder = found.job > store.job || found.event > store.event;
          if (isPutBack) expect(isOlder || !isNoted).toBe(true);
          else expect(isOlder).toBe(false);
          latest = Math.max(store.job, numbers.givenAtMost);
          isPutBack = false;
          // The warning is an event of the first cycle, and the store accounts for lost and skipped numbers.
          store = { job: latest, event: Math.max(store.event, found.event) + 1 };
          numbers.begin({ reserved: latest, ...store });
          commits.push(store);
          isNoted = true;
        };
        const turn = (count: number): void => {
          const last = latest + count;
          if (count > 0) numbers.give(last);
          disk.step();
          store = { job: count > 0 ? last : store.job, event: store.event + 1 };
          commits.push(store);
          isNoted = false;
          numbers.committed(count > 0 ? last : undefined, store.event);
          isNoted = true;
          for (let job = latest + 1; job <= last; job++) {
            expect(acknowledged.has(job)).toBe(false);
            acknowledged.add(job);
          }
          latest = last;
        };

        start();
        for (const { end, jobs, after, keeps, back } of steps) {
          if (end !== "none") disk.stepsLeft = after;
          try {
            turn(jobs);
          } catch (error) {
            if (!(error instanceof Crash)) throw error;
          }
          if (end === "none") continue;
          if (end === "power") boot += "+";
          if (end === "power" && !keeps) {
            disk.written = disk.synced;
            isNoted = false;
          } else disk.synced = disk.written;
          if (back !== undefined) {
            isPutBack = commits.length > 1;
            commits = commits.slice(0, Math.max(1, commits.length - back));
            store = commits.at(-1)!;
          }
          start();
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a line is read as it was written, and any changed byte is noticed", () => {
    const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.record({ reserved: number, job: number, event: number }), fc.nat(), (numbers, at) => {
        const line = formatNumbers(numbers, boot);
        expect(line).toHaveLength(formatNumbers({ reserved: 0, job: 0, event: 0 }, boot).length);
        expect(parseNumbers(line)).toEqual({ ...numbers, boot });
        const bytes = Buffer.from(line);
        bytes[at % bytes.length] ^= 1;
        expect(parseNumbers(bytes.toString("latin1"))).toBeUndefined();
        expect(parseNumbers(line.slice(0, at % line.length))).toBeUndefined();
      }),
    );
  });
});

describe("the file", () => {
  test("is private to its owner, and overwritten in place", () => {
    const path = newPath();
    const numbers = new NumbersFile(lineFile(path), "boot");
    expect([numbers.found, numbers.problem]).toEqual([undefined, "missing"]);
    numbers.begin({ reserved: 3, job: 2, event: 9 });
    const { ino, mode, size } = statSync(path);
    expect(mode & 0o777).toBe(0o600);
    numbers.give(7);
    numbers.give(5);
    numbers.committed(7, 11);
    numbers.close();
    expect(statSync(path)).toMatchObject({ ino, size });
    const again = new NumbersFile(lineFile(path), "boot");
    expect([again.found, again.problem]).toEqual([{ reserved: 7, job: 7, event: 11, boot }, undefined]);
    again.close();
  });

  test.each([
    ["cut off", (line: string) => line.slice(0, 40)],
    ["empty", () => ""],
    ["of another program", () => "hello\n"],
    ["longer", (line: string) => `${line}more`],
    ["changed", (line: string) => line.replace("7", "8")],
  ])("that is %s is reported as damaged, and is complete after the next start", (_, change) => {
    const path = newPath();
    writeFileSync(path, change(formatNumbers({ reserved: 7, job: 7, event: 7 }, boot)));
    const numbers = new NumbersFile(lineFile(path), "boot");
    expect([numbers.found, numbers.problem]).toEqual([undefined, "damaged"]);
    numbers.begin({ reserved: 1, job: 1, event: 1 });
    numbers.close();
    expect(readFileSync(path, "utf8")).toBe(formatNumbers({ reserved: 1, job: 1, event: 1 }, boot));
  });

  test("that was removed is made again with the same numbers", () => {
    const path = newPath();
    const numbers = new NumbersFile(lineFile(path), "boot");
    numbers.begin({ reserved: 3, job: 2, event: 9 });
    rmSync(path);
    numbers.give(8);
    expect(existsSync(path)).toBe(false);
    numbers.recreate();
    expect(parseNumbers(readFileSync(path, "utf8"))).toEqual({ reserved: 1008, job: 2, event: 9, boot });
    numbers.close();
  });
});
