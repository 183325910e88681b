/** Tests paths that another user could redirect. */
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceablePart } from "@tutti/host/trusted-path.ts";
import { makeRuntimeDir, runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { makeStateFolder } from "@tutti/live/daemon/state/state-folder.ts";
import { afterAll, describe, expect, test } from "vitest";

const EVE = 12_345;
const own = process.getuid!();
const isRoot = own === 0;
const folder = mkdtempSync(join(realpathSync(tmpdir()), "tutti-trust-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("replaceablePart()", () => {
  test("is a folder on the way to which others may write, also behind a link; the sticky bit guards what is in it", () => {
    const open = join(folder, "open");
    mkdirSync(join(open, "own"), { recursive: true });
    expect(replaceablePart(join(open, "own", "not yet"), own)).toBeUndefined();
    chmodSync(open, 0o777);
    expect(replaceablePart(join(open, "own"), own)).toBe(`others may write to "${open}"`);
    symlinkSync("open", join(folder, "link"));
    expect(replaceablePart(join(folder, "link", "own"), own)).toBe(`others may write to "${open}"`);
    chmodSync(open, 0o1777);
    expect(replaceablePart(join(folder, "link", "own"), own)).toBeUndefined();
    symlinkSync("round", join(folder, "round"));
    expect(replaceablePart(join(folder, "round"), own)).toMatch(/too many links/);
  });

  test.skipIf(!isRoot)("is another user's folder or link, above folders of root", () => {
    const hers = join(folder, "eve");
    mkdirSync(join(hers, "made-by-root", "state"), { recursive: true });
    lchownSync(hers, EVE, EVE);
    symlinkSync("/etc", join(folder, "her-link"));
    lchownSync(join(folder, "her-link"), EVE, EVE);
    expect(replaceablePart(join(hers, "made-by-root"), 0)).toBe(`"${hers}" belongs to user ${EVE}`);
    expect(replaceablePart(join(folder, "her-link", "x"), 0)).toContain(`belongs to user ${EVE}`);
    expect(replaceablePart(hers, EVE)).toBeUndefined();
    expect(() => makeStateFolder(join(hers, "made-by-root", "state"), true)).toThrow(
      /expected a path on which all folders belong to root and only root can write to them/,
    );
    expect(() => makeRuntimeDir(runtimeDirOf(join(hers, "made-by-root", "run", "tutti.sock")))).toThrow(
      /expected a path on which all folders belong to root and only root can write to them/,
    );
  });
});
