import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { reloadWhenProven } from "./come-back.ts";

const KEY = Buffer.alloc(32, 7);
const SESSION = {
  ...{ token: "secret", user: "ada", isAdministrator: false, expiresAtMs: 1e15 },
  ...{ id: "x".repeat(22), proofKey: KEY.toString("base64url") },
};

/** What each request in turn finds on the port; then the scheduler. */
function worldWith(...found: ("nobody" | "another process" | "the scheduler")[]) {
  const asked: { readonly path: string; readonly options: RequestInit }[] = [];
  return {
    asked,
    port: "8080",
    nowMs: () => 0,
    sleep: async () => {},
    fetch: async (input: string | URL | Request, options: RequestInit = {}) => {
      const url = new URL(String(input), "http://127.0.0.1:8080");
      asked.push({ path: url.pathname, options });
      const there = found.shift() ?? "the scheduler";
      if (there === "nobody") throw new TypeError("connection refused");
      const key = there === "the scheduler" ? KEY : Buffer.alloc(32, 8);
      const text = `tutti on port 8080 of 127.0.0.1: ${url.searchParams.get("nonce")}`;
      return Response.json({ proof: createHmac("sha256", key).update(text).digest("base64url") });
    },
  };
}

test("a page is loaded again only when the scheduler has proven itself; until then nothing else is asked", async () => {
  const world = worldWith("another process", "nobody", "another process");
  const askedAtReload: number[] = [];
  await reloadWhenProven(SESSION, world, () => askedAtReload.push(world.asked.length));
  expect(askedAtReload).toEqual([4]);
  expect(new Set(world.asked.map(({ path }) => path))).toEqual(new Set(["/v1/web/proof"]));
  expect(JSON.stringify(world.asked)).not.toContain(SESSION.token);
});

test("a page without a session has nothing to lose", async () => {
  const world = worldWith("another process");
  let reloads = 0;
  await reloadWhenProven(undefined, world, () => reloads++);
  expect([reloads, world.asked.length]).toEqual([1, 0]);
});
