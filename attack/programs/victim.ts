/**
 * Runs as another user during an attack, and prints how long answers take: it asks for the status, submits
 * and lists, one after the other, each on a new connection as `tutti` does.
 *
 *   victim.ts SOCKET TOKEN-FILE SECONDS
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";

const [, , socketPath = "", tokenFile = "", seconds = "10"] = process.argv;
const token = readFileSync(tokenFile, "utf8").trim();
const job = { command: ["true"], cwd: "/", env: {}, held: true };
const KINDS = {
  status: ["GET", "/v1/status", undefined],
  submit: ["POST", "/v1/jobs", { jobs: [job] }],
  jobs: ["GET", "/v1/jobs", undefined],
} as const;

/** The time that a request took, and its status or why there is none. */
function ask([method, path, body]: (typeof KINDS)[keyof typeof KINDS]): Promise<
  readonly [number, number | string]
> {
  const fromMs = performance.now();
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers = {
    host: "localhost",
    authorization: `Bearer ${token}`,
    ...(text !== undefined && { "content-type": "application/json", "content-length": text.length }),
  };
  return new Promise((resolve) => {
    const done = (status: number | string) => resolve([performance.now() - fromMs, status]);
    const outgoing = request({ socketPath, agent: false, method, path, headers }, (answer) => {
      answer.resume().on("end", () => done(answer.statusCode ?? 0));
      answer.on("error", () => done("cut off"));
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message)).end(text);
  });
}

const tookMs: Record<string, number[]> = { status: [], submit: [], jobs: [] };
const failed: Record<string, number> = {};
const lastMs = performance.now() + Number(seconds) * 1000;
while (performance.now() < lastMs) {
  for (const [name, kind] of Object.entries(KINDS)) {
    const [ms, status] = await ask(kind);
    // Requests that are refused at once must not make answers look fast.
    if (typeof status === "number") tookMs[name].push(ms);
    if (typeof status === "string" || status < 200 || status > 299)
      failed[`${name} ${status}`] = (failed[`${name} ${status}`] ?? 0) + 1;
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(JSON.stringify({ tookMs, failed }));
