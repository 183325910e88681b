/** `node:os` of a process. */
import type { Process } from "../world/contract.ts";
import { sysError } from "../world/errors.ts";

/** From 1 on. */
const SIGNALS = [
  ...["HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE"],
  ...["ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ"],
  ...["VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"],
];
const constants = { signals: Object.fromEntries(SIGNALS.map((name, i) => [`SIG${name}`, i + 1])) };

export function osOf(process: Process) {
  const { machine } = process;
  return {
    availableParallelism: () => machine.cpus,
    constants,
    homedir: () => process.environment.HOME ?? "/",
    hostname: () => machine.name,
    loadavg: () => [0, 0, 0],
    setPriority(priority: number) {
      if (priority < 0 && process.uid !== 0) throw sysError("EACCES", "uv_os_setpriority");
    },
    tmpdir: () => process.environment.TMPDIR ?? "/tmp",
    totalmem: () => totalBytes(process),
    uptime: () => machine.clock.bootMs() / 1000,
  };
}

function totalBytes(process: Process): number {
  const { files } = process.machine;
  const descriptor = files.open(process, "/proc/meminfo", 0);
  const bytes = new Uint8Array(4096);
  const count = files.read(process, descriptor, bytes);
  files.close(process, descriptor);
  const [, kib] = /^MemTotal: +(\d+) kB/m.exec(new TextDecoder().decode(bytes.subarray(0, count))) ?? [];
  return Number(kib) * 1024;
}
