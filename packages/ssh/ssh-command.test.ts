import { expect, test } from "vitest";
import { withCure } from "./ssh-command.ts";

const HOST = { node: "elm", destination: "anna@elm" };

test.each([
  ["Host key verification failed", "; connect once by hand, and look at its key: ssh -F config anna@elm"],
  [
    "anna@elm: Permission denied (publickey)",
    "; ssh-copy-id anna@elm puts your key there; ssh-keygen makes one",
  ],
  ["connect to host elm port 22: No route to host", "; is it on? try ssh -F config anna@elm true"],
  ["no answer for 20 s", "; is it on? try ssh -F config anna@elm true"],
  ["kex_exchange_identification: read: Connection reset by peer", ""],
])("%s: says what to do, if that is known", (failure, more) => {
  expect(withCure(failure, ["-F", "config"], HOST)).toBe(`${failure}${more}`);
});
