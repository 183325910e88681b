import { isRefusal } from "@tutti/protocol/refusal.ts";
import { expect, test } from "vitest";
import { RequestQuota } from "./request-quota.ts";

const caller = { uid: 1000, user: "ada", isAdministrator: false };

/** Number of such requests that one user may have open. */
function maxAtOnce(headers: Record<string, string>, weight?: number): number {
  const load = new RequestQuota();
  const request = new Request("http://localhost/v1/jobs/1/cancel", { method: "POST", headers });
  for (let count = 0; ; count++) if (isRefusal(load.take(caller, request, weight))) return count;
}

test("a user has few open requests for forecasts, so that other users' forecasts need not wait", () => {
  expect(maxAtOnce({ "content-length": "30" }, 128)).toBe(3);
});

test("a request counts by its body; without length and encoding, it has none", () => {
  expect(maxAtOnce({})).toBe(512);
  expect(maxAtOnce({ "content-length": "0" })).toBe(512);
  expect(maxAtOnce({ "content-length": "10" })).toBe(256);
  expect(maxAtOnce({ "transfer-encoding": "chunked" })).toBeLessThan(10);
});
