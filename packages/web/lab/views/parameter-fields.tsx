/** Fields for the parameters of a policy or a model, as its definition describes them. */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { parameterSuffix, parseParameters } from "@tutti/kernel/core/parameters.ts";
import type { ParameterSpec, ParameterValues } from "@tutti/kernel/core/policy.ts";
import { useId } from "preact/hooks";
import { acceptValue, refusedValues, refuseValue } from "../state.ts";

interface ParameterFieldsProps {
  readonly kind: "model" | "policy";
  readonly name: string;
  /** Name and parameters as the experiment has them. */
  readonly owner: string;
  readonly specs: readonly ParameterSpec[];
  readonly values: ParameterValues;
  /** Gets name and parameters after a change to a value that can be used. */
  readonly onChange: (owner: string) => void;
}

export function ParameterFields({ kind, name, owner, specs, values, onChange }: ParameterFieldsProps) {
  const set = (parameter: string, text: string) => {
    try {
      const settings = Object.entries({ ...values, [parameter]: text }).map(
        ([key, value]) => `${key}=${value}`,
      );
      const next = name + parameterSuffix(specs, parseParameters(`${kind} "${name}"`, specs, settings));
      acceptValue({ owner, parameter }, next);
      onChange(next);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refuseValue({ owner, parameter, text, message: error.message });
    }
  };
  const refused = refusedValues.value.filter((value) => value.owner === owner);
  return (
    <div class="fields">
      {specs.map((spec) => (
        <Field
          key={spec.name}
          spec={spec}
          value={String(values[spec.name])}
          refused={refused.find(({ parameter }) => parameter === spec.name)}
          onChange={set}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly spec: ParameterSpec;
  readonly value: string;
  /** What the user wrote last, if it cannot be used. */
  readonly refused: { readonly text: string; readonly message: string } | undefined;
  readonly onChange: (parameter: string, text: string) => void;
}

function Field({ spec, value, refused, onChange }: FieldProps) {
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    onChange(spec.name, currentTarget.value);
  const isChanged = refused !== undefined || value !== String(spec.default);
  const id = useId();
  return (
    <div class={isChanged ? "field changed" : "field"}>
      <label for={id}>
        <span>
          {spec.name}
          {"unit" in spec && spec.unit !== undefined ? `, ${spec.unit}` : ""}
          {isChanged ? <em> changed from {spec.default}</em> : null}
        </span>
      </label>
      {spec.kind === "choice" ? (
        <select id={id} value={value} onChange={change}>
          {spec.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          value={refused?.text ?? value}
          onChange={change}
          inputMode="decimal"
          spellcheck={false}
          aria-invalid={refused !== undefined}
          aria-describedby={`${id}-says`}
        />
      )}
      <small id={`${id}-says`} class={refused === undefined ? "muted" : "wrong"}>
        {refused === undefined ? spec.description : `${refused.message}.`}
      </small>
    </div>
  );
}
