/** What was asked of a worker that the user has ended. */
export class Cancelled extends Error {}
