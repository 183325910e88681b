/** Tests which users get a token for a shared scheduler. */

import { readPasswd } from "@tutti/host/passwd.ts";
import { describe, expect, test } from "vitest";
import { people } from "./people.ts";

const PASSWD = readPasswd(
  [
    "root:x:0:0::/root:/bin/sh",
    "toor:x:0:0:another name:/root:/bin/sh",
    "daemon:x:1:1::/:/bin/sh",
    "web:x:999:999::/:/bin/bash",
    "ada:x:1000:1000::/home/ada:/bin/zsh",
    "bob:x:1001:1001::/home/bob:",
    "backup:x:1002:1002::/:/usr/sbin/nologin",
    "mail:x:1003:1003::/:/bin/false",
    "last:x:60000:60000::/:/bin/sh",
    "slurm:x:64030:64030::/:/bin/bash",
    "nobody:x:65534:65534::/:/bin/sh",
    "far:x:100000:100000::/:/bin/sh",
    "",
    "broken",
    "+nis",
  ].join("\n"),
);
const names = (loginDefs: string) => people(PASSWD, loginDefs).map(({ user }) => user);

describe("people()", () => {
  test("are root and users who can log in, within the machine's range for people", () => {
    expect(names("UID_MIN\t\t 1000\nUID_MAX   60000\nSYS_UID_MAX 999\n")).toEqual([
      "root",
      "ada",
      "bob",
      "last",
    ]);
    expect(names("# UID_MAX 70000\nUID_MIN 1001\n  UID_MAX 64030\n")).toEqual([
      "root",
      "bob",
      "last",
      "slurm",
    ]);
  });

  test("have the default range if the machine has none; the account nobody never counts", () => {
    expect(names("")).toEqual(["root", "ada", "bob", "last"]);
    expect(names("UID_MAX 4294967294\n")).toEqual(["root", "ada", "bob", "last", "slurm", "far"]);
  });
});
