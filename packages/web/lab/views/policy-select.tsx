/** Chooses one of the compared policies; the choice is in the address. */
import type { ComparedPolicy } from "@tutti/lab/results/comparison.ts";
import { address, setQuery } from "../../page/navigation.ts";
import { Choice } from "../../page/parts.tsx";

/** Index of the policy in the address; the first if there is none. */
export function chosenPolicy(count: number): number {
  const asked = Number(address.value.query.policy ?? 1) - 1;
  return Number.isInteger(asked) && asked >= 0 && asked < count ? asked : 0;
}

interface PolicySelectProps {
  readonly policies: readonly ComparedPolicy[];
  /** Which of them can be chosen; default: all. */
  readonly accepts?: (policy: ComparedPolicy) => boolean;
  /** Index of the one that is shown; default: the one in the address. */
  readonly shown?: number;
}

export function PolicySelect({
  policies,
  accepts = () => true,
  shown = chosenPolicy(policies.length),
}: PolicySelectProps) {
  return (
    <Choice
      title="Policy"
      value={String(shown + 1)}
      options={policies.flatMap((policy, i) => (accepts(policy) ? [[String(i + 1), policy.label]] : []))}
      onChoose={(policy) => setQuery({ policy, job: "" }, true)}
    />
  );
}
