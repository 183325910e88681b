/** Runs inside a job: a script tries everything that a job can reach, and prints what worked. */

import { readStat } from "@tutti/host/processes.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Scheduler, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

/** Each entry: what the attack would achieve, and the shell command that must fail. */
function attempts(
  { state, socket, folder }: Scheduler,
  pids: Readonly<Record<string, number>>,
  other: number,
): [string, string][] {
  const list: [string, string][] = [];
  for (const [name, pid] of Object.entries(pids)) {
    list.push(
      [`signal to the ${name}`, `kill -0 ${pid}`],
      [`memory of the ${name}`, `head -c1 /proc/${pid}/mem`],
      [`environment of the ${name}`, `cat /proc/${pid}/environ`],
      [`descriptors of the ${name}`, `ls /proc/${pid}/fd/0`],
      [`working folder of the ${name}`, `ls /proc/${pid}/cwd/.`],
      [`root folder of the ${name}`, `ls /proc/${pid}/root/.`],
      [`score of the ${name}`, `echo 1000 > /proc/${pid}/oom_score_adj`],
      [`CPUs of the ${name}`, `taskset -pc 0 ${pid}`],
      [`priority of the ${name}`, `renice 19 ${pid}`],
    );
  }
  for (const file of ["tutti.db", "tutti.db-wal", "lock", "numbers", "conductor/conductor.log"]) {
    list.push([`reading ${file}`, `cat ${state}/${file}`]);
  }
  for (const inside of ["", "conductor", "jobs"])
    list.push([`listing state/${inside}`, `ls ${state}/${inside}`]);
  for (const verb of ["touch", "mkdir"]) {
    for (const inside of ["x", "jobs/x", "conductor/x", `jobs/${other}/x`, `jobs/${other}/1/x`]) {
      list.push([`${verb} ${inside}`, `${verb} ${state}/${inside}`]);
    }
  }
  list.push(
    ["Ann's output", `cat ${state}/jobs/${other}/stdout`],
    ["Ann's folder", `ls ${state}/jobs/${other}`],
    ["the key", `cat ${folder}/run/key`],
    ["root's token", `cat ${folder}/run/tokens/0`],
    ["all tokens", `ls ${folder}/run/tokens`],
    ["the socket removed", `rm -f ${socket} && [ ! -e ${socket} ]`],
    ["the socket replaced", `ln -sf /tmp/x ${socket}`],
    ["a hard link to the store", `ln ${state}/tutti.db /tmp/tutti-attack-link`],
    ["a hard link to shadow", "ln /etc/shadow /tmp/tutti-attack-link"],
    ["capabilities", "grep -q '^CapEff:.*[1-9a-f]' /proc/self/status"],
    ["root's groups", 'id -G | tr " " "\\n" | grep -qx 0'],
    ["a real-time class", "chrt -f 1 true"],
    ["a lower nice value", "nice -n -5 sh -c '[ $(nice) -lt 0 ]'"],
    [
      "leaving its control group",
      "for g in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do echo $$ > $g && exit 0; done; false",
    ],
    [
      "thawing itself",
      'for g in $(find /sys/fs/cgroup -path "*tutti*" -name "*free*" 2> /dev/null | head -50); do echo 0 > $g && exit 0; echo THAWED > $g && exit 0; done; false',
    ],
    [
      "more CPUs by its group",
      'for g in $(find /sys/fs/cgroup -path "*tutti*" -name cpuset.cpus 2> /dev/null | head -50); do echo 0-63 > $g && exit 0; done; false',
    ],
    ["its own log replaced", "rm -f $(dirname $(dirname $TUTTI_HOSTFILE))/stdout"],
    ["a file next to its attempt", "touch $(dirname $(dirname $TUTTI_HOSTFILE))/x"],
    ["its attempt's folder renamed", "mv $(dirname $TUTTI_HOSTFILE) $(dirname $TUTTI_HOSTFILE)x"],
    ["tracing its shim's parent", "cat /proc/$(awk '/PPid/{print $2}' /proc/$PPID/status)/environ"],
    ["a mount", "mount -t tmpfs x /mnt"],
    ["the policy", `TUTTI_SOCKET=${socket} tutti policy fcfs`],
    ["the end of the scheduler", `TUTTI_SOCKET=${socket} tutti down --kill`],
    ["Ann's job cancelled", `TUTTI_SOCKET=${socket} tutti cancel ${other}`],
    ["Ann's job shown", `TUTTI_SOCKET=${socket} tutti show ${other}`],
  );
  return list;
}

async function inside(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const other = await scheduler.submit(ann, "echo secret; sleep 600");
  await scheduler.running(other);
  const pids = {
    "front end": scheduler.frontEndPid,
    conductor: await scheduler.conductorPid(),
    "job of Ann's": scheduler.pidOf(other, "job"),
    "shim of Ann's": scheduler.pidOf(other, "claim"),
  };
  const list = attempts(scheduler, pids, other);
  const [node, program] = stage.tutti;
  const script = [
    `tutti() { ${node} ${program} "$@"; }`,
    ...list.map(([, command], i) => `( ${command} ) > /dev/null 2>&1 && echo "through:${i}:"`),
    "echo complete",
  ].join("\n");
  const job = await scheduler.submit(eve, script);
  await scheduler.ended(job);
  const { text } = await scheduler.ask(eve, `/v1/jobs/${job}/logs/stdout`);
  if (!text.includes("complete")) throw new Error(`The script did not come to its end: ${text}`);
  for (const [i, [what]] of list.entries())
    tally.attempt(text.includes(`through:${i}:`) && `a job could do: ${what}`);
  // What the job leaves running must end with the job.
  const sleepers = await scheduler.submit(
    eve,
    "for i in 1 2 3; do setsid sleep 4711 & (setsid sh -c 'sleep 4711 & exec sleep 4711' &) ; nohup sleep 4711 & done; sleep 0.3",
  );
  await scheduler.ended(sleepers);
  await sleep(2000);
  const { stdout } = await stage.run(undefined, ["pgrep", "-u", String(eve.uid), "-f", "sleep 4711"]);
  tally.attempt(stdout !== "" && `processes outlive their job: ${stdout}`);
  tally.attempt(readStat(pids["job of Ann's"]) === undefined && "Ann's job is gone");
  return tally.outcome("all refused");
}

export const INSIDE: readonly Attack[] = [
  {
    name: "inside",
    finding: "what held",
    about: "signals, /proc, files, groups, API from inside a job",
    needs: "users",
    run: inside,
  },
];
