/** A page on which visitors break the scheduler, which lives in a simulated world in a worker. */
import { formatCount, formatDuration, plural } from "@tutti/kernel/core/format.ts";
import type { FromWorld, ToWorld, WorldState } from "@tutti/torture/page/messages.ts";
import {
  DEEDS_IN,
  type Deed,
  type DeedName,
  type Picture,
  type Recording,
  type Scene,
} from "@tutti/torture/run/recorded.ts";
import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { RecordedTimeline } from "../life/recorded.tsx";
import { gridOfAnswer } from "../matrix/grid.ts";
import { MatrixView } from "../matrix/matrix-view.tsx";
import type { MatrixSelection } from "../matrix/selection-query.ts";
import { address, setQuery } from "../page/navigation.ts";
import { Alarm, Bullets, Button, Choice, Facts, Scrollable } from "../page/parts.tsx";
import { trustedUrl } from "../page/trusted.ts";
import "./search.ts";
import { DEEDS, deedsText, readDeeds, saidText } from "./break-deeds.ts";

declare global {
  /** The script of the worker, packed; set by a script that is loaded when somebody begins. */
  var tuttiWorld: string | undefined;
}

const SPEEDS: readonly (readonly [speed: number, text: string])[] = [
  [0, "paused"],
  [1, "real time"],
  [10, "10 times"],
  [30, "30 times"],
  [120, "120 times"],
  [Number.POSITIVE_INFINITY, "as fast as it can"],
];
const FIRST_SPEED = 30;
const SCENES: readonly (readonly [scene: Scene, text: string])[] = [
  ["machine", "one machine"],
  ["nodes", "five nodes of a Slurm"],
];
const MATRIX_PX = 240;
/** Rows take turns at most this fast, so that the eye can follow. */
const SHOWN_SLOT_MS = 600;
const MOST_LINES = 200;
const SEEDS = 10_000;
/** Over which the speed is measured. */
const MEASURE_MS = 2000;

/** The root of the site. */
const base = new URL(".", (document.currentScript as HTMLScriptElement).src);
const place = document.getElementById("world")!;

interface Line {
  readonly key: number;
  readonly atMs: number;
  readonly text: string;
  readonly isDeed: boolean;
}

/** Loads the script of the worker. A page from a disk cannot fetch, so it is a script that sets a text. */
function loadScript(): Promise<string> {
  return new Promise((resolve, reject) => {
    if (globalThis.tuttiWorld !== undefined) return resolve(globalThis.tuttiWorld);
    const script = document.createElement("script");
    script.onload = () => resolve(globalThis.tuttiWorld!);
    script.onerror = () => reject(new Error("break-world.js cannot be loaded"));
    script.src = trustedUrl(new URL("break-world.js", base).href);
    document.head.append(script);
  });
}

