import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("npm start compares policies, writes the report and says what to type next", () => {
  const script = fileURLToPath(new URL("../scripts/start.ts", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  expect(stderr).not.toMatch(/Fatal|Error/);
  expect(status).toBe(0);
  expect(stdout).toMatch(/easy .*[\s\S]*report\.html[\s\S]*npx tutti compare/);
});
