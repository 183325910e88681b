/** The view in which an experiment is put together: jobs, rules, policies. */
import { Alarm } from "../../page/parts.tsx";
import { notice } from "../state.ts";
import { JobsPanel } from "./jobs-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import { RulesPanel } from "./rules-panel.tsx";

export function Setup() {
  return (
    <>
      <h1>Experiment</h1>
      <Alarm>{notice.value}</Alarm>
      <div class="setup">
        <JobsPanel />
        <RulesPanel />
        <PolicyPanel />
      </div>
    </>
  );
}
