/** The queues with their limits and numbers of jobs, and the limits on the user's own jobs. */
import { formatCount } from "@tutti/kernel/core/format.ts";
import { limitsText, ownLimitsText } from "@tutti/words/limits.ts";
import { limitCell } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { linkTo } from "../../page/navigation.ts";
import { Headings, Scrollable } from "../../page/parts.tsx";
import { ownLimits, queues } from "../store.ts";

const NUMBERS = ["waiting", "running", "max CPUs", "time limit"];

export function Queues() {
  const hasLimits = queues.value.some(({ limits }) => limits !== undefined);
  return (
    <>
      <h1>Queues</h1>
      <Scrollable label="Queues">
        <table>
          <Headings
            titles={["queue", ...NUMBERS, ...(hasLimits ? ["limits on all its jobs"] : [])]}
            isNumber={(column) => column > 0 && column <= NUMBERS.length}
          />
          <tbody>
            {queues.value.map(({ name, queued, running, mostCpus, limitMs, limits }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={linkTo("jobs", [], { queue: name })}>{visibleLine(name)}</a>
                </th>
                <td class="number">{formatCount(queued)}</td>
                <td class="number">{formatCount(running)}</td>
                <td class="number">{formatCount(mostCpus)}</td>
                <td class="number">{limitCell(limitMs)}</td>
                {hasLimits ? <td class="limits">{limits && limitsText(limits)}</td> : null}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
      {ownLimits.value.length === 0 ? null : (
        <section aria-label="Limits on your jobs">
          <h2>Limits on your jobs</h2>
          {ownLimits.value.map((limits) => (
            <p key={limits.of + limits.name}>{ownLimitsText(limits)}</p>
          ))}
        </section>
      )}
      <p class="muted">
        The same on the command line: <code>tutti list queues</code>
      </p>
    </>
  );
}
