/** The one list of attacks. A new one is a file and a line. */
import type { Attack } from "./attack.ts";
import { CLAIMS } from "./identity/claims.ts";
import { DAMAGED } from "./identity/damaged-store.ts";
import { OLDER_STORE } from "./identity/older-store.ts";
import { REMOVED } from "./identity/removed-state.ts";
import { COMPILE_CACHE } from "./privileges/compile-cache.ts";
import { DESCRIPTORS } from "./privileges/descriptors.ts";
import { EVENTS } from "./privileges/events.ts";
import { FOREIGN_FILES } from "./privileges/foreign-files.ts";
import { PRIVATE_MODE } from "./privileges/private-mode.ts";

export const ATTACKS: readonly Attack[] = [
  ...COMPILE_CACHE,
  ...PRIVATE_MODE,
  ...FOREIGN_FILES,
  ...DESCRIPTORS,
  ...EVENTS,
  ...OLDER_STORE,
  ...REMOVED,
  ...DAMAGED,
  ...CLAIMS,
];
