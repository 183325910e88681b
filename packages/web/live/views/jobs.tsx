/** All jobs: filters, order and the open job are in the address. */
import "../jobs/jobs.css";
import { plural } from "@tutti/kernel/core/format.ts";
import type { Job } from "@tutti/protocol/answers.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useMemo, useState } from "preact/hooks";
import { addressText } from "../../page/address.ts";
import { isStale, useCalm } from "../../page/clock.ts";
import { useKey } from "../../page/keys.ts";
import { address } from "../../page/navigation.ts";
import { Button } from "../../page/parts.tsx";
import { JobDrawer } from "../jobs/drawer.tsx";
import { FILTERS, filterOf, inOrder, isShown } from "../jobs/filter.ts";
import { olderCount, useOlder } from "../jobs/older.ts";
import { SubmitDialog } from "../jobs/submit.tsx";
import { JobTable } from "../jobs/table.tsx";
import { showAll, Toolbar } from "../jobs/toolbar.tsx";
import { changes, jobs, loaded, status } from "../store.ts";

/** Of the list while jobs change. */
const REDRAW_MS = 300;

export function Jobs() {
  const change = useCalm(changes, REDRAW_MS);
  const { query, rest } = address.value;
  const kept = useMemo(() => [...jobs.values()], [change]);
  const older = olderCount(kept);
  const { isSearch, found } = useOlder(query, older > 0);
  const all = useMemo(() => (found === undefined ? kept : [...kept, ...found]), [kept, found]);
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
        <Toolbar all={all} list={list} older={older} />
        {list.length > 0 || loaded.value < 1 ? (
          <JobTable list={list} />
        ) : isSearch && found === undefined ? (
          <p class="muted">Loading</p>
        ) : (
          <NoJobs all={all} isAll={older === 0 || isSearch} />
        )}
      </section>
      {open === undefined ? null : <JobDrawer key={open} job={open} />}
    </div>
  );
}

/**
 * In the place of an empty list: why it is empty.
 * @param isAll no job that is kept was left out
 */
function NoJobs({ all, isAll }: { readonly all: readonly Job[]; readonly isAll: boolean }) {
  const { query } = address.value;
  const filters = FILTERS.flatMap((name) =>
    query[name] === undefined ? [] : [`${name} “${visibleLine(query[name])}”`],
  );
  if (all.length === 0 || filters.length === 0) return <p class="nothing">There are no jobs yet.</p>;
  return (
    <p class="nothing" role="status">
      {isAll ? "No job" : "No job here"} matches {filters.join(" and ")}.{" "}
      <Button onClick={showAll}>Show all {plural(all.length, "job")}</Button>
    </p>
  );
}

function Submit() {
  const [isOpen, setOpen] = useState(false);
  const isAllowed = status.value?.web?.submit ?? false;
  useKey("s", "submit a job, where the page may", () => isAllowed && !isStale.peek() && setOpen(true));
  if (!isAllowed)
    return (
      <p class="muted push">
        To submit, use <code>tutti submit</code>; the setting <code>web.submit</code> allows it here.
      </p>
    );
  return (
    <>
      <Button class="primary push" onClick={() => setOpen(true)}>
        Submit a job
      </Button>
      {isOpen ? <SubmitDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}
