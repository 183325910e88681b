import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { ADA, BOB, makeTestApp, someJob, type TestApp } from "@tutti/live/api/server/app-for-tests.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NotFoundError, UsageError } from "../errors.ts";
import { chooseEnvironment } from "../options/job-values.ts";
import { bytes } from "../options/parse.ts";
import { missingText } from "./job-lists.ts";
import { namedJobs, parseSelector, select, selectJobs } from "./selectors.ts";

/** The scheduler keeps jobs 3, 4, 5 and 8; the others are forgotten. */
let app: TestApp;
beforeEach(async () => {
  app = makeTestApp();
  const submit = async (caller: Caller, name: string, queue = "main") =>
    await app.service.submit(caller, [someJob({ name, queue })]);
  for (const i of [1, 2]) await submit(BOB, `forgotten-${i}`);
  await submit(ADA, "sim-a");
  await submit(ADA, "sim-b", "short");
  await submit(BOB, "a.*b");
  for (const i of [6, 7]) await submit(BOB, `forgotten-${i}`);
  await submit(BOB, "last");
  app.service.finish(3);
  app.service.start(4);
  app.service.finish(5, 1);
  for (const job of [1, 2, 6, 7]) app.service.forgetJob(job);
});
afterEach(() => app.remove());

/** A client of that scheduler. */
const client = {
  ask: async (path: string) => {
    const { status, json } = await app.ask("GET", path);
    if (status >= 400) throw new RefusedError(json.refused, json.message);
    return json;
  },
} as unknown as Client;

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
  ])("%j selects %j", async (words, numbers) => {
    expect(await selectJobs(client, words)).toEqual(numbers);
  });

  test("a pattern selects only jobs in the given states; a number always selects its job", async () => {
    expect(await selectJobs(client, ["all", "3"], ["queued", "running"])).toEqual([3, 4, 8]);
    await expect(selectJobs(client, ["state:done"], ["queued"])).rejects.toThrow(NotFoundError);
    expect(await selectJobs(client, ["3-8"], ["queued", "running"])).toEqual([4, 8]);
  });

  test("a selector without a match is named in the error, with the states that were searched", async () => {
    await expect(selectJobs(client, ["4,5", "name:x"], ["held"])).rejects.toThrow(
      'Cannot find a job for "name:x": no job that is held matches; tutti jobs --all lists all jobs',
    );
    app.service.forget();
    await expect(selectJobs(client, ["all"], ACTIVE_STATES)).rejects.toThrow(
      /"all": no waiting or running job matches/,
    );
  });

  test("numbers of a range without a job are reported, with the reason", async () => {
    const { numbers, missing } = await select(client, ["2-9"]);
    expect(numbers).toEqual([3, 4, 5, 8]);
    expect(missingText(missing)).toBe("jobs 2, 6-7 are forgotten; there is no job 9 yet");
    await expect(selectJobs(client, ["6-7"])).rejects.toThrow(
      'Cannot find a job for "6-7": jobs 6-7 are forgotten',
    );
  });

  test("only a single number names its job", () => {
    expect([...namedJobs(["3", "4-5", "all"])]).toEqual([3]);
  });

  test.each(["", "x", "9-3", "state:", "state:sleeping", "1--3", "-1", "name:", "all:", "1e3", "__proto__"])(
    "%j is no selector",
    (text) => {
      expect(() => parseSelector(text)).toThrow(UsageError);
    },
  );

  test("a range or pattern that matches nothing says so", async () => {
    await expect(selectJobs(client, ["100-200"])).rejects.toThrow(/Cannot find a job for "100-200"/);
    await expect(selectJobs(client, ["state:done"], ["held"])).rejects.toThrow(/no job that is held matches/);
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
      expect(() => bytes(text), text).toThrow(/expected a size/);
  });
});
