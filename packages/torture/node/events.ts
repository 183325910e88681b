/** `node:events`, the same in Node and in browsers. Its path keeps Node from giving its own module. */
import events from "events/events.js";

export const { EventEmitter, once } = events;
export type EventEmitter = InstanceType<typeof events>;
