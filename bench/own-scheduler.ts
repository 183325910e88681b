/** For benches that measure a scheduler of their own: where it is, and when it answers. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@tutti/live/api/client/client.ts";

const PATIENCE_MS = 60_000;

/** A folder for its state and its socket, which the bench removes, and the environment that names them. */
export function ownPlace() {
  const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
  const env = {
    ...process.env,
    TUTTI_STATE: join(folder, "state"),
    TUTTI_SOCKET: join(folder, "run", "tutti.sock"),
    NO_COLOR: "1",
  };
  return { folder, env };
}

/** @throws Error if it does not answer within a minute */
export async function reached(env: NodeJS.ProcessEnv): Promise<Client> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (performance.now() < untilMs) {
    await sleep(50);
    try {
      const client = new Client(env);
      await client.ask("/v1/status");
      return client;
    } catch {
      // Not yet there.
    }
  }
  throw new Error("Cannot reach the scheduler: it did not answer within a minute");
}
