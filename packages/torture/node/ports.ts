/** Node's modules of a simulated process, except those that need its other parts (program.ts). */
import { cryptoOf } from "./crypto.ts";
import { EventEmitter, once } from "./events.ts";
import { createFs } from "./fs.ts";
import { osOf } from "./os.ts";
import { pathOf } from "./path.ts";
import { inSteps } from "./steps.ts";
import { timersOf } from "./timers.ts";
import { fileURLToPath, pathToFileURL } from "./url.ts";
import { isDeepStrictEqual, parseArgs } from "./util.ts";
import type { RunningProgram } from "./world.ts";
import { crc32 } from "./zlib.ts";

/** The same for all processes, so that files which need only these can be shared. */
export const SHARED_PORTS = {
  events: { EventEmitter, once },
  path: pathOf(() => {
    throw new Error("Cannot resolve a relative path here: files that do this are not shared");
  }),
  url: { fileURLToPath, pathToFileURL },
  util: { isDeepStrictEqual, parseArgs },
  zlib: { crc32 },
};

export function portsOf(program: RunningProgram) {
  const { process, machine, random, world, view } = program;
  const { setInterval, clearInterval } = timersOf(program);
  const host = { Buffer: world.Buffer, random, setInterval, clearInterval };
  const { fs, promises } = createFs(inSteps(machine.files, program.step), process, host);
  return {
    ...SHARED_PORTS,
    path: pathOf(view.cwd),
    crypto: cryptoOf(random, world.Buffer),
    os: osOf(process),
    fs,
    "fs-promises": promises,
  };
}
