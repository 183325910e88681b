import { expect, test } from "vitest";
import { checkSshOptions } from "./ssh-options.ts";

test("options about how hosts are reached are accepted, with their values", () => {
  checkSshOptions([
    "-F",
    "config",
    "-i",
    "key",
    "-o",
    "ProxyJump=gate",
    "-p",
    "2222",
    "-4",
    "-l",
    "-odd",
    "-v",
  ]);
});

test.each(["-f", "-N", "-n", "-T", "-W", "-L", "-S", "--", "other-host"])("%s is refused", (word) => {
  expect(() => checkSshOptions(["-i", "key", word])).toThrow(`Cannot give ssh the option "${word}"`);
});
