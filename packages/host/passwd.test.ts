/** Tests which groups an account belongs to. */
import { expect, test } from "vitest";
import { groupLookup, groupsOf, readPasswd, userNameOf } from "./passwd.ts";

const ACCOUNTS = readPasswd("anna:x:1001:100::/:/bin/sh\nben:x:1002:1002::/:/bin/sh\n");
const GROUPS = "users:x:100:\nlab:x:2000:ben,anna\n\n+::::\nben:x:1002:\nodd:x:y:anna\nannas:x:3:annabel\n";

test.each([
  ["anna", 1001, ["users", "lab"]],
  ["ben", 1002, ["lab", "ben"]],
  // The account with this name has another number.
  ["anna", 1002, []],
  ["cid", 1003, []],
])("%s (%i) belongs to %j", (user, uid, groups) => {
  expect(groupsOf({ uid, user }, GROUPS, ACCOUNTS)).toEqual(groups);
});

test("the lookup knows the groups of the present user", () => {
  const uid = process.getuid!();
  const owner = { uid, user: userNameOf(uid) };
  expect(groupLookup()(owner)).toEqual(groupsOf(owner));
  expect(groupLookup()({ uid: 4_000_000_000, user: "nobody-at-all" })).toEqual([]);
});
