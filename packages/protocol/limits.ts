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
/** Words of `retryOn`. */
export const MAX_RETRY_WORDS = 64;
/**
 * Wait before the first retry, which doubles with every further one. The defaults are those of Kubernetes
 * Jobs: 10 s, doubled up to 6 min.
 */
export const DEFAULT_RETRY_DELAY_MS = 10_000;
export const MIN_RETRY_DELAY_MS = 1000;
export const MAX_RETRY_DELAY_MS = 86_400_000;
/** The wait is not doubled beyond this. */
export const MAX_DOUBLED_DELAY_MS = 360_000;
/** Jobs that one job waits for. */
export const MAX_DEPENDENCIES = 1000;
export const MAX_ARRAY_INDEX = 1_000_000;
/** Bytes of the body of a submit. */
export const MAX_SUBMIT_BYTES = 16 * 1024 * 1024;
/** Variables of a sweep. */
export const MAX_VARIABLES = 64;
/** Forecasts learn running times from this number of past jobs on; below, they are only ranges. */
export const FEWEST_PAST_JOBS = 3;

/** Scripts are kept in the store and copied for every start. */
export const MAX_SCRIPT_BYTES = 2 ** 20;
/** One argument or environment variable: Linux accepts strings shorter than 32 pages (MAX_ARG_STRLEN). */
export const MAX_STRING_LENGTH = 131_071;
/** Environment modules of a job. */
export const MAX_MODULES = 64;
export const MAX_PATH_LENGTH = 4096;
export const MAX_COMMAND_WORDS = 100_000;
export const MAX_NAME_LENGTH = 256;
export const MAX_QUEUE_LENGTH = 64;
export const MAX_KEY_LENGTH = 200;
/** The command of a hook, which may begin a script for everything longer. */
export const MAX_HOOK_LENGTH = 4096;
export const MAX_URL_LENGTH = 2048;
/** All addresses of a mail together, with commas: they stand in one line, which has at most 998 bytes. */
export const MAX_MAIL_LENGTH = 900;
/** Windows that are not over. */
export const MAX_WINDOWS = 1000;
export const MAX_WINDOW_NAME_LENGTH = 64;
/** Users, or queues, that a window names. */
export const MAX_NAMED = 100;
/** Windows in an answer about the whole scheduler. */
export const MAX_WINDOWS_IN_STATUS = 20;
/** Jobs that run in a window and are listed. */
export const MAX_JOBS_IN_WINDOW = 100;
/** Of a drain or a window, for people. */
export const MAX_REASON_LENGTH = 200;
/** Ten years. A longer limit is considered a mistake. */
export const MAX_LIMIT_MS = 10 * 365 * 86_400_000;

/** A begin that is further in the future is considered a mistake: ten years. */
export const MAX_BEGIN_AHEAD_MS = MAX_LIMIT_MS;

export const MIN_SLOT_MS = 20;
export const MAX_SLOT_MS = 60_000;
/** Rows of the matrix. */
export const MAX_ROWS = 1000;
