/** The chosen policies as cards, and the list from which policies are added. */

import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { rulesOf } from "@tutti/kernel/simulator/rules.ts";
import { useState } from "preact/hooks";
import { Bullets, Button } from "../../page/parts.tsx";
import { isOwn } from "../own/messages.ts";
import { change, experiment } from "../state.ts";
import { OwnCard, OwnPolicy } from "./own-policy.tsx";
import { ParameterFields } from "./parameter-fields.tsx";

export function PolicyPanel() {
  const { policies } = experiment.value;
  return (
    <section class="card" aria-labelledby="policies-heading">
      <h2 id="policies-heading">3. Policies</h2>
      <ul class="policies">
        {policies.map((policy, i) => (
          // A policy may be chosen twice while its parameters are being changed.
          <li key={i}>
            {isOwn(policy) ? (
              <OwnCard policy={policy} index={i} />
            ) : (
              <PolicyCard choice={choosePolicy(policy)} index={i} />
            )}
          </li>
        ))}
      </ul>
      <AddPolicy />
      <OwnPolicy />
    </section>
  );
}

function PolicyCard({ choice, index }: { readonly choice: PolicyChoice; readonly index: number }) {
  const { definition, parameters, label } = choice;
  const { policies } = experiment.value;
  const rules = rulesOf(choice);
  const isTwice = policies.indexOf(label) !== policies.lastIndexOf(label);
  return (
    <div class="policy">
      <div class="row">
        <h3>{definition.title}</h3>
        <code>{label}</code>
        <Button
          class="small push"
          onClick={() => change({ policies: policies.filter((_, i) => i !== index) })}
        >
          Remove<span class="visually-hidden"> {label}</span>
        </Button>
      </div>
      <p>{definition.summary}</p>
      {isTwice ? <p class="wrong">This policy is there twice: change a parameter of one.</p> : null}
      {definition.parameters.length === 0 ? null : (
        <details>
          <summary>Parameters</summary>
          <ParameterFields
            kind="policy"
            name={definition.name}
            owner={policies[index]}
            specs={definition.parameters}
            values={parameters}
            onChange={(policy) => change({ policies: policies.with(index, policy) })}
          />
        </details>
      )}
      <details>
        <summary>Rules</summary>
        <Bullets texts={[...rules.own, ...rules.inherited]} />
        <p class="muted">{definition.source}</p>
      </details>
    </div>
  );
}

const SHARING = [
  ["space", "Space sharing"],
  ["time", "Time sharing (gangs)"],
] as const;

function AddPolicy() {
  const [name, setName] = useState("");
  const definition = POLICIES.find((policy) => policy.name === name);
  return (
    <div class="add">
      <div class="row">
        <label>
          Add
          <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
            <option value="">a policy</option>
            {SHARING.map(([sharing, title]) => (
              <optgroup key={sharing} label={title}>
                {POLICIES.filter((policy) => policy.sharing === sharing).map((policy) => (
                  <option key={policy.name} value={policy.name}>
                    {policy.name}: {policy.title}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        <Button
          disabled={definition === undefined}
          onClick={() => {
            change({ policies: [...experiment.peek().policies, name] });
            setName("");
          }}
        >
          Add
        </Button>
      </div>
      {definition === undefined ? null : <p class="muted">{definition.summary}</p>}
    </div>
  );
}
