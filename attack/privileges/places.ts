/**
 * Attacks folders that another user can create first: /tmp/tutti-UID, the socket's folder, the state folder.
 * Also forges tokens.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Account, makeServiceAccount } from "../accounts.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { ask } from "../http.ts";
import type { Stage } from "../stage.ts";

/** Eve pretends to be Ann's scheduler, where clients look for Ann's. */
async function squattedPlaces(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const usual = `/tmp/tutti-${ann.uid}`;
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("data", (piece) => heard.push(piece.toString("latin1")));
    socket.on("error", () => {});
  });
  const setUps: Readonly<Record<string, string>> = {
    "her own folder": `mkdir ${usual}; chmod 755 ${usual}; ln -s "$1" ${usual}/tutti.sock`,
    "a link to her folder": `mkdir -p "$2/evil"; ln -s "$1" "$2/evil/tutti.sock"; ln -s "$2/evil" ${usual}`,
    "a link to Ann's home": `ln -s ${ann.home} ${usual}`,
  };
  const open = stage.makeFolder("evil", 0o777);
  const socket = join(open, "evil.sock");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  spawnSync("chmod", ["666", socket]);
  try {
    for (const [what, script] of Object.entries(setUps)) {
      await stage.run(undefined, ["rm", "-rf", usual]);
      await stage.run(eve, ["bash", "-c", script, "bash", socket, open]);
      if (what.endsWith("home")) symlinkSync(socket, join(ann.home, "tutti.sock"));
      const before = heard.length;
      const asked = stage.start(ann, ["timeout", "5", ...stage.tutti, "status"], { stdio: "ignore" });
      await new Promise((resolve) => asked.on("close", resolve));
      // Only Ann can make a link in her own home.
      if (!what.endsWith("home"))
        tally.attempt(heard.length > before && `${what}: Ann's tutti talks to Eve: ${heard.at(-1)}`);
      const served = await outputOfServe(stage, ann, { TUTTI_STATE: join(ann.home, "s") });
      // Another folder, of Ann's own, is right.
      tally.attempt(served.includes(`${usual}/`) && `${what}: Ann's tutti serve listens in Eve's folder`);
      for (const name of readdirSync("/tmp").filter((entry) => entry.startsWith(`tutti-${ann.uid}.`)))
        rmSync(join("/tmp", name), { recursive: true, force: true });
    }
  } finally {
    server.close();
    rmSync(usual, { recursive: true, force: true });
  }
  return tally.outcome("Ann's tutti neither connects nor listens there");
}

/** What a scheduler prints until it serves or refuses to. */
async function outputOfServe(stage: Stage, user: Account, env: NodeJS.ProcessEnv): Promise<string> {
  const words = ["timeout", "30", ...stage.tutti, "serve", "--no-http"];
  const child = stage.start(user, words, { env, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (piece) => {
    output += piece;
    if (/^help: /m.test(output)) child.kill();
  });
  await new Promise((resolve) => child.on("close", resolve));
  return output;
}

/** State folders and parents that Eve can change while root starts there. */
async function foreignState(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const cases: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
    "a state of Eve's": (folder) => stage.run(eve, ["mkdir", "-m", "700", join(folder, "state")]),
    "a state as a link": (folder) =>
      stage.run(eve, ["bash", "-c", `mkdir $1/x; ln -s ${eve.home} $1/state`, "bash", folder]),
    "a conductor's folder of Eve's": async (folder) => {
      mkdirSync(join(folder, "state"), { mode: 0o777 });
      spawnSync("chmod", ["777", join(folder, "state")]);
      await stage.run(eve, ["mkdir", join(folder, "state", "conductor")]);
    },
  };
  for (const [what, prepare] of Object.entries(cases)) {
    const folder = stage.makeFolder("open", 0o777);
    await prepare(folder);
    const env = { TUTTI_STATE: join(folder, "state"), TUTTI_SOCKET: join(folder, "run", "tutti.sock") };
    // On a busy machine, a refusal takes longer than a few seconds.
    const { status } = await stage.run(
      undefined,
      ["timeout", "60", ...stage.tutti, "serve", "--no-http"],
      env,
    );
    tally.attempt(status === 124 && `root serves from ${what}`);
    await stage.run(undefined, [...stage.tutti, "down", "--kill"], env);
  }
  const folder = stage.makeFolder("open", 0o777);
  writeFileSync(join(folder, "victim"), "root's\n");
  await stage.run(eve, ["bash", "-c", `mkdir ${folder}/run; ln -s ${folder}/victim ${folder}/run/key`]);
  await stage.run(undefined, ["timeout", "5", ...stage.tutti, "serve", "--no-http"], {
    TUTTI_STATE: join(folder, "own"),
    TUTTI_SOCKET: join(folder, "run", "tutti.sock"),
  });
  tally.attempt(
    readFileSync(join(folder, "victim"), "utf8") !== "root's\n" && "a key was written through Eve's link",
  );
  tally.attempt(existsSync(join(folder, "run", "tokens", "0")) && "root puts tokens into a folder of Eve's");
  return tally.outcome("refused each time");
}

