/** The queues, their limits and their numbers of jobs. */
import { formatCount } from "../../../report/text/format.ts";
import { limitCell } from "../../../words/times.ts";
import { visibleLine } from "../../../words/visible.ts";
import { linkTo } from "../../page/navigation.ts";
import { queues } from "../store.ts";

export function Queues() {
  return (
    <>
      <h1>Queues</h1>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="scroll" aria-label="Queues" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">queue</th>
              <th scope="col" class="number">
                waiting
              </th>
              <th scope="col" class="number">
                running
              </th>
              <th scope="col" class="number">
                max CPUs
              </th>
              <th scope="col" class="number">
                time limit
              </th>
            </tr>
          </thead>
          <tbody>
            {queues.value.map(({ name, queued, running, mostCpus, limitMs }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={linkTo("jobs", [], { queue: name })}>{visibleLine(name)}</a>
                </th>
                <td class="number">{formatCount(queued)}</td>
                <td class="number">{formatCount(running)}</td>
                <td class="number">{formatCount(mostCpus)}</td>
                <td class="number">{limitCell(limitMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="muted">
        The same on the command line: <code>tutti queues</code>
      </p>
    </>
  );
}
