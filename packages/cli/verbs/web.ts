/** `tutti web`: prints a link to the scheduler's page, or opens the page in a browser. */
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import type { WebLinkAnswer, WebProofAnswer } from "@tutti/protocol/schema.ts";
import type { Command } from "commander";
import { hint, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly open?: boolean;
  readonly json?: boolean;
}

/** On a busy machine, an answer took more than 3 s. Without a listener, there is an error at once. */
const PROOF_MS = 20_000;
/** As long as the link works. */
const KEEP_S = 60;

const HELP = `
The link works once, within a minute. A person who opens it acts as you on the
page for 12 hours: they can see and change your jobs, but submit jobs only if
the administrator allows it with the setting web.submit.`;

export function configure(command: Command): void {
  command
    .option("--open", "open the page in a browser, with xdg-open")
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action(run);
}

async function run({ open = false, json = false }: Options): Promise<void> {
  const client = new Client();
  const link = await makeLink(client);
  if (json) writeJson(link);
  else writeOut(`${link.url}\n`);
  if (!json && !open) hint("The link works once, within a minute.");
  if (open) await openInBrowser(link.url);
}

/**
 * A link to the page of the scheduler that answers on the socket.
 * @throws RefusedError if there is no page, or if its port belongs to another process
 */
export async function makeLink(client: Client): Promise<WebLinkAnswer> {
  const link = await client.ask<WebLinkAnswer>("/v1/web/links", { method: "POST" });
  if (!/^http:\/\/127\.0\.0\.1:\d+\/#login=[\w-]+$/.test(link.url)) {
    throw new Error(`Broken invariant: the scheduler gave the link ${JSON.stringify(link.url)}`);
  }
  const nonce = randomBytes(16).toString("base64url");
  const { host, port } = new URL(link.url);
  // Only the socket gives the key, and only the port gives proofs, so nobody can pass a proof on.
  const proof = createHmac("sha256", Buffer.from(link.proofKey, "base64url"))
    .update(`tutti on port ${port || "80"} of 127.0.0.1: ${nonce}`)
    .digest("base64url");
  // Without a token: it is not known yet who answers.
  const there = await proofAt(`http://${host}/v1/web/proof?id=${link.id}&nonce=${nonce}`);
  if (there === proof) return link;
  throw new RefusedError(
    "wrong-state",
    `Cannot offer the page: ${there === undefined ? "nothing answers" : "another program answers"} at ${host}, not the scheduler at "${client.socket}"; if it has just ended, start it again with tutti serve, or else run tutti web where the scheduler runs, outside of containers`,
  );
}

/** The proof of the process on a port; undefined if nothing answers, "" if the answer has no proof. */
async function proofAt(address: string): Promise<string | undefined> {
  try {
    const answer = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(PROOF_MS) });
    const content = (await answer.json().catch(() => undefined)) as Partial<WebProofAnswer> | undefined;
    return content?.proof ?? "";
  } catch {
    return undefined;
  }
}

/**
 * Opens a private file that leads to the link. Every user can see the arguments of a browser (`ps`), and
 * could use the link first.
 */
async function openInBrowser(url: string): Promise<void> {
  const folder = mkdtempSync(join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), "tutti-web-"));
  const file = join(folder, "page.html");
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><title>Tutti</title><meta http-equiv="refresh" content="0; url=${url}">\n`,
    { mode: 0o600 },
  );
  // A browser may take a while to start, so another process removes the file.
  const remove = ["-c", 'sleep "$1"; rm -rf -- "$2"', "sh", String(KEEP_S), folder];
  spawn("sh", remove, { detached: true, stdio: "ignore" }).unref();
  const browser = spawn("xdg-open", [file], { stdio: "ignore" });
  const problem = await new Promise<string | undefined>((resolve) => {
    browser.on("error", ({ message }) => resolve(message));
    browser.on("exit", (status) => resolve(status === 0 ? undefined : `it ended with ${status}`));
  });
  if (problem !== undefined) hint(`Cannot open a browser with xdg-open: ${problem}; open the link yourself`);
}
