/** Chooses a workload model and its parameters. */
import { parseModel } from "../../../lab/experiments/jobs.ts";
import { MODELS } from "../../../workload/models/registry.ts";
import { MAX_MODEL_JOBS, parametersInPage } from "../model-limit.ts";
import { experiment, openModel } from "../state.ts";
import { ParameterFields } from "./parameter-fields.tsx";

export function ModelForm() {
  const { jobs } = experiment.value;
  const chosen = jobs !== undefined && "model" in jobs ? jobs.model : "";
  const choice = chosen === "" ? undefined : parseModel(chosen);
  const model = choice?.model;
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
          <details>
            <summary>Parameters (at most {MAX_MODEL_JOBS.toLocaleString("en")} jobs in a page)</summary>
            <ParameterFields
              kind="model"
              name={model.name}
              owner={chosen}
              specs={parametersInPage(model)}
              values={choice.parameters}
              onChange={openModel}
            />
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
