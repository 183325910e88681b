/** Keeps what a policy has received and decided, so that others can receive the same. */
import type { Observer } from "@tutti/kernel/core/schedule.ts";

export interface Decision {
  readonly what: "arrived" | "departed" | "started";
  readonly timeS: number;
  /** Row of the policy's table. */
  readonly row: number;
}

export class Decisions implements Observer {
  readonly list: Decision[] = [];

  arrived = (timeS: number, row: number) => this.list.push({ what: "arrived", timeS, row });
  departed = (timeS: number, row: number) => this.list.push({ what: "departed", timeS, row });
  started = (timeS: number, row: number) => this.list.push({ what: "started", timeS, row });
}
