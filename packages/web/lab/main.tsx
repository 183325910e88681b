/** The laboratory as a page: it reads traces, runs policies and shows results in the browser alone. */
import "../page/style.css";
import "./lab.css";
import { render } from "preact";
import { Shell, type View } from "../page/shell.tsx";
import { followAddress, hasResult, labForPrograms, openResult } from "./state.ts";
import { Turns } from "./turns/turns.tsx";
import { Papers } from "./views/papers.tsx";
import { Results } from "./views/results.tsx";
import { RunBar } from "./views/run-bar.tsx";
import { Setup } from "./views/setup.tsx";

declare global {
  var tuttiLab: typeof labForPrograms;
}

const experiment: View = { id: "experiment", label: "Experiment", key: "e", Page: Setup };
const results: View = { id: "results", label: "Results", key: "r", Page: Results };
/** The views of the laboratory, in the order of the rail; the first one is shown at the beginning. */
const VIEWS: readonly View[] = [
  ...(hasResult ? [results, experiment] : [experiment, results]),
  { id: "turns", label: "Turns", key: "t", Page: Turns },
  { id: "papers", label: "Papers", key: "p", Page: Papers },
];

globalThis.tuttiLab = labForPrograms;
followAddress();
void openResult();
render(<Shell title="Tutti laboratory" views={VIEWS} head={<RunBar />} />, document.getElementById("app")!);
