/** The page of the live scheduler. */
import "../page/style.css";
import { clockText } from "@tutti/words/times.ts";
import { render } from "preact";
import { Alarm, Button } from "../page/parts.tsx";
import { Shell } from "../page/shell.tsx";
import { connection, heard } from "./connection.ts";
import { session, sessionProblem } from "./session.ts";
import { leave, loaded, start, status } from "./store.ts";
import { VIEWS } from "./views.ts";

function App() {
  if (session.value === undefined) return <Welcome />;
  return <Shell title="Tutti" views={VIEWS} head={<Head />} />;
}

/** Who is signed in, and whether what is shown is current. */
function Head() {
  const { user = "", isAdministrator = false } = session.value ?? {};
  return (
    <>
      <span role="status" class={connection.value === "lost" ? "connection lost" : "connection"}>
        {connectionText()}
      </span>
      <span class="push">
        {user}
        {isAdministrator ? " (administrator)" : ""}
      </span>
      <Button onClick={leave}>Sign out</Button>
    </>
  );
}

function connectionText(): string {
  if (connection.value === "lost")
    return `The scheduler does not answer. This was last known at ${clockText(heard.atMs)}.`;
  if (connection.value === "starting" || status.value === undefined) return "Connecting";
  return loaded.value < 1 ? `Loading jobs: ${Math.floor(100 * loaded.value)} %` : "Live";
}

function Welcome() {
  return (
    <main class="welcome" id="main">
      <h1>Tutti</h1>
      <Alarm>{sessionProblem.value}</Alarm>
      <p>
        To open this page as yourself, run <code>tutti web</code> in a terminal on this machine, and open the
        link that it prints, once.
      </p>
    </main>
  );
}

// The code of a link must leave the address before anything is drawn: start() takes it out first.
void start();
render(<App />, document.getElementById("app")!);