async function forgedTokens(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ http: true });
  await scheduler.submit(ann, "sleep 60", { name: "hush" });
  const own = scheduler.token(eve);
  const [, signature = ""] = own.split(".");
  const tokens = new Set<string>();
  for (const uid of [0, ann.uid, "00", `0${eve.uid}`, `${eve.uid}.0`, "", "-1", 65534])
    tokens.add(`${uid}.${signature}`);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < own.length; at += stage.isShort ? 4 : 1) {
    for (const letter of alphabet) tokens.add(own.slice(0, at) + letter + own.slice(at + 1));
  }
  for (const more of [`${own}=`, `${own}A`, own.slice(0, -1), ` ${own}`, own.toUpperCase()]) tokens.add(more);
  tokens.delete(own);
  for (const where of [scheduler.where, scheduler.port]) {
    for (const token of tokens) {
      if (token.startsWith(" ")) continue;
      const { status, text } = await ask(where, token, "/v1/jobs");
      tally.attempt(status < 400 && `${token} is accepted: ${text}`);
    }
  }
  // Tokens of others by file.
  for (const uid of [0, ann.uid]) {
    const { status } = await stage.run(eve, ["cat", join(scheduler.folder, "run", "tokens", String(uid))]);
    tally.attempt(status === 0 && `Eve reads the token of user ${uid}`);
  }
  for (const path of ["run/key", "state/tutti.db", "state/numbers", "state/conductor/conductor.log"]) {
    const { status } = await stage.run(eve, ["cat", join(scheduler.folder, path)]);
    tally.attempt(status === 0 && `Eve reads ${path}`);
  }
  return tally.outcome("no token was accepted, no file of others was read");
}

/** S13: service accounts, which nobody logs in to. */
async function serviceAccounts(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  await makeServiceAccount();
  const scheduler = await stage.serve();
  const services = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(
      ([, , uid, , , , shell]) =>
        Number(uid) > 0 && (Number(uid) < 1000 || Number(uid) > 60_000 || /nologin|false$/.test(shell ?? "")),
    );
  for (const [user, , uid] of services) {
    const has = existsSync(join(scheduler.folder, "run", "tokens", String(uid)));
    tally.attempt(has && `the account "${user}" (${uid}) has a token`);
  }
  return tally.outcome(`none of ${services.length} service accounts has a token`);
}

export const PLACES: readonly Attack[] = [
  {
    name: "places-squatted",
    finding: "S1",
    about: "/tmp/tutti-UID made first by another user",
    needs: "users",
    run: squattedPlaces,
  },
  {
    name: "state-foreign",
    finding: "S1",
    about: "state and socket folders that another user can change",
    needs: "users",
    run: foreignState,
  },
  {
    name: "tokens-forged",
    finding: "what held",
    about: "changed tokens, and the files of tokens and key",
    needs: "users",
    run: forgedTokens,
  },
  {
    name: "service-accounts",
    finding: "S13",
    about: "tokens of service accounts",
    needs: "users",
    run: serviceAccounts,
  },
];
