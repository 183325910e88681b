import { expect, test } from "vitest";
import { isRefusal } from "../../../protocol/refusal.ts";
import { RequestQuota } from "./request-quota.ts";

const caller = { uid: 1000, user: "ada", isAdministrator: false };

/** How many such requests of one user are let in at a time. */
function mostAtOnce(headers: Record<string, string>, weight?: number): number {
  const load = new RequestQuota();
  const request = new Request("http://localhost/v1/jobs/1/cancel", { method: "POST", headers });
  for (let count = 0; ; count++) if (isRefusal(load.take(caller, request, weight))) return count;
}

test("few requests for forecasts are open at a time, lest those of others wait for them", () => {
  expect(mostAtOnce({ "content-length": "30" }, 128)).toBe(3);
});

test("a request is counted by its body: one that states neither length nor encoding has none", () => {
  expect(mostAtOnce({})).toBe(512);
  expect(mostAtOnce({ "content-length": "0" })).toBe(512);
  expect(mostAtOnce({ "content-length": "10" })).toBe(256);
  expect(mostAtOnce({ "transfer-encoding": "chunked" })).toBeLessThan(10);
});
