import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inOwnFolder, readOutput, withUserHere } from "./own-folder.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tutti-own-"));
});
afterEach(() => rmSync(root, { recursive: true }));

test("a user is looked up by name, and one who is not here is named", () => {
  const { username, uid, gid } = userInfo();
  const spec = { folder: "/jobs/1", uid: 4711, gid: 4711 };
  expect(withUserHere(spec)).toBe(spec);
  expect(withUserHere({ ...spec, user: username })).toEqual({ ...spec, user: username, uid, gid });
  expect(() => withUserHere({ ...spec, user: "no such user" })).toThrow('there is no user "no such user" on');
});

test("the folder has host file, script and folders of tasks, private", () => {
  const folder = join(root, "12.1-a/1");
  const path = join(root, "12.1-a/script/job.sh");
  const base64 = Buffer.from("echo hi").toString("base64");
  const spec = { folder, ownFolder: { hosts: "elm slots=1\n", script: { path, base64 } } };
  for (let again = 0; again < 2; again++)
    expect(inOwnFolder(spec, [2, 3])).toEqual({ folder, ownFolder: { hosts: "" } });
  expect(readFileSync(join(folder, "hosts"), "utf8")).toBe("elm slots=1\n");
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["echo hi", 0o500]);
  expect(readdirSync(join(root, "12.1-a/tasks")).sort()).toEqual(["2", "3"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("output is read from a byte on; links, and files with other names, are not", () => {
  const of = { folder: join(root, "1") };
  mkdirSync(of.folder);
  writeFileSync(join(of.folder, "out"), `${"x".repeat(2 ** 20)}rest`);
  const textOf = ({ base64 }: { base64: string }) => Buffer.from(base64, "base64").toString();
  const first = readOutput(of, "out", 0);
  expect([textOf(first).length, first.left]).toEqual([2 ** 20, 4]);
  expect([textOf(readOutput(of, "out", 2 ** 20)), readOutput(of, "out", 2 ** 20).left]).toEqual(["rest", 0]);
  expect(readOutput(of, "out", 2 ** 20 + 99)).toEqual({ base64: "", left: 0 });
  const nothing = { base64: "", left: 0 };
  expect(readOutput(of, "err", 0)).toEqual(nothing);
  writeFileSync(join(root, "secret"), "secret");
  symlinkSync(join(root, "secret"), join(of.folder, "err"));
  expect(readOutput(of, "err", 0)).toEqual(nothing);
  rmSync(join(of.folder, "err"));
  linkSync(join(root, "secret"), join(of.folder, "err"));
  expect(readOutput(of, "err", 0)).toEqual(nothing);
});
