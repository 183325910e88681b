/** Chooses a workload model and its parameters. */

import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { parseModel } from "@tutti/lab/experiments/jobs.ts";
import { Bullets, Choice } from "../../page/parts.tsx";
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
      <Choice
        title="or a model"
        value={model?.name ?? ""}
        options={[["", "choose"], ...MODELS.map(({ name, title }) => [name, title] as const)]}
        onChoose={(name) => name !== "" && openModel(name)}
      />
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
            <Bullets texts={model.rules} />
            <p class="muted">{model.source}</p>
          </details>
        </>
      )}
    </div>
  );
}
