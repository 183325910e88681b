/** A policy of the user's own, typed into the page: its editor and its card. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { cellsOf } from "@tutti/lab/experiments/comparison-of.ts";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../page/parts.tsx";
import { runnable } from "../experiment.ts";
import { isOwn, OWN_PATH } from "../own/messages.ts";
import { askOwn, eraseTypes } from "../own/own-worker.ts";
import { change, experiment, problems, source } from "../state.ts";

/** Set by scripts/build-web.ts in the bundle: the text of examples/my-policy.ts. */
declare const TUTTI_EXAMPLE: string;

export function OwnCard({ policy, index }: { readonly policy: string; readonly index: number }) {
  const { policies } = experiment.value;
  const parameters = policy.slice(OWN_PATH.length + 1);
  return (
    <div class="policy">
      <div class="row">
        <h3>Your own policy</h3>
        <code>{policy}</code>
        <Button
          class="small push"
          onClick={() => change({ policies: policies.filter((_, i) => i !== index) })}
        >
          Remove<span class="visually-hidden"> {policy}</span>
        </Button>
      </div>
      <label>
        Parameters, such as reserve=8
        <input
          value={parameters}
          onChange={({ currentTarget: { value } }) =>
            change({ policies: policies.with(index, value === "" ? OWN_PATH : `${OWN_PATH}:${value}`) })
          }
        />
      </label>
    </div>
  );
}

type Said = { readonly isWrong: boolean; readonly lines: readonly string[] };

export function OwnPolicy() {
  const { own, policies } = experiment.value;
  const [said, setSaid] = useState<Said>({ isWrong: false, lines: [] });
  const [isBusy, setIsBusy] = useState(false);
  const opened = source.value;
  const policy = policies.find(isOwn) ?? OWN_PATH;
  const attempt = async (work: () => Promise<readonly string[]>) => {
    setIsBusy(true);
    setSaid({ isWrong: false, lines: ["…"] });
    try {
      setSaid({ isWrong: false, lines: await work() });
    } catch (error) {
      setSaid({ isWrong: true, lines: [messageOf(error)] });
    } finally {
      setIsBusy(false);
    }
  };
  const check = () =>
    attempt(async () => {
      const { label, summary, rules } = await askOwn(await eraseTypes(own), "describe", { policy });
      return [`${label}: ${summary}`, ...rules];
    });
  const audit = () =>
    attempt(async () => {
      if (opened.state !== "open") return ["Choose jobs first."];
      const [problem] = problems.peek();
      if (problem !== undefined) throw new Error(problem);
      const { experiment: asked } = runnable(experiment.peek());
      const [cell] = cellsOf(asked, { policies: [policy], replications: 1 });
      const jobs = { name: asked.source.jobs, seed: asked.source.seed, workload: opened.opened.workload };
      const { slotS, switchS } = asked;
      return askOwn(await eraseTypes(own), "audit", { jobs, cell, options: { slotS, switchS } });
    });
  if (own === "")
    return (
      <p>
        <Button onClick={() => change({ own: TUTTI_EXAMPLE })}>Write a policy of your own</Button>
      </p>
    );
  return (
    <div class="own">
      <h3 id="own-heading">A policy of your own</h3>
      <p class="muted">
        TypeScript that imports only from “tutti”. It runs in a worker that can compute and do nothing else.
        Save it as <code>my-policy.ts</code> to run it on the command line.
      </p>
      <Editor text={own} onChange={(text) => change({ own: text })} />
      <p class="row">
        <Button disabled={isBusy} onClick={() => void check()}>
          Check
        </Button>
        <Button disabled={isBusy} onClick={() => void audit()}>
          Audit with these jobs
        </Button>
        <Button disabled={policies.some(isOwn)} onClick={() => change({ policies: [...policies, OWN_PATH] })}>
          Compare it
        </Button>
        <Button onClick={() => change({ own: "", policies: policies.filter((one) => !isOwn(one)) })}>
          Delete it
        </Button>
      </p>
      <div role={said.isWrong ? "alert" : "status"} class={said.isWrong ? "wrong said" : "said"}>
        {said.lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
    </div>
  );
}

/** A text field with numbers of lines, which scroll with it. */
function Editor({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const numbers = useRef<HTMLPreElement>(null);
  const count = text.split("\n").length;
  return (
    <div class="editor">
      <pre ref={numbers} aria-hidden="true">
        {Array.from({ length: count }, (_, i) => i + 1).join("\n")}
      </pre>
      <textarea
        aria-labelledby="own-heading"
        value={text}
        spellcheck={false}
        autocomplete="off"
        wrap="off"
        rows={20}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
