/** All jobs: filters, order and the open job are in the address. */
import "../jobs/jobs.css";
import { useMemo, useState } from "preact/hooks";
import { addressText } from "../../page/address.ts";
import { useCalm } from "../../page/clock.ts";
import { useKey } from "../../page/keys.ts";
import { address } from "../../page/navigation.ts";
import { JobDrawer } from "../jobs/drawer.tsx";
import { filterOf, inOrder, isShown } from "../jobs/filter.ts";
import { SubmitDialog } from "../jobs/submit.tsx";
import { JobTable } from "../jobs/table.tsx";
import { Toolbar } from "../jobs/toolbar.tsx";
import { changes, jobs, status } from "../store.ts";

/** Of the list while jobs change. */
const REDRAW_MS = 300;

export function Jobs() {
  const change = useCalm(changes, REDRAW_MS);
  const { query, rest } = address.value;
  const all = useMemo(() => [...jobs.values()], [change]);
  const list = useMemo(() => {
    const filter = filterOf(query);
    return inOrder(
      all.filter((job) => isShown(filter, job)),
      query.sort,
      Date.now(),
    );
  }, [all, addressText({ view: "", rest: [], query })]);
  const open = /^\d{1,15}$/.test(rest[0] ?? "") ? Number(rest[0]) : undefined;
  return (
    <div class={open === undefined ? "jobs" : "jobs with-drawer"}>
      <section class="jobs-list" aria-label="List of jobs">
        <header class="row">
          <h1>Jobs</h1>
          <Submit />
        </header>
        <Toolbar all={all} list={list} />
        <JobTable list={list} />
      </section>
      {open === undefined ? null : <JobDrawer key={open} job={open} />}
    </div>
  );
}

function Submit() {
  const [isOpen, setOpen] = useState(false);
  const isAllowed = status.value?.web?.submit ?? false;
  useKey("s", "submit a job, where the page may", () => isAllowed && setOpen(true));
  if (!isAllowed)
    return (
      <p class="muted push">
        To submit, use <code>tutti submit</code>; the setting <code>web.submit</code> allows it here.
      </p>
    );
  return (
    <>
      <button type="button" class="primary push" onClick={() => setOpen(true)}>
        Submit a job
      </button>
      {isOpen ? <SubmitDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}
