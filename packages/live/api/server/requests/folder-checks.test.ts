import { expect, test } from "vitest";
import { FolderChecks } from "./folder-checks.ts";

/** Checks that end only when the test says so, in the order in which they began. */
function heldChecks() {
  const began: string[] = [];
  const ends: ((why: string | undefined) => void)[] = [];
  const checks = new FolderChecks((path) => {
    began.push(path);
    return new Promise((resolve) => ends.push(resolve));
  });
  return { checks, began, ends };
}

const endOfPass = () => new Promise<void>((resolve) => setImmediate(resolve));

test("requests of one pass share the check of a folder", async () => {
  const { checks, began, ends } = heldChecks();
  const answers = [checks.whyNot("/a"), checks.whyNot("/b"), checks.whyNot("/a")];
  await endOfPass();
  expect(began).toEqual(["/a", "/b"]);
  ends[0]("does not exist");
  ends[1](undefined);
  expect(await Promise.all(answers)).toEqual(["does not exist", undefined, "does not exist"]);
});

test("a request that comes after a check has begun gets a check of its own", async () => {
  const { checks, began, ends } = heldChecks();
  const early = checks.whyNot("/a");
  await endOfPass();
  // The client has made the folder in the meantime.
  const late = checks.whyNot("/a");
  await endOfPass();
  expect(began).toEqual(["/a", "/a"]);
  ends[1](undefined);
  ends[0]("does not exist");
  expect(await early).toBe("does not exist");
  expect(await late).toBe(undefined);
});
