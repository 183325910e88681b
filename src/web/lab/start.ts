/**
 * The laboratory's one script, for the page and for its workers, because they share most of their code: a
 * worker has no document.
 */
if (typeof document === "undefined") void import("./lab-worker.ts");
else void import("./main.tsx");
