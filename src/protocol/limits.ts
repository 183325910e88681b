/**
 * Defines the limits that command line, API and scheduler share. Jobs that are already in the store may
 * exceed them.
 */

/** In one request. Each job of an array counts. */
export const MAX_JOBS_PER_BATCH = 10_000;
/** In one page of a list. */
export const MAX_JOBS_PER_PAGE = 1000;
/** In one answer that is not a stream. */
export const MAX_EVENTS_PER_ANSWER = 10_000;
/** Jobs, of the caller and of others, in one answer about a stretch of time. */
export const MAX_JOBS_IN_TIMELINE = 5000;
/** In one question of what would happen. */
export const MAX_HYPOTHETICAL_JOBS = 16;

export const MAX_TASKS = 65_536;
export const MAX_PRIORITY = 100;
export const MIN_PRIORITY = -MAX_PRIORITY;
export const MAX_RETRIES = 1000;
/** Jobs that one job waits for. */
export const MAX_DEPENDENCIES = 1000;
export const MAX_ARRAY_INDEX = 1_000_000;
/** Scripts are kept in the store and copied for every start. */
export const MAX_SCRIPT_BYTES = 2 ** 20;
/** One argument or environment variable: Linux accepts strings shorter than 32 pages (MAX_ARG_STRLEN). */
export const MAX_STRING_LENGTH = 131_071;
export const MAX_PATH_LENGTH = 4096;
export const MAX_COMMAND_WORDS = 100_000;
export const MAX_NAME_LENGTH = 256;
export const MAX_QUEUE_LENGTH = 64;
export const MAX_KEY_LENGTH = 200;
/** Ten years. A longer limit is considered a mistake. */
export const MAX_LIMIT_MS = 10 * 365 * 86_400_000;

export const MIN_SLOT_MS = 20;
export const MAX_SLOT_MS = 60_000;
/** Rows of the matrix. */
export const MAX_ROWS = 1000;
