/**
 * `npm run bench:ssh`: two gangs of six busy processes take turns on three hosts that ssh reaches, as root.
 * The hosts are namespaces of this machine: one kernel, its CPUs and its wall clock; each has another
 * monotonic clock. Prints how often gangs were switched on a host, how long two ran at once, and how far
 * apart hosts began.
 */
import { parseArgs } from "node:util";
import { HostsScheduler, TestHosts } from "../../test/ssh/hosts.ts";
import { turnOnHosts } from "../../test/ssh/turning-run.ts";

const SLOT_MS = 100;
const { values } = parseArgs({ options: { switches: { type: "string", default: "1000" } } });

const lastsS = Math.ceil((Number(values.switches) * SLOT_MS) / 1000);

const msText = (ms = Number.NaN) => `${ms.toFixed(2)} ms`;

const hosts = new TestHosts({ hosts: 3 });
hosts.start();
const scheduler = new HostsScheduler(hosts, { slotMs: SLOT_MS });
try {
  await scheduler.start();
  const turning = await turnOnHosts(scheduler, { lastsS, slotMs: SLOT_MS });
  for (const { node, switches, togetherMs } of turning.nodes)
    console.log(`${node}: ${switches} switches, two gangs at once for ${togetherMs.toFixed(1)} ms in all`);
  const shares = [...turning.shares.values()].map((share) => (100 * share).toFixed(1));
  console.log(`shares of CPU time: ${shares.join(" and ")} %`);
  console.log(
    `from the first to the last host of a turn: p50 ${turning.skewP50Ms.toFixed(2)} ms, p99 ${turning.skewP99Ms.toFixed(2)} ms`,
  );
  console.log(`turns on all hosts, on some: ${turning.whole}, ${turning.partial}`);
  for (const node of (await scheduler.status()).nodes ?? [])
    console.log(
      `${node.node}: clock known within ${msText(node.uncertaintyMs)}; begins slots ${msText(node.skewP50Ms)} (p50), ${msText(node.skewP99Ms)} (p99) after the first`,
    );
} finally {
  await scheduler.down();
  hosts.stop();
}
