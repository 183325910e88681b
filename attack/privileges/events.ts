/** Finding S12 (docs/security.md): what the events show a user without jobs about other users' jobs. */
import type { EventsAnswer } from "@tutti/protocol/schema.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import type { Stage } from "../stage.ts";

/** What happens to Ann's jobs, as command lines. */
const DEEDS: readonly (readonly string[])[] = [
  ["hold", "JOB"],
  ["release", "JOB"],
  ["update", "JOB", "--priority", "-3"],
  ["requeue", "RUNNING"],
  ["cancel", "JOB"],
  ["cancel", "RUNNING"],
];

async function overheard(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ config: { maxRows: 1 } });
  const cpus = (await scheduler.status()).cpus;
  const running = await scheduler.submit(ann, "sleep 600", { tasks: cpus, retries: 2, name: "hush-hush" });
  await scheduler.running(running);
  const waiting = await scheduler.submit(ann, "sleep 600", { tasks: cpus, name: "hush-hush" });
  for (const words of DEEDS) {
    const filled = words.map((word) =>
      word.replace("JOB", String(waiting)).replace("RUNNING", String(running)),
    );
    await scheduler.tutti(ann, ...filled);
  }
  await scheduler.ended(running);
  const answer = await scheduler.ask(eve, "/v1/events", { headers: { accept: "application/json" } });
  const { events } = answer.json as EventsAnswer;
  for (const event of events) {
    const text = JSON.stringify(event);
    const told = /hush|\bheld\b|cancelled|priority|released|requeue|again/.exec(text)?.[0];
    const isOfAnn = new RegExp(`job ${waiting}\\b|job ${running}\\b`).test(text) || event.job !== undefined;
    tally.attempt(told !== undefined && `Eve hears "${told}": ${text}`);
    tally.attempt(isOfAnn && `Eve sees a job of Ann's: ${text}`);
  }
  const { stdout } = await scheduler.tutti(eve, "events");
  tally.attempt(/hush|held|priority|cancelled/.test(stdout) && `Eve's tutti events shows: ${stdout}`);
  return tally.outcome(`${events.length} events without anything about Ann's jobs`);
}

export const EVENTS: readonly Attack[] = [
  {
    name: "events",
    finding: "S12",
    about: "Ann holds, releases, reorders, requeues and cancels; Eve reads the events",
    needs: "users",
    run: overheard,
  },
];
