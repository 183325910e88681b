/**
 * Makes a scheduler behave like the first release, by a proxy in front of it that knows neither pages nor
 * batches.
 */
import { mkdirSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { dirname } from "node:path";

/**
 * Forwards requests that the first release knew, and refuses the others in its words. Listens at `socket`, in
 * a folder of its own.
 */
export async function serveFirstRelease(socket: string, present: string): Promise<Server> {
  mkdirSync(dirname(socket), { mode: 0o700 });
  const server = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
    const refuse = (status: number, refused: string, message: string) => {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ schema: "tutti.refusal/1", refused, message }));
    };
    const unknown = [...searchParams.keys()].find(
      (name) => !["states", "last", "wait", "since"].includes(name),
    );
    if (unknown !== undefined) {
      return refuse(
        400,
        "invalid",
        `Cannot use the query parameter "${unknown}": expected one of states, last`,
      );
    }
    if (pathname === "/v1/batch")
      return refuse(404, "not-found", 'Cannot find "/v1/batch": see / for what there is');
    const { method, headers } = incoming;
    const path = incoming.url ?? "/";
    const asked = request(
      { socketPath: present, path, headers, ...(method !== undefined && { method }) },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.on("error", () => outgoing.destroy()).pipe(outgoing);
      },
    );
    // As when the scheduler itself is gone.
    asked.on("error", () => outgoing.destroy());
    incoming.pipe(asked);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server;
}
