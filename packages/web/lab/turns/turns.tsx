/** The view about gangs with phases: the reader's own numbers, and what each policy makes of them. */

import { computed, signal } from "@preact/signals";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatDuration, formatPercent } from "@tutti/kernel/core/format.ts";
import { MODEL_PARAMETERS } from "@tutti/papers/wings/phases/model.ts";
import { address, setQuery } from "../../page/navigation.ts";
import { Alarm, Bullets, Button, Choice, Scrollable } from "../../page/parts.tsx";
import { trustedUrl } from "../../page/trusted.ts";
import { partUrl } from "../scripts.ts";
import { ParameterFields } from "../views/parameter-fields.tsx";
import { Film } from "./film.tsx";
import {
  policiesFor,
  type TurnsAnswer,
  type TurnsFilm,
  type TurnsQuestion,
  type TurnsRow,
  turnsParameters,
} from "./run.ts";

/** The parameters are in the address, so that a link has them. */
const label = computed(() =>
  ["phases", address.value.query.turns ?? ""].filter((part) => part !== "").join(":"),
);
/** What rows and film are about; the form may say something else by now. */
const shown = signal("phases");
const policies = computed(() => policiesFor(Number(valuesOf(shown.value).node)));
const rows = signal<readonly TurnsRow[]>([]);
const isRunning = signal(false);
const problem = signal("");
const film = signal<TurnsFilm | undefined>(undefined);
const filmed = signal("phases-rows");
/** The one that computes; another question ends it. */
let worker: Worker | undefined;

function show(policy: string): void {
  filmed.value = policy;
  void ask(false);
}

async function ask(withRows: boolean): Promise<void> {
  const url = trustedUrl(await partUrl("turns-worker"));
  worker?.terminate();
  const own = new Worker(url);
  worker = own;
  isRunning.value = true;
  problem.value = "";
  if (withRows) {
    rows.value = [];
    shown.value = label.value;
  }
  film.value = undefined;
  try {
    const names = policies.value.map(([name]) => name);
    if (!names.includes(filmed.value)) filmed.value = names[0];
    await new Promise<void>((resolve, reject) => {
      own.onerror = () => reject(new InputError("Cannot run this: the page has no file turns-worker.js"));
      own.onmessage = ({ data }: MessageEvent<TurnsAnswer>) => {
        if ("problem" in data) reject(new InputError(data.problem));
        else if ("row" in data) rows.value = [...rows.value, data.row];
        else {
          film.value = data.film;
          resolve();
        }
      };
      own.postMessage({ label: shown.value, film: filmed.value, withRows } satisfies TurnsQuestion);
    });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problem.value = error.message;
  } finally {
    own.terminate();
    if (worker === own) isRunning.value = false;
  }
}

export function Turns() {
  const values = valuesOf(label.value);
  return (
    <>
      <h1>Turns on shared units</h1>
      <p>
        Gangs that hold GPUs for a while, give them back by themselves, and want them again later: what a
        lock, a pool and the rows of the matrix make of that, against exclusive use.
      </p>
      <Alarm>{problem.value}</Alarm>
      <div class="turns">
        <section class="panel">
          <h2>Your numbers</h2>
          <Button class="primary" disabled={isRunning.value} onClick={() => void ask(true)}>
            {isRunning.value ? "Running …" : "Compare"}
          </Button>
          <ParameterFields
            kind="model"
            name="phases"
            owner={label.value}
            specs={MODEL_PARAMETERS}
            values={values}
            onChange={(next) => setQuery({ turns: next.slice("phases:".length) })}
          />
          <p class="muted">
            The same on the command line:{" "}
            <code>tutti compare {label.value} --policy phases-exclusive,phases-rows</code>
          </p>
        </section>
        <section class="panel">
          <h2>What each policy makes of them</h2>
          {rows.value.length > 0 && shown.value !== label.value ? (
            <p class="muted">
              These are for <code>{shown.value}</code>.
            </p>
          ) : null}
          <Results />
          <Filmed />
        </section>
      </div>
    </>
  );
}

function valuesOf(text: string) {
  try {
    return turnsParameters(text);
  } catch {
    // More turns than a page can run, or a link that somebody has changed: the worker says so.
    return Object.fromEntries(
      MODEL_PARAMETERS.map(({ name, default: usual }) => [
        name,
        new RegExp(`:${name}=([^:]*)`).exec(text)?.[1] ?? usual,
      ]),
    );
  }
}

function Results() {
  if (rows.value.length === 0)
    return <p class="muted">Press Compare: five replications of each policy, with 95 % intervals.</p>;
  const largest = Math.max(...rows.value.map(({ ratio }) => ratio.mean));
  return (
    <Scrollable label="Policies">
      <table>
        <thead>
          <tr>
            <th>policy</th>
            <th class="number">rounds per hour</th>
            <th>÷ exclusive use</th>
            <th class="number">duty</th>
            <th class="number">95 % wait no longer</th>
            <th class="number">slowest gang</th>
            <th class="number">fairness</th>
          </tr>
        </thead>
        <tbody>
          {rows.value.map(({ policy, words, ratio, numbers }) => (
            <tr key={policy}>
              <th scope="row" title={policy}>
                {words}
              </th>
              <td class="number">{numbers.turnsPerHour.toFixed(1)}</td>
              <td>
                <span class="bar" style={{ width: `${(4 * ratio.mean) / largest}rem` }} />{" "}
                {ratio.mean.toFixed(2)} ± {ratio.half.toFixed(2)}
              </td>
              <td class="number">{formatPercent(numbers.duty)}</td>
              <td class="number">{formatDuration(numbers.p95WaitS)}</td>
              <td class="number">{numbers.worstSlowdown.toFixed(2)} ×</td>
              <td class="number">{numbers.fairness.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function Filmed() {
  if (film.value === undefined) return null;
  const words = policies.value.find(([name]) => name === filmed.value)?.[1] ?? filmed.value;
  return (
    <>
      <Choice title="In motion" value={filmed.value} options={policies.value} onChoose={show} />
      <Film film={film.value} title={words} />
      <details>
        <summary>Rules</summary>
        <Bullets texts={film.value.rules} />
        <p class="muted">{film.value.source}</p>
      </details>
    </>
  );
}