async function startWorker(): Promise<Worker> {
  const bytes = Uint8Array.from(atob(await loadScript()), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = new Blob([await new Response(unpacked).text()], { type: "text/javascript" });
  return new Worker(trustedUrl(URL.createObjectURL(script)));
}

function seedOf(text: string | undefined): number | undefined {
  return /^\d{1,9}$/.test(text ?? "") ? Number(text) : undefined;
}

function sceneOf(text: string | undefined): Scene {
  return text === "nodes" ? "nodes" : "machine";
}

function Broken() {
  const [worker, setWorker] = useState<Worker>();
  const [isLoading, setLoading] = useState(false);
  const [speed, setSpeed] = useState(FIRST_SPEED);
  const [state, setState] = useState<WorldState>();
  const [picture, setPicture] = useState<Picture>();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [recording, setRecording] = useState<Recording>();
  const [failure, setFailure] = useState("");
  const [rate, setRate] = useState(0);
  const measured = useRef({ atMs: 0, nowMs: 0 });
  const send = (message: ToWorld, to = worker) => to?.postMessage(message);

  const take = ({ data }: MessageEvent<FromWorld>) => {
    if (data.kind === "failed") return setFailure(data.message);
    if (data.kind === "end") return setRecording(data.recording);
    const { state: next } = data;
    setState(next);
    if (next.picture !== undefined) setPicture(next.picture);
    if (next.said.length > 0)
      setLines((before) => {
        const more = next.said.flatMap((one) => {
          const text = saidText(one);
          return text === undefined ? [] : [{ atMs: one.atMs, text, isDeed: one.what.kind === "deed" }];
        });
        const first = (before[0]?.key ?? 0) + 1;
        return [...more.map((line, i) => ({ ...line, key: first + i })).reverse(), ...before].slice(
          0,
          MOST_LINES,
        );
      });
    const atMs = performance.now();
    const { current } = measured;
    if (atMs - current.atMs > MEASURE_MS) {
      setRate((next.nowMs - current.nowMs) / (atMs - current.atMs));
      measured.current = { atMs, nowMs: next.nowMs };
    }
  };

  const begin = async (again: readonly Deed[], seed: number) => {
    const scene = sceneOf(address.peek().query.on);
    setLoading(true);
    setFailure("");
    worker?.terminate();
    setQuery({ seed: String(seed), did: deedsText(again) });
    try {
      const made = await startWorker();
      made.onmessage = take;
      made.onerror = ({ message }) => setFailure(message);
      setLines([]);
      setRecording(undefined);
      setState(undefined);
      setPicture(undefined);
      measured.current = { atMs: performance.now(), nowMs: 0 };
      send({ kind: "begin", seed, scene, again }, made);
      send({ kind: "speed", speed }, made);
      setWorker(made);
    } catch (error) {
      setFailure((error as Error).message);
    }
    setLoading(false);
  };

  useEffect(() => {
    const tell = () => send({ kind: "speed", speed: document.hidden ? 0 : speed });
    tell();
    addEventListener("visibilitychange", tell);
    return () => removeEventListener("visibilitychange", tell);
  }, [worker, speed]);
  const did = state?.done.length ?? 0;
  useEffect(() => {
    if (state !== undefined && did > 0) setQuery({ did: deedsText(state.done) });
  }, [did]);

  const { query } = address.value;
  const scene = sceneOf(query.on);
  const seed = seedOf(query.seed);
  const again = readDeeds(query.did);
  const isRunning = worker !== undefined && recording === undefined;
  return (
    <>
      <Alarm>{failure}</Alarm>
      <div class="row controls">
        {isRunning ? (
          <Button
            class="primary"
            disabled={state?.may.includes("end") !== true}
            onClick={() => send({ kind: "act", name: "end" })}
          >
            {state?.isClosed ? "The last jobs end …" : "Stop and judge"}
          </Button>
        ) : (
          <Button
            class="primary"
            disabled={isLoading}
            onClick={() =>
              begin(
                recording === undefined ? again : [],
                recording === undefined ? (seed ?? randomSeed()) : recording.seed + 1,
              )
            }
          >
            {isLoading
              ? "Loading …"
              : recording !== undefined
                ? "Another life"
                : again.length > 0
                  ? "Watch this life again"
                  : "Start"}
          </Button>
        )}
        {recording !== undefined && (
          <Button onClick={() => begin(readDeeds(address.peek().query.did), recording.seed)}>
            The same life again
          </Button>
        )}
        {!isRunning && (
          <Choice
            title="Jobs run on"
            value={scene}
            options={SCENES}
            onChoose={(on) => setQuery({ on, did: "" })}
          />
        )}
        <Choice
          title="Speed"
          value={String(speed)}
          options={SPEEDS.map(([value, text]) => [String(value), text])}
          onChoose={(value) => setSpeed(Number(value))}
        />
        {seed !== undefined && <span class="muted">seed {seed}; the address of this page repeats it</span>}
      </div>
      {recording !== undefined && <Judged recording={recording} />}
      <div class="broken">
        <div>
          <Rows picture={picture} state={state} scene={scene} />
          {recording === undefined && (
            <Deeds
              names={DEEDS_IN[scene]}
              state={isRunning ? state : undefined}
              act={(name) => send({ kind: "act", name })}
            />
          )}
        </div>
        <div>
          <Facts class="numbers" facts={factsOf(state, rate)} />
          <Scrollable label="What happened, newest first">
            <ol class="said">
              {lines.map(({ key, atMs, text, isDeed }) => (
                <li key={key} class={isDeed ? "deed" : undefined}>
                  <span class="muted">{formatDuration(Math.floor(atMs / 1000))}</span>
                  <span>{text}</span>
                </li>
              ))}
            </ol>
          </Scrollable>
        </div>
      </div>
      {recording !== undefined && (
        <section aria-label="Timeline">
          <h2>The whole life</h2>
          <RecordedTimeline recording={recording} />
        </section>
      )}
    </>
  );
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] % SEEDS;
}

