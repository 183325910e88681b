/** Limits that server and client both know. */

/** Jobs in one request, arrays counted by their jobs. */
export const MOST_JOBS_IN_BATCH = 10_000;
/** Jobs in one page of a list. */
export const MOST_JOBS_IN_PAGE = 1000;
