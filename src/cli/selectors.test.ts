import { describe, expect, test } from "vitest";
import type { Client } from "../api/client.ts";
import type { Job } from "../api/contract.ts";
import { NotFoundError, UsageError } from "./errors.ts";
import { ACTIVE, isNamed, parseSelector, selectJobs } from "./selectors.ts";
import { bytes, chooseEnvironment } from "./submit-options.ts";

const jobs = [
  { job: 3, name: "sim-a", state: "done", queue: "main", user: "ada" },
  { job: 4, name: "sim-b", state: "running", queue: "short", user: "ada" },
  { job: 5, name: "a.*b", state: "failed", queue: "main", user: "bob" },
  { job: 8, name: "last", state: "queued", queue: "main", user: "bob" },
] as Job[];
const client = { jobs: async () => ({ schema: "tutti.jobs/1", jobs }) } as unknown as Client;

describe("selectJobs()", () => {
  test.each([
    [["7"], [7]],
    [
      ["7,4", "4"],
      [4, 7],
    ],
    [["4-7"], [4, 5]],
    [["last"], [8]],
    [["all"], [3, 4, 5, 8]],
    [["state:failed"], [5]],
    [["name:sim-*"], [3, 4]],
    [["name:a.*b"], [5]],
    [["name:*a*"], [3, 5, 8]],
    [
      ["queue:short", "@bob"],
      [4, 5, 8],
    ],
  ])("%j means %j", async (words, numbers) => {
    expect(await selectJobs(client, words)).toEqual(numbers);
  });

  test("a pattern means only jobs in the states asked for; a number means its job", async () => {
    expect(await selectJobs(client, ["all", "3"], ["queued", "running"])).toEqual([3, 4, 8]);
    await expect(selectJobs(client, ["state:done"], ["queued"])).rejects.toThrow(NotFoundError);
    expect(await selectJobs(client, ["3-8"], ["queued", "running"])).toEqual([4, 8]);
  });

  test("what matches nothing is named as it was given, and which states were looked at", async () => {
    await expect(selectJobs(client, ["4,5", "name:x"], ["held"])).rejects.toThrow(
      'Cannot find a job for "name:x": no job that is held matches; tutti jobs --all lists them',
    );
    const none = { jobs: async () => ({ schema: "tutti.jobs/1", jobs: [] }) } as unknown as Client;
    await expect(selectJobs(none, ["all"], ACTIVE)).rejects.toThrow(
      /"all": no job that waits or runs matches/,
    );
  });

  test("only a number alone names its job", () => {
    expect([3, 4, 5].map((job) => isNamed(job, ["3", "4-5", "all"]))).toEqual([true, false, false]);
  });

  test.each(["", "x", "9-3", "state:", "state:sleeping", "1--3", "-1", "name:", "all:", "1e3", "__proto__"])(
    "%j is no selector",
    (text) => {
      expect(() => parseSelector(text)).toThrow(UsageError);
    },
  );

  test("a range or pattern that matches nothing says so", async () => {
    await expect(selectJobs(client, ["100-200"])).rejects.toThrow(/Cannot find a job for "100-200"/);
    await expect(selectJobs(client, ["name:nobody"])).rejects.toThrow(NotFoundError);
  });
});

describe("chooseEnvironment()", () => {
  const env = { HOME: "/h", OMP_A: "1", OMP_B: "2", TOKEN: "secret" };

  test.each([
    ["all", env],
    ["none", {}],
    ["HOME", { HOME: "/h" }],
    ["OMP_*,HOME", { HOME: "/h", OMP_A: "1", OMP_B: "2" }],
    ["none,X=1=2", { X: "1=2" }],
    ["all,HOME=/x", { ...env, HOME: "/x" }],
    ["MISSING", {}],
  ])("%s", (spec, chosen) => {
    expect(chooseEnvironment(spec, env)).toEqual(chosen);
  });
});

describe("bytes()", () => {
  test("reads sizes with a unit", () => {
    expect(["1K", "512M", "2G", "1.5GiB", "1t"].map(bytes)).toEqual([
      1024,
      2 ** 29,
      2 ** 31,
      1.5 * 2 ** 30,
      2 ** 40,
    ]);
    for (const text of ["", "5", "G", "-1G", "1X", "0G", "9999999T"])
      expect(() => bytes(text), text).toThrow(/Expected a size/);
  });
});
