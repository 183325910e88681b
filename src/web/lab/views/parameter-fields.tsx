/** Fields for the parameters of a policy or a model, as its definition describes them. */
import { useId } from "preact/hooks";
import type { ParameterSpec, ParameterValues } from "../../../core/policy.ts";

interface ParameterFieldsProps {
  readonly specs: readonly ParameterSpec[];
  readonly values: ParameterValues;
  readonly onChange: (name: string, value: string) => void;
}

export function ParameterFields({ specs, values, onChange }: ParameterFieldsProps) {
  return (
    <div class="fields">
      {specs.map((spec) => (
        <Field key={spec.name} spec={spec} value={String(values[spec.name])} onChange={onChange} />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly spec: ParameterSpec;
  readonly value: string;
  readonly onChange: ParameterFieldsProps["onChange"];
}

function Field({ spec, value, onChange }: FieldProps) {
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    onChange(spec.name, currentTarget.value);
  const isChanged = value !== String(spec.default);
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
        <input id={id} value={value} onChange={change} inputMode="decimal" spellcheck={false} />
      )}
      <small class="muted">{spec.description}</small>
    </div>
  );
}
