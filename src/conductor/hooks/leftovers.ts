/** Ends what hooks of a killed runner have left, before others begin. */
import { monotonicMs } from "../../host/clock.ts";
import { readText } from "../../host/files.ts";
import { allPids, signal } from "../../host/processes.ts";
import { sleep } from "../../host/sleep.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { MARK_VARIABLE } from "../freezers/signals.ts";

const LOOK_AGAIN_MS = 20;
/** Processes that the kernel keeps longer than this are left to it. */
const PATIENCE_MS = 5000;

export async function clearLeftovers({ groups, freezer, marks }: Containment): Promise<void> {
  const untilMs = monotonicMs() + PATIENCE_MS;
  const mark = `\0${MARK_VARIABLE}=${marks}`;
  for (;;) {
    const left = groups.gangs().filter((gang) => !freezer.kill(gang) || !groups.remove(gang));
    const marked = allPids().filter((pid) => {
      if (pid === process.pid) return false;
      return `\0${readText(`/proc/${pid}/environ`, "latin1") ?? ""}`.includes(mark);
    });
    for (const pid of marked) signal(pid, "SIGKILL");
    if ((left.length === 0 && marked.length === 0) || monotonicMs() > untilMs) return;
    await sleep(LOOK_AGAIN_MS);
  }
}
