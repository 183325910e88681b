/** Tests the accounts under which jobs run, and jobs that no account may run. */

import { readPasswd } from "@tutti/host/passwd.ts";
import { describe, expect, test } from "vitest";
import { ANNA, answerOf, BEN, makeBench, request, runToEnd } from "../front-end/front-end-for-tests.ts";
import { allAccounts, ownAccount } from "./accounts.ts";

const PASSWD = [
  "root:x:0:0:root:/root:/bin/bash",
  "anna:x:1001:100:Anna:/home/anna:/bin/bash",
  "anni:x:1001:1001:the same number:/home/anna:/bin/bash",
  "carl:x:1002:1002:has the number that was Ben's:/home/carl:/bin/bash",
  "broken",
  "",
].join("\n");

describe("allAccounts()", () => {
  const accounts = allAccounts({ uid: 0, gid: 0 }, () => readPasswd(PASSWD));

  test("returns the current group of the account with the submitter's name", () => {
    expect(accounts({ uid: 1001, user: "anna" })).toEqual({ uid: 1001, gid: 100 });
    expect(accounts({ uid: 1001, user: "anni" })).toEqual({ uid: 1001, gid: 1001 });
    expect(accounts({ uid: 0, user: "root" })).toEqual({ uid: 0, gid: 0 });
  });

  test("refuses an account that was deleted, and one whose id belongs to somebody else now", () => {
    expect(accounts({ uid: 1003, user: "dora" })).toEqual({
      refused:
        "Cannot start as user 1003 (dora): this account no longer exists, expected the account that submitted the job",
    });
    expect(accounts({ uid: 1002, user: "ben" })).toEqual({
      refused:
        "Cannot start as user 1002 (ben): this user id belongs to carl now, expected the account that submitted the job",
    });
  });
});

describe("a front end", () => {
  test.each([0, 2])(
    "launches no job of another user, retries %i: it fails with the reason, and the others go on",
    async (retries) => {
      const bench = makeBench({
        config: { policy: "fcfs" },
        accounts: ownAccount({ uid: ANNA.uid, gid: 1 }),
      });
      const submit = async (caller: typeof ANNA, fields: object) => {
        const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
        if ("refused" in answer) throw new Error(answer.message);
        return answer.jobs[0].job;
      };
      const theirs = await submit(BEN, { retries, tasks: 4 });
      const dependent = await submit(
        { ...ANNA, isAdministrator: true },
        { after: [{ job: theirs, ok: false }] },
      );
      const hopeless = await submit(
        { ...ANNA, isAdministrator: true },
        { after: [{ job: theirs, ok: true }] },
      );
      runToEnd(bench.clock);
      expect(bench.frontEnd.job(BEN, theirs)).toMatchObject({
        state: "failed",
        reason: expect.stringContaining("Cannot start as user 1002 (ben)"),
        attempt: 1 + retries,
      });
      expect(bench.frontEnd.job(ANNA, dependent)).toMatchObject({ state: "done" });
      expect(bench.frontEnd.job(ANNA, hopeless)).toMatchObject({ state: "cancelled" });
      expect(bench.machine.launched).toEqual([`${dependent}/1`]);
      const launches = bench.machine.sent.filter(({ type }) => type === "launch");
      expect(launches).toMatchObject([{ spec: { job: dependent, uid: ANNA.uid, gid: 1 } }]);
    },
  );
});
