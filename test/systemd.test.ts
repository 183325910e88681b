/**
 * Checks the units of packaging/systemd: systemd reads them without a warning, and their exposure does not
 * grow.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ExitCode } from "@tutti/cli/errors.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readUnit, settingOf, unitPath } from "./units.ts";

/**
 * Ten times the exposure of `systemd-analyze security`, which is 9.6 without any setting. This limit may only
 * shrink.
 */
const MAX_EXPOSURE = 63;

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-units-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the systemd units", () => {
  test.skipIf(!hasSystemd)("the machine's: exposure is not above what was reached", () => {
    const parameters = ["security", "--offline=true", "--no-pager", `--threshold=${MAX_EXPOSURE}`];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", [...parameters, unitPath("tutti")], {
      encoding: "utf8",
    });
    expect([status, stderr, stdout.trim().split("\n").at(-1)]).toEqual([
      0,
      "",
      expect.stringContaining("Overall exposure"),
    ]);
  });

  test.skipIf(!hasSystemd).each([
    ["tutti", []],
    ["tutti-user", ["--user"]],
  ] as const)("%s is understood by systemd, without a warning", (name, more) => {
    // The program need not be installed on this machine.
    const path = join(folder, `${name}.service`);
    writeFileSync(path, readUnit(name).replace("/usr/bin/tutti", "/bin/true"));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...more, path], {
      encoding: "utf8",
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    expect([status, stderr]).toEqual([0, ""]);
  });

  test.each(["tutti", "tutti-user"] as const)("%s: exit codes that need a person start no loop", (name) => {
    const unit = readUnit(name);
    expect(settingOf(unit, "RestartPreventExitStatus").map(Number)).toEqual([
      ExitCode.usage,
      ExitCode.input,
      ExitCode.output,
    ]);
    // `tutti down` exits with 0 and is not restarted; jobs outlive the front end.
    expect(settingOf(unit, "Restart")).toEqual(["on-failure"]);
    expect(settingOf(unit, "KillMode")).toEqual(["process"]);
    expect(settingOf(unit, "Delegate")).toEqual(["yes"]);
  });

  test("the guide names the files that there are", () => {
    const guide = readFileSync(
      fileURLToPath(new URL("../docs/reference-administration.md", import.meta.url)),
      "utf8",
    );
    for (const name of ["tutti", "tutti-user"]) expect(guide).toContain(`packaging/systemd/${name}.service`);
  });
});
