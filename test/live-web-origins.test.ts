/** What Chromium lets pages of other origins do with a real scheduler, and what our own page does. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@tutti/live/api/client/client.ts";
import type { WebLinkAnswer } from "@tutti/protocol/schema.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";
import { codeOf, logIn } from "./page-session.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-origins-"));
const socket = join(folder, "run", "tutti.sock");
const state = join(folder, "state");

/** Runs in the foreign page. Each attempt says what it reached. */
const ATTEMPTS = `async ({ to, body, bearer }) => {
  const said = {};
  const attempt = async (name, run) => {
    said[name] = await run().then(() => "done", (error) => error.name);
  };
  const json = { "content-type": "application/json" };
  await attempt("read", () => fetch(to + "v1/jobs", { headers: { authorization: "Bearer " + bearer } }));
  await attempt("page", async () => (await fetch(to)).text());
  await attempt("login", () => fetch(to + "v1/web/sessions", { method: "POST", headers: json, body }));
  // Sent without asking first. Nobody can read the answer; the test checks what it did.
  await attempt("blind", () => fetch(to + "v1/web/sessions", { method: "POST", mode: "no-cors", body }));
  const element = (name, url) => new Promise((resolve) => {
    const one = document.createElement(name);
    one.onload = () => resolve(name === "iframe" && one.contentDocument === null ? "refused" : "done");
    one.onerror = () => resolve("refused");
    one.src = url;
    document.body.append(one);
  });
  said.script = await element("script", to + "web/live.js");
  said.picture = await element("img", to + "web/icon.svg");
  said.frame = await element("iframe", to);
  return said;
}`;

describe.skipIf(!hasChromium)("pages of other origins, in Chromium", () => {
  let server: Started;
  let address: string;
  let browser: Browser;
  let foreign: Server;

  const link = async () =>
    (await new Client({ TUTTI_SOCKET: socket }).ask<WebLinkAnswer>("/v1/web/links", { method: "POST" })).url;

  beforeAll(async () => {
    server = startTutti(socket, ["serve", "--private", "--port", "0", "--state", state]);
    await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
    [address = ""] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.stdout()) ?? [];
    browser = await launchChromium();
    foreign = createServer((_, answer) => {
      answer.setHeader("content-type", "text/html");
      answer.end("<!doctype html><title>foreign</title>");
    }).listen(0);
  });
  afterAll(async () => {
    foreign?.close();
    await browser?.close();
    await startTutti(socket, ["down", "--kill"]).result;
    await new Leftovers(folder, state).clear();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test.each(["127.0.0.1", "localhost"])(
    "a page of another port of %s can neither read nor act",
    async (name) => {
      const page = await browser.newPage();
      await page.goto(`http://${name}:${(foreign.address() as AddressInfo).port}/`);
      const unused = await link();
      const { token } = await logIn(await link());
      const facts = JSON.stringify({
        to: address,
        body: JSON.stringify({ code: codeOf(unused) }),
        bearer: token,
      });
      const results = await page.evaluate(`(${ATTEMPTS})(${facts})`);
      expect(results).toEqual({
        read: "TypeError",
        page: "TypeError",
        login: "TypeError",
        blind: "TypeError",
        script: "refused",
        picture: "refused",
        frame: "refused",
      });
      expect((await logIn(unused)).status).toBe(201);
      await page.close();
    },
  );

  test("the page itself logs in with the link, removes the code, needs no cookie, and shows what happens", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(await link());
    await page.getByText("Sign out").waitFor();
    expect(page.url()).not.toContain("login=");
    await page.reload();
    await page.getByText("Sign out").waitFor();
    await page.getByText("Sign out").waitFor();
    // Comes through the shared worker, which has its own policy.
    await page.goto(`${address}#/jobs`);
    const job = { name: "appears", command: ["sleep", "600"], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    const body = { jobs: [job] };
    await new Client({ TUTTI_SOCKET: socket }).ask("/v1/jobs", { method: "POST", body });
    await page.getByText("appears").first().waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("under localhost, the browser is sent to the page's own address", async () => {
    const page = await browser.newPage();
    await page.goto(address.replace("127.0.0.1", "localhost"));
    expect(page.url().startsWith(address)).toBe(true);
    await page.close();
  });
});
