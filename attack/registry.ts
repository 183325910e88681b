/** Lists all attacks. A new attack needs a file and a line here. */
import type { Attack } from "./attack.ts";
import { FUZZ } from "./fuzz/fuzz.ts";
import { CLAIMS } from "./identity/claims.ts";
import { DAMAGED } from "./identity/damaged-store.ts";
import { OLDER_STORE } from "./identity/older-store.ts";
import { REMOVED } from "./identity/removed-state.ts";
import { COMPILE_CACHE } from "./privileges/compile-cache.ts";
import { DESCRIPTORS } from "./privileges/descriptors.ts";
import { EVENTS } from "./privileges/events.ts";
import { FOREIGN_FILES } from "./privileges/foreign-files.ts";
import { INSIDE } from "./privileges/inside.ts";
import { PAGE_SESSIONS } from "./privileges/page-sessions.ts";
import { PLACES } from "./privileges/places.ts";
import { PRIVATE_MODE } from "./privileges/private-mode.ts";
import { HISTORY } from "./shares/history.ts";
import { LOCK_OUT } from "./shares/lock-out.ts";
import { MEMORY } from "./shares/memory.ts";
import { NEWS } from "./shares/news.ts";

export const ATTACKS: readonly Attack[] = [
  ...COMPILE_CACHE,
  ...PRIVATE_MODE,
  ...FOREIGN_FILES,
  ...DESCRIPTORS,
  ...EVENTS,
  ...PLACES,
  ...INSIDE,
  ...PAGE_SESSIONS,
  ...OLDER_STORE,
  ...REMOVED,
  ...DAMAGED,
  ...CLAIMS,
  ...HISTORY,
  ...LOCK_OUT,
  ...MEMORY,
  ...NEWS,
  ...FUZZ,
];
