/** A page that lets lives go on, for test/torture-chromium.test.ts. */

import { browserSettler, loadWorld } from "@tutti/torture/page/world.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import { liveOnce } from "@tutti/torture/run/torture.ts";

let life: Life | undefined;
const settle = browserSettler(() => life);
const parts = loadWorld();

async function live(setting: Setting): Promise<Verdict> {
  const onBegin = (begun: Life) => {
    life = begun;
  };
  return liveOnce(setting, { parts: await parts, settle, onBegin });
}

Object.assign(globalThis, { live });
