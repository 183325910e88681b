import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConductorServer, SOCKET_NAME } from "./server.ts";

test("it closes although its socket cannot be removed, as on a disk that has become read-only", async () => {
  const home = mkdtempSync(join(tmpdir(), "tutti-server-"));
  try {
    const server = new ConductorServer(home, () => {});
    await server.listen();
    expect(server.isInPlace).toBe(true);
    // Root may remove a file from any folder, but not a folder as if it were a file.
    rmSync(join(home, SOCKET_NAME));
    mkdirSync(join(home, SOCKET_NAME));
    expect(() => server.close()).not.toThrow();
  } finally {
    rmSync(home, { recursive: true });
  }
});
