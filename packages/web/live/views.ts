/** The views of the live page, in the order of the rail. To add one, add a file and a line. */
import type { View } from "../page/shell.tsx";
import { Health } from "./views/health.tsx";
import { History } from "./views/history.tsx";
import { Jobs } from "./views/jobs.tsx";
import { Now } from "./views/now.tsx";
import { Queues } from "./views/queues.tsx";
import { TimelineView } from "./views/timeline.tsx";
import { WhatIf } from "./views/what-if.tsx";

export const VIEWS: readonly View[] = [
  { id: "now", label: "Now", key: "n", Page: Now },
  { id: "jobs", label: "Jobs", key: "j", Page: Jobs },
  { id: "timeline", label: "Timeline", key: "t", Page: TimelineView },
  { id: "what-if", label: "What if", key: "w", Page: WhatIf },
  { id: "queues", label: "Queues", key: "q", Page: Queues },
  { id: "history", label: "History", key: "h", Page: History },
  { id: "health", label: "Health", key: "e", Page: Health },
];
