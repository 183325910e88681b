/** The worker of a page in which somebody breaks a life. The page chooses speed and deeds. */
import type { Event } from "@tutti/protocol/answers.ts";
import { type Life, ROOT } from "../run/life.ts";
import { DEED_NAMES, LASTING } from "../run/recorded.ts";
import { Recorder } from "../run/recorder.ts";
import { WatchedLife } from "../run/watched.ts";
import { EPOCH_MS } from "../run/witness.ts";
import type { FromWorld, Said, ToWorld } from "./messages.ts";
import { browserSettler, loadWorld } from "./world.ts";

/** As far as this uses what workers have. */
declare function postMessage(message: FromWorld): void;
declare function addEventListener(
  type: "message",
  listener: (event: { readonly data: ToWorld }) => void,
): void;

/** Between two states that are sent. */
const STATE_MS = 100;
/** Real time after which the worker lets messages in. */
const TURN_MS = 25;
/** The world goes on in steps: at every end of one, a deed can be done. */
const STEP_US = 100_000;
const LONG_STEP_US = 1_000_000;
/** With a speed above it, steps are long. */
const FAST = 100;
/** Of the scheduler's own events, those that tell how it has come through a fault. */
const TOLD: readonly string[] = ["conductor", "recovered", "capacity"];

type Begin = ToWorld & { readonly kind: "begin" };

let life: Life | undefined;
let speed = 0;
const asked: (ToWorld & { readonly kind: "act" })["name"][] = [];
const settle = browserSettler(() => life);
/** Called when there may be something to do. */
let wake = (): void => {};

addEventListener("message", ({ data }) => {
  if (data.kind === "begin") void begin(data);
  else if (data.kind === "speed") speed = data.speed;
  else asked.push(data.name);
  wake();
});

async function begin({ seed, again, scene }: Begin): Promise<void> {
  try {
    const watched = new WatchedLife(seed, again, await loadWorld(), scene);
    life = watched.life;
    const teller = new Teller(watched, new Recorder(watched.life));
    await go(watched, teller);
    postMessage({ kind: "end", recording: teller.end() });
  } catch (error) {
    postMessage({ kind: "failed", message: (error as Error).message });
  }
}

async function go(watched: WatchedLife, teller: Teller): Promise<void> {
  let sentMs = Number.NEGATIVE_INFINITY;
  let pace = { fromMs: performance.now(), fromUs: watched.nowUs, speed: 0 };
  while (!watched.isOver) {
    // Nobody waits for the last jobs.
    const now = watched.isClosed ? Number.POSITIVE_INFINITY : speed;
    const beganMs = performance.now();
    if (now !== pace.speed) pace = { fromMs: beganMs, fromUs: watched.nowUs, speed: now };
    const untilUs =
      now === 0 ? watched.nowUs : pace.fromUs + Math.round((beganMs - pace.fromMs) * 1000 * now);
    const stepUs = now > FAST ? LONG_STEP_US : STEP_US;
    for (const name of asked.splice(0)) watched.act(name);
    while (watched.nowUs < untilUs && performance.now() < beganMs + TURN_MS && !watched.isOver)
      await watched.advance(Math.min(untilUs, watched.nowUs + stepUs), settle);
    // It was not as fast as that: nothing is caught up.
    if (watched.nowUs < untilUs) pace = { fromMs: performance.now(), fromUs: watched.nowUs, speed: now };
    if (performance.now() >= sentMs + STATE_MS) {
      sentMs = performance.now();
      teller.tell();
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, now === 0 ? STATE_MS : TURN_MS / 5);
    });
  }
}

/** Says how it goes. */
class Teller {
  readonly #watched: WatchedLife;
  readonly #recorder: Recorder;
  #picture: object | undefined;
  #counts: Readonly<Record<string, number>> = {};
  #lastEvent = 0;
  #deeds = 0;
  /** Nodes without power. */
  readonly #off = new Set<string>();
  readonly #there = { "front end": false, conductor: false, machine: true };

  constructor(watched: WatchedLife, recorder: Recorder) {
    this.#watched = watched;
    this.#recorder = recorder;
  }

  end() {
    this.tell();
    return this.#recorder.recording(this.#watched.verdict());
  }

  tell(): void {
    const watched = this.#watched;
    const { life } = watched;
    const { service } = life;
    const [conductor] = life.conductors();
    const { picture } = this.#recorder;
    if (service !== undefined) this.#counts = service.status(ROOT).counts;
    const { done = 0, failed = 0, cancelled = 0, running = 0 } = this.#counts;
    const submitted = Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
    postMessage({
      kind: "state",
      state: {
        nowMs: life.trueMs - EPOCH_MS,
        ...(picture !== this.#picture && { picture }),
        isOn: life.machine.isOn,
        isServing: service !== undefined,
        conductor: conductor === undefined ? "gone" : conductor.state === "T" ? "stopped" : "runs",
        lasting: watched.lasting,
        may: [...DEED_NAMES, "end" as const].filter((name) => watched.may(name)),
        isClosed: watched.isClosed,
        done: watched.done,
        submitted,
        ended: done + failed + cancelled,
        running,
        starts: life.witness.starts.length,
        faults: life.faults.length,
        problems: life.problems,
        said: this.#said(conductor !== undefined),
      },
    });
    this.#picture = picture;
  }

  #said(hasConductor: boolean): Said[] {
    const { done, life } = this.#watched;
    const nowMs = life.trueMs - EPOCH_MS;
    const said: Said[] = [];
    for (const [i, { atUs, name }] of done.entries()) {
      if (i < this.#deeds || name === "end") continue;
      const before = done.slice(0, i).filter((one) => one.name === name).length;
      const isTakenBack = LASTING.includes(name) && before % 2 === 1;
      said.push({ atMs: atUs / 1000, what: { kind: "deed", name, isTakenBack } });
    }
    this.#deeds = done.length;
    const now = {
      machine: life.machine.isOn,
      "front end": life.service !== undefined,
      conductor: hasConductor,
    };
    for (const kind of ["machine", "front end", "conductor"] as const) {
      if (now[kind] === this.#there[kind]) continue;
      this.#there[kind] = now[kind];
      said.push({ atMs: nowMs, what: { kind, isThere: now[kind] } });
    }
    for (const { name, isOn } of life.site.nodes) {
      if (isOn !== this.#off.has(name)) continue;
      if (isOn) this.#off.delete(name);
      else this.#off.add(name);
      said.push({ atMs: nowMs, what: { kind: "node", name, isThere: isOn } });
    }
    for (const event of this.#events()) said.push({ atMs: nowMs, what: { kind: "event", event } });
    return said;
  }

  /** Those that people understand, since the last ones. A power cut may have taken some. */
  #events(): Event[] {
    const { service } = this.#watched.life;
    if (service === undefined) return [];
    const found: Event[] = [];
    const since = Math.min(this.#lastEvent, service.latestEvent());
    const stop = service.listen(ROOT, since, (event) => {
      if (TOLD.includes(event.kind)) found.push(event);
      return true;
    });
    stop();
    this.#lastEvent = service.latestEvent();
    return found;
  }
}
