/** The view in which an experiment is put together: jobs, rules, policies. */
import { notice } from "../state.ts";
import { JobsPanel } from "./jobs-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import { RulesPanel } from "./rules-panel.tsx";

export function Setup() {
  return (
    <>
      <h1>Experiment</h1>
      {notice.value === "" ? null : (
        <p role="alert" class="alarm">
          {notice.value}
        </p>
      )}
      <div class="setup">
        <JobsPanel />
        <RulesPanel />
        <PolicyPanel />
      </div>
    </>
  );
}
