/** The matrix of a gang policy, played from what was recorded during the run. */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import type { MatrixRecord } from "@tutti/lab/results/matrix-record.ts";
import { parsePlace } from "../../matrix/playback.ts";
import { MatrixPlayer } from "../../matrix/player.tsx";
import { gangCss } from "../../page/gang-colours.ts";
import { address, goTo } from "../../page/navigation.ts";
import { Figure } from "../charts/figure.tsx";
import type { Finished } from "../state.ts";
import { chosenPolicy, PolicySelect } from "./policy-select.tsx";

/** Whether a policy has a matrix to play. */
export function hasMatrix({ comparison }: Finished): boolean {
  return comparison.policies.some(({ matrix }) => isPlayable(matrix));
}

function isPlayable(matrix: MatrixRecord | undefined): matrix is MatrixRecord {
  return matrix !== undefined && matrix.snapshots.length > 0;
}

export function Matrix({ done }: { readonly done: Finished }) {
  const { policies, instance } = done.comparison;
  const asked = policies[chosenPolicy(policies.length)];
  const policy = isPlayable(asked.matrix) ? asked : policies.find(({ matrix }) => isPlayable(matrix));
  if (policy === undefined || !isPlayable(policy.matrix)) return <p>No policy of this run has a matrix.</p>;
  const { matrix, label } = policy;
  const idOf = (job: number) => instance.id[job];
  const title = `The matrix under ${label}`;
  return (
    <Figure
      title={title}
      name={`matrix-${label.replaceAll(/\W+/g, "-")}`}
      note="Each line is a row of the matrix, and each box is a gang. Gangs in the same line run at the same time, and the lines take turns. The pictures were kept at instants spread over the run; the first one shown has the most rows."
      csv={() => csvOf(matrix, idOf)}
      svg={() =>
        matrixSvg(
          title,
          matrix.snapshots[parsePlace(address.peek().query.at, matrix.snapshots.length, matrix.busiest)],
          instance.processors,
          idOf,
        )
      }
    >
      <p>
        <PolicySelect
          policies={policies}
          accepts={({ matrix: own }) => isPlayable(own)}
          shown={policies.indexOf(policy)}
        />
      </p>
      <MatrixPlayer
        key={label}
        record={matrix}
        processors={instance.processors}
        idOf={idOf}
        label={title}
        originS={done.facts.firstSubmitS}
        onOpen={
          done.run &&
          ((job) => goTo("results", [], { ...address.peek().query, tab: "longest", job: String(job) }))
        }
      />
    </Figure>
  );
}

function* csvOf(
  { snapshots }: MatrixRecord,
  idOf: (job: number) => number,
): Generator<readonly (string | number)[]> {
  yield ["at_s", "rows", "row", "first_processor", "last_processor", "job"];
  for (const { atS, rows, row, first, end, job } of snapshots) {
    for (const [i, own] of job.entries()) yield [atS, rows, row[i] + 1, first[i], end[i] - 1, idOf(own)];
  }
}

const WIDTH = 1000;
const ROW = 24;
const TOP = 30;

function matrixSvg(
  title: string,
  { rows, row, first, end, job }: MatrixRecord["snapshots"][number],
  processors: number,
  idOf: (job: number) => number,
): string {
  const height = TOP + ROW * rows;
  const perProcessor = WIDTH / processors;
  const boxes = job.map((own, i) => {
    const left = (first[i] * perProcessor).toFixed(2);
    const width = ((end[i] - first[i]) * perProcessor).toFixed(2);
    const id = idOf(own);
    return `<rect x="${left}" y="${TOP + ROW * row[i]}" width="${width}" height="${ROW - 2}" fill="${gangCss(id)}"><title>job ${id}</title></rect>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="14" fill="#16191c">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="0" y="20">${escapeHtml(title)}: ${rows} rows, ${processors} processors</text>`,
    ...boxes,
    "</svg>\n",
  ].join("\n");
}
