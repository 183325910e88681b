/** Chooses a workload model and its parameters. */
import { useState } from "preact/hooks";
import { InputError } from "../../../core/errors.ts";
import { parameterSuffix, parseParameters } from "../../../core/parameters.ts";
import { parseModel } from "../../../lab/experiments/jobs.ts";
import { MODELS } from "../../../workload/models/registry.ts";
import { MAX_MODEL_JOBS } from "../model-limit.ts";
import { experiment, openModel } from "../state.ts";
import { ParameterFields } from "./parameter-fields.tsx";

export function ModelForm() {
  const { jobs } = experiment.value;
  const chosen = jobs !== undefined && "model" in jobs ? jobs.model : "";
  const choice = chosen === "" ? undefined : parseModel(chosen);
  const [problem, setProblem] = useState("");
  const model = choice?.model;
  const set = (name: string, value: string) => {
    if (model === undefined || choice === undefined) return;
    try {
      const settings = Object.entries({ ...choice.parameters, [name]: value }).map(
        ([parameter, text]) => `${parameter}=${text}`,
      );
      const parameters = parseParameters(`model "${model.name}"`, model.parameters, settings);
      setProblem("");
      openModel(model.name + parameterSuffix(model.parameters, parameters));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <div class="model">
      <label>
        or a model
        <select
          value={model?.name ?? ""}
          onChange={({ currentTarget }) => currentTarget.value !== "" && openModel(currentTarget.value)}
        >
          <option value="">choose</option>
          {MODELS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {model === undefined || choice === undefined ? null : (
        <>
          <p>{model.summary}</p>
          {problem === "" ? null : (
            <p role="alert" class="alarm">
              {problem}
            </p>
          )}
          <details>
            <summary>Parameters (at most {MAX_MODEL_JOBS.toLocaleString("en")} jobs in a page)</summary>
            <ParameterFields specs={model.parameters} values={choice.parameters} onChange={set} />
          </details>
          <details>
            <summary>Rules</summary>
            <ul>
              {model.rules.map((rule) => (
                <li key={rule}>{rule}</li>
              ))}
            </ul>
            <p class="muted">{model.source}</p>
          </details>
        </>
      )}
    </div>
  );
}
