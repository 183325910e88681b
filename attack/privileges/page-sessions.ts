/** Attacks sessions of the page: forged and stolen ones, links of others, and what a session may not do. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WebLinkAnswer } from "@tutti/protocol/schema.ts";
import type { Account } from "../accounts.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Answer, ask } from "../http.ts";
import { type Scheduler, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
const JOB = { command: ["touch", "/tmp/tutti-attack-page"], cwd: "/tmp", env: {} };

async function codeFor(scheduler: Scheduler, user: Account): Promise<string> {
  const { json } = await scheduler.ask(user, "/v1/web/links", { method: "POST" });
  return (json as WebLinkAnswer).url.split("#login=")[1];
}

function logIn(scheduler: Scheduler, code: unknown): Promise<Answer> {
  return ask(scheduler.port, undefined, "/v1/web/sessions", { method: "POST", body: { code } });
}

async function sessionOf(scheduler: Scheduler, user: Account): Promise<string> {
  return ((await logIn(scheduler, await codeFor(scheduler, user))).json as { token: string }).token;
}

async function forged(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ http: true });
  const own = await sessionOf(scheduler, eve);
  const [, , endMs, id, signature] = own.split(".");
  const fileSignature = scheduler.token(eve).split(".")[1];
  const tokens = new Set<string>();
  for (const uid of [0, ann.uid, `0${eve.uid}`, "", "-1"]) {
    for (const end of [endMs, `${endMs}0`, "999999999999999", "0"]) {
      for (const one of [signature, fileSignature, ""]) tokens.add(`page.${uid}.${end}.${id}.${one}`);
    }
    tokens.add(`${uid}.${signature}`).add(`${uid}.${endMs}.${id}.${signature}`);
  }
  for (let at = 0; at < own.length; at += stage.isShort ? 5 : 1) {
    for (const letter of ALPHABET) tokens.add(own.slice(0, at) + letter + own.slice(at + 1));
  }
  for (const one of [`${own}=`, `${own}A`, own.slice(0, -1), own.toUpperCase(), `x${own}`]) tokens.add(one);
  tokens.delete(own);
  for (const token of tokens) {
    const { status, text } = await ask(scheduler.port, token, "/v1/jobs");
    tally.attempt(status < 400 && `${token} is accepted: ${text}`);
  }
  // A session does not count over a socket that all users share, and is not a file's token.
  const { status } = await ask(scheduler.where, own, "/v1/jobs");
  tally.attempt(status < 400 && "a session is accepted over the shared socket");
  return tally.outcome("no session was accepted but Eve's own");
}

/** What Eve can do with Ann's session, and with links that are not for her. */
async function stolen(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ http: true });
  const anns = await scheduler.submit(ann, "sleep 600", { name: "hush" });
  const code = await codeFor(scheduler, ann);
  const guesses = [code.slice(1), `${code}A`, code.toLowerCase(), "", "A".repeat(32), 0, null, [code], {}];
  for (let at = 0; at < code.length; at++) guesses.push(`${code.slice(0, at)}_${code.slice(at + 1)}`);
  for (const guess of guesses) {
    if (guess === code) continue;
    const { status } = await logIn(scheduler, guess);
    tally.attempt(status < 400 && `a guess of the code logs in: ${guess}`);
  }
  // Of many that use the code at the same time, one gets the session.
  const race = await Promise.all(Array.from({ length: 50 }, () => logIn(scheduler, code)));
  const won = race.filter(({ status }) => status === 201);
  tally.attempt(won.length !== 1 && `${won.length} sessions came of one link`);
  const session = (won[0].json as { token: string }).token;
  for (const [method, path, body] of [
    ["POST", "/v1/jobs", { jobs: [JOB] }],
    ["POST", "/v1/web/links", undefined],
    ["PUT", "/v1/policy", { policy: "fcfs" }],
    ["POST", "/v1/shutdown", { killJobs: true }],
  ] as const) {
    const { status } = await ask(scheduler.port, session, path, { method, body });
    tally.attempt(status < 400 && `a stolen session may ${method} ${path}`);
  }
  const own = await sessionOf(scheduler, eve);
  for (const path of [`/v1/jobs/${anns}`, `/v1/jobs/${anns}/why`, `/v1/jobs/${anns}/logs/stdout`]) {
    const { status, text } = await ask(scheduler.port, own, path);
    tally.attempt((status < 400 || text.includes("hush")) && `Eve's session reads ${path}`);
  }
  const cancelled = await ask(scheduler.port, own, `/v1/jobs/${anns}/cancel`, { method: "POST" });
  tally.attempt(cancelled.status < 400 && "Eve's session cancels Ann's job");
  return tally.outcome("no code was guessed, and a session starts nothing");
}

/** The arguments of all processes while Ann's browser opens the page. */
async function seenInProcessList(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ http: true });
  const bin = join(scheduler.folder, "bin");
  mkdirSync(bin, { mode: 0o755 });
  writeFileSync(join(bin, "xdg-open"), '#!/bin/sh\nsleep 2\necho "$1"\n', { mode: 0o755 });
  const words = [...stage.tutti, "web", "--open"];
  const env = { TUTTI_SOCKET: scheduler.socket, PATH: `${bin}:${process.env.PATH}` };
  const opened = stage.run(ann, words, env);
  let isOver = false;
  void opened.finally(() => {
    isOver = true;
  });
  let sawBrowser = false;
  while (!isOver) {
    const { stdout } = await stage.run(eve, ["ps", "-eo", "args"]);
    tally.attempt(stdout.includes("login=") && "Eve sees the link among the arguments of a process");
    const [file] = /\S+\/tutti-web-\w+\/page\.html/.exec(stdout) ?? [];
    if (file !== undefined) {
      sawBrowser = true;
      const { status } = await stage.run(eve, ["cat", file]);
      tally.attempt(status === 0 && "Eve reads the file that leads to the link");
    }
    await sleep(50);
  }
  const { status, stderr } = await opened;
  if (status !== 0 || !sawBrowser) throw new Error(`The browser was not opened: ${stderr}`);
  return tally.outcome("the link was in no argument, and its file is private");
}

export const PAGE_SESSIONS: readonly Attack[] = [
  {
    name: "sessions-forged",
    finding: "the page",
    about: "changed sessions of the page, and sessions over the shared socket",
    needs: "users",
    run: forged,
  },
  {
    name: "sessions-stolen",
    finding: "the page",
    about: "guessed and repeated codes of links, and what a stolen session may do",
    needs: "users",
    run: stolen,
  },
  {
    name: "links-seen",
    finding: "the page",
    about: "the process list while a browser opens the page",
    needs: "users",
    run: seenInProcessList,
  },
];