function factsOf(state: WorldState | undefined, rate: number): readonly (readonly [string, string])[] {
  const count = (value: number | undefined) => formatCount(value ?? 0);
  return [
    ["simulated time", formatDuration(Math.floor((state?.nowMs ?? 0) / 1000))],
    ["times real time", formatCount(Math.round(rate))],
    ["jobs submitted", count(state?.submitted)],
    ["jobs ended", count(state?.ended)],
    ["starts", count(state?.starts)],
    ["faults", count(state?.faults)],
    ["problems found", count(state?.problems.length)],
  ];
}

interface RowsProps {
  readonly picture: Picture | undefined;
  readonly state: WorldState | undefined;
  readonly scene: Scene;
}

/** What can be seen now. */
function wordsOf(state: WorldState | undefined, scene: Scene): string {
  if (state === undefined) return "Press Start: jobs arrive, and take their turns on the CPUs.";
  if (!state.isOn) return "The node is off.";
  if (state.conductor === "gone")
    return scene === "nodes"
      ? "No node has a conductor: the scheduler waits for nodes."
      : "No conductor: a guardian lets all jobs run, and the scheduler starts another one.";
  if (state.conductor === "stopped")
    return "The conductor stands still: after a while, a guardian lets all jobs run.";
  if (!state.isServing) return "The front end is gone. Jobs go on.";
  return `${plural(state.running, "job")} running. Jobs in one line run at the same time; the lines take turns.`;
}

function Rows({ picture, state, scene }: RowsProps) {
  const [selection, select] = useState<MatrixSelection>({ span: undefined, pinned: undefined });
  const grid = useMemo(() => picture && gridOfAnswer(picture.matrix), [picture]);
  const turn = () => {
    const slot = Math.floor(performance.now() / SHOWN_SLOT_MS);
    return { slot, row: slot % Math.max(1, grid?.rows ?? 1) };
  };
  const isTurning = state?.isOn === true && state.conductor === "runs" && (grid?.rows ?? 0) > 0;
  const isStale = state !== undefined && (!state.isOn || !state.isServing);
  return (
    <div class={`machine${isStale ? " stale" : ""}`}>
      <p role="status">{wordsOf(state, scene)}</p>
      <div class="place">
        {grid === undefined || grid.rows === 0 ? (
          <p class="muted empty">No job is running.</p>
        ) : (
          <MatrixView
            grid={grid}
            sequence={picture?.matrix.sequence ?? 0}
            turn={isTurning ? turn : undefined}
            label="Matrix of the simulated machine"
            heightPx={MATRIX_PX}
            selection={selection}
            onSelect={(changes) => select({ ...selection, ...changes })}
          />
        )}
      </div>
    </div>
  );
}

interface DeedsProps {
  readonly names: readonly DeedName[];
  readonly state: WorldState | undefined;
  readonly act: (name: DeedName) => void;
}

function Deeds({ names, state, act }: DeedsProps) {
  return (
    <ul class="deeds">
      {names.map((name) => {
        const { button, back = button, hint } = DEEDS[name];
        const isOn = state?.lasting.includes(name) === true;
        return (
          <li key={name}>
            <Button
              class={isOn ? "primary" : undefined}
              disabled={state?.may.includes(name) !== true}
              onClick={() => act(name)}
            >
              {isOn ? back : button}
            </Button>
            <span class="muted">{hint}</span>
          </li>
        );
      })}
    </ul>
  );
}

function Judged({ recording: { problems, faults, hash, toMs, fromMs } }: { readonly recording: Recording }) {
  const time = formatDuration((toMs - fromMs) / 1000);
  return (
    <section
      class={`card verdict ${problems.length === 0 ? "good" : "bad"}`}
      aria-label="Verdict"
      role="status"
    >
      {problems.length === 0 ? (
        <p>
          <strong>The judge found no problem.</strong> In {time} with {plural(faults.length, "fault")}, every
          job that was submitted ran to its end as often as it should, and its user was told the truth.
        </p>
      ) : (
        <>
          <p>
            <strong>You broke it: the judge found {plural(problems.length, "problem")}.</strong> The address
            of this page repeats this life. Please send it to us.
          </p>
          <Bullets texts={problems.slice(0, 10)} />
        </>
      )}
      <p class="muted">
        Trace <code>{hash}</code>: the same seed and the same deeds give the same, in any browser.
      </p>
    </section>
  );
}

render(<Broken />, place);
