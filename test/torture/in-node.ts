/** Lives in the process of a test. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { programsOf } from "@tutti/torture/node/programs.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import type { WorldParts } from "@tutti/torture/run/site.ts";
import { settingOf } from "@tutti/torture/run/torture.ts";
import { afterAll, beforeAll } from "vitest";
import { buildWorldPrograms } from "../../scripts/torture-bundle.ts";

/** The first setting that is as described, by seed: which one that is depends on the swarm. */
export function firstSetting(isSuch: (setting: Setting) => boolean): Setting {
  for (let seed = 1; ; seed++) {
    const setting = settingOf(seed);
    if (isSuch(setting)) return setting;
  }
}

interface InNode {
  /** Set before the first test. */
  parts: WorldParts;
  readonly settle: () => Promise<void>;
  /** Whose promises are rejected, if any are. */
  life: Life | undefined;
}

/** Builds the programs before the tests of a file; rejected promises go to the life, and not to Vitest. */
export function inNode(): InNode {
  const { settle, close } = settler();
  const here: Partial<InNode> & Pick<InNode, "settle"> = { settle };
  const others = process.listeners("unhandledRejection");
  const onRejection = (reason: unknown) => here.life?.rejected(reason);
  beforeAll(async () => {
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", onRejection);
    const wasm = fileURLToPath(import.meta.resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm"));
    here.parts = await loadParts(programsOf(await buildWorldPrograms()), readFileSync(wasm), Buffer);
  });
  afterAll(() => {
    close();
    process.off("unhandledRejection", onRejection);
    for (const listener of others) process.on("unhandledRejection", listener);
  });
  return here as InNode;
}
