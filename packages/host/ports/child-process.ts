export type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
export { execFileSync, spawn, spawnSync } from "node:child_process";
