/** The laboratory as a page: it reads traces, runs policies and shows results in the browser alone. */
import "../page/style.css";
import "./lab.css";
import { render } from "preact";
import { Shell, type View } from "../page/shell.tsx";
import { followAddress, labForPrograms } from "./state.ts";
import { Papers } from "./views/papers.tsx";
import { Results } from "./views/results.tsx";
import { RunBar } from "./views/run-bar.tsx";
import { Setup } from "./views/setup.tsx";

declare global {
  var tuttiLab: typeof labForPrograms;
}

/** The views of the laboratory, in the order of the rail. */
const VIEWS: readonly View[] = [
  { id: "experiment", label: "Experiment", key: "e", Page: Setup },
  { id: "results", label: "Results", key: "r", Page: Results },
  { id: "papers", label: "Papers", key: "p", Page: Papers },
];

globalThis.tuttiLab = labForPrograms;
followAddress();
render(<Shell title="Tutti laboratory" views={VIEWS} head={<RunBar />} />, document.getElementById("app")!);
