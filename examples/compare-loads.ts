// The laboratory as a library: how the mean response of three policies grows with the load, with 95 %
// intervals over ten seeds. In the clone, after `npm ci`: `npx node examples/compare-loads.ts`; elsewhere see
// docs/library.md.
import { compare, metricOf, type Summary } from "tutti";

const POLICIES = ["easy", "easy:order=shortest", "wlv:extraSlots=returned"];
const LOADS = [0.5, 0.7, 0.9];
/** Student's quantile for nine degrees of freedom. */
const T_9 = 2.262;

const minutes = (summary: Summary) => metricOf(summary, "response").all.mean / 60;

console.log(`load  ${POLICIES.map((policy) => policy.padEnd(24)).join("")}`.trimEnd());
for (const load of LOADS) {
  const comparison = await compare(`downey:jobs=500:load=${load}`, POLICIES, { slotS: 5, replications: 10 });
  const cells = comparison.policies.map(({ replications = [] }) => {
    const means = replications.map(minutes);
    const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
    const variance = means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (means.length - 1);
    return `${mean.toFixed(2)} ± ${(T_9 * Math.sqrt(variance / means.length)).toFixed(2)} min`.padEnd(24);
  });
  console.log(`${load}   ${cells.join("")}`.trimEnd());
}
