/**
 * The laboratory's one script, for the page and for its workers, because they share most of their code: a
 * worker has no document, and the worker of a policy that was typed in has that policy.
 */
if (typeof document !== "undefined") void import("./main.tsx");
else if ("tuttiOwnPolicy" in globalThis) void import("./own/worker.ts");
else void import("./lab-worker.ts");
