import { expect, test } from "vitest";
import { bodyOf, NO_FIELDS, readFields, submitLine, whatIfLine } from "./question.ts";

test("nothing is asked until something is changed", () => {
  expect(bodyOf(NO_FIELDS)).toBeUndefined();
  expect(bodyOf(readFields({ view: "x", policy: "  " }))).toBeUndefined();
});

test("the request and the command line say the same", () => {
  const fields = readFields({
    tasks: "4",
    threads: "2",
    use: "gpu:2, licence",
    limit: "1.5 h",
    queue: "short",
    without: "2",
    policy: "gang:rows=3",
  });
  expect(bodyOf(fields)).toEqual({
    policies: ["gang:rows=3"],
    jobs: [{ tasks: 4, threads: 2, use: { gpu: 2, licence: 1 }, limitMs: 5_400_000, queue: "short" }],
    withoutCpus: 2,
  });
  expect(whatIfLine(fields)).toBe(
    "tutti whatif gang:rows=3 --job '-n 4 -c 2 --use gpu:2,licence --time 1.5h --queue short' --without-cpus 2",
  );
  expect(submitLine(fields)).toBe(
    "tutti submit -n 4 -c 2 --use gpu:2,licence --time 1.5h --queue short -- COMMAND",
  );
  expect(bodyOf({ ...NO_FIELDS, limit: "90s" })).toEqual({ jobs: [{ limitMs: 90_000 }] });
});

test("a limit without a unit is in seconds, and the command line says so", () => {
  const fields = { ...NO_FIELDS, limit: "600" };
  expect(bodyOf(fields)).toEqual({ jobs: [{ limitMs: 600_000 }] });
  expect(submitLine(fields)).toBe("tutti submit --time 600s -- COMMAND");
});

test("names from a link stay one word of the command line", () => {
  const fields = { ...NO_FIELDS, queue: "a b'; rm -rf ~ #" };
  expect(submitLine(fields)).toBe(`tutti submit --queue 'a b'\\''; rm -rf ~ #' -- COMMAND`);
});

test("what cannot be read is refused by name", () => {
  for (const tasks of ["0", "-1", "1.5", "1e999", "1e99", "65537", "many"])
    expect(() => bodyOf({ ...NO_FIELDS, tasks })).toThrow(
      `The number of tasks of the job is "${tasks}": write a whole number from 1 to 65536.`,
    );
  for (const limit of ["soon", "0", "3650.1d", "99999999999999999999h"])
    expect(() => bodyOf({ ...NO_FIELDS, limit })).toThrow(
      `The limit is "${limit}": write a duration from 1ms to 3650d, such as 90s, 10m or 2h.`,
    );
  expect(bodyOf({ ...NO_FIELDS, limit: "3650d" })).toEqual({ jobs: [{ limitMs: 315_360_000_000 }] });
  expect(() => bodyOf({ ...NO_FIELDS, use: "gpu:none" })).toThrow('The resources are "gpu:none"');
  expect(() => bodyOf({ ...NO_FIELDS, without: "x" })).toThrow("The number of CPUs to take away");
});
