/**
 * Lets a gang run at low priority without a cpu control group, by the first of two means that has an effect:
 *
 *   idle-class   the scheduling class SCHED_IDLE. To leave it, a process needs CAP_SYS_NICE, or a nice limit
 *                that allows its nice value (sched(7)).
 *   autogroup    nice value 19 for the session. Many kernels group processes by session unless a control
 *                group holds them. Then classes and nice values count only within a session, and every job
 *                has its own session. Without CAP_SYS_ADMIN, the kernel allows only one change per 100 ms in
 *                total, which is too slow for slots.
 *
 * No file says which of them works, especially inside a container. So both are tried on two busy loops: each
 * loop in turn is given low priority. Child processes inherit the class. They also inherit the session,
 * unless they create their own.
 */

import { allowedCpus } from "@tutti/host/machine.ts";
import { type ChildProcess, spawn, spawnSync } from "@tutti/host/ports/child-process.ts";
import { writeFileSync } from "@tutti/host/ports/fs.ts";
import { isShortage, readStat } from "@tutti/host/processes.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";

export type BackgroundMeans = "idle-class" | "autogroup";

const SCHED_IDLE = 5;
/**
 * Maximum number of processes. Lowering the priority of more would take a whole slot: chrt takes a
 * millisecond per process.
 */
const MAX_PROCESSES = 256;
/** Number of processes changed at a time. */
const AT_ONCE = 32;

/**
 * Arguments: means and a CPU. Succeeds if each of two busy loops, when put behind the other, gets less than a
 * third of the other's time.
 */
const TRIAL = `
loop='ulimit -t 3; while :; do :; done'
setsid taskset -c "$2" /bin/sh -c "$loop" & a=$!
setsid taskset -c "$2" /bin/sh -c "$loop" & b=$!
trap 'kill -9 $a $b' EXIT
put() {
  case $1.$2 in
    idle-class.behind) chrt -a -i -p 0 $3 ;;
    idle-class.front) chrt -a -o -p 0 $3 ;;
    autogroup.behind) echo 19 > /proc/$3/autogroup ;;
    autogroup.front) echo 0 > /proc/$3/autogroup ;;
  esac
}
ran() { read -r ran rest < /proc/$1/schedstat; }
compare() {
  ran $1; front=$ran; ran $2; behind=$ran
  sleep 0.15
  ran $1; front=$((ran - front)); ran $2; behind=$((ran - behind))
  [ $front -gt $((3 * behind)) ]
}
sleep 0.05
put $1 behind $b && compare $a $b && put $1 front $b && put $1 behind $a && compare $b $a
`;

/** The means that has an effect here; undefined if neither has one. Takes up to half a second. */
export function backgroundMeans(): BackgroundMeans | undefined {
  const [cpu = 0] = allowedCpus();
  const options = { stdio: "ignore", env: OWN_ENVIRONMENT, timeout: 5000 } as const;
  return (["idle-class", "autogroup"] as const).find(
    (means) => spawnSync("/bin/sh", ["-c", TRIAL, "tutti-trial", means, String(cpu)], options).status === 0,
  );
}

/**
 * Reads lines such as "i 12 13": i for idle, o for other (the ordinary class). It runs at real-time priority
 * if allowed, so that the gangs do not delay it.
 */
const SETTER = `
trap '' HUP INT TERM
chrt -f -p 9 $$ 2> /dev/null
while read -r class pids; do
  for pid in $pids; do chrt -a "-$class" -p 0 "$pid" 2> /dev/null & done
  wait
done
`;

export class Background {
  readonly means: BackgroundMeans;
  readonly #pidsOf: (gang: string) => readonly number[];
  #setter: ChildProcess | undefined;

  constructor(means: BackgroundMeans, pidsOf: (gang: string) => readonly number[]) {
    this.means = means;
    this.#pidsOf = pidsOf;
  }

  /**
   * Puts the processes of a gang behind the others, or in front again.
   * @returns whether all of them were there before; undefined if there are too many to move
   */
  put(gang: string, isBehind: boolean): boolean | undefined {
    const pids = this.#pidsOf(gang);
    return this.means === "autogroup" ? this.#nice(pids, isBehind) : this.#classify(pids, isBehind);
  }

  /** The nice value of a session is set through any of its processes. */
  #nice(pids: readonly number[], isBehind: boolean): boolean {
    const sessions = new Map(pids.map((pid) => [readStat(pid)?.session, pid]));
    for (const pid of sessions.values()) {
      try {
        writeFileSync(`/proc/${pid}/autogroup`, isBehind ? "19" : "0", { flag: "r+" });
      } catch (error) {
        // Any other failure means that the process has just ended.
        if (isShortage(error)) throw error;
      }
    }
    return true;
  }

  /** Node cannot change classes. A shell calls chrt, so that the switch does not wait for it. */
  #classify(pids: readonly number[], isBehind: boolean): boolean | undefined {
    if (isBehind && pids.length > MAX_PROCESSES) return undefined;
    const others = pids.filter((pid) => {
      const stat = readStat(pid);
      return stat !== undefined && (stat.policy === SCHED_IDLE) !== isBehind;
    });
    for (let i = 0; i < others.length; i += AT_ONCE) {
      this.#write(`${isBehind ? "i" : "o"} ${others.slice(i, i + AT_ONCE).join(" ")}\n`);
    }
    return others.length === 0;
  }

  #write(line: string): void {
    if (this.#setter === undefined) {
      const setter = spawn("/bin/sh", ["-c", SETTER, "tutti-background"], {
        cwd: "/",
        detached: true,
        stdio: ["pipe", "ignore", "ignore"],
        env: OWN_ENVIRONMENT,
      });
      this.#setter = setter;
      setter.stdin?.on("error", () => {});
      for (const end of ["error", "exit"]) {
        setter.once(end, () => {
          this.#setter = undefined;
        });
      }
      setter.unref();
    }
    this.#setter.stdin?.write(line);
  }
}
