/** What the page and the worker with the simulated world send each other. */
import type { Event } from "@tutti/protocol/answers.ts";
import type { Deed, DeedName, Picture, Recording, Scene } from "../run/recorded.ts";

export type ToWorld =
  /** `again`: what was done in another life with this seed. */
  | {
      readonly kind: "begin";
      readonly seed: number;
      readonly scene: Scene;
      readonly again: readonly Deed[];
    }
  /** Times real time; 0: it stands still; Infinity: as fast as it can. */
  | { readonly kind: "speed"; readonly speed: number }
  | { readonly kind: "act"; readonly name: Deed["name"] };

/** Something that has happened, for people. Times are ms since the beginning of the life. */
export interface Said {
  readonly atMs: number;
  readonly what:
    | { readonly kind: "event"; readonly event: Event }
    | { readonly kind: "deed"; readonly name: DeedName; readonly isTakenBack: boolean }
    | { readonly kind: "front end" | "conductor" | "machine"; readonly isThere: boolean }
    | { readonly kind: "node"; readonly name: string; readonly isThere: boolean };
}

export interface WorldState {
  /** Since the beginning of the life. */
  readonly nowMs: number;
  /** Left out: it is the one that was sent before. */
  readonly picture?: Picture | undefined;
  /** The machine of the scheduler. */
  readonly isOn: boolean;
  /** The front end answers. */
  readonly isServing: boolean;
  /** On nodes: at least one. */
  readonly conductor: "runs" | "stopped" | "gone";
  /** What goes on until it is taken back. */
  readonly lasting: readonly DeedName[];
  /** What may be done now. */
  readonly may: readonly Deed["name"][];
  /** No more faults: what is left ends, and is judged. */
  readonly isClosed: boolean;
  readonly done: readonly Deed[];
  /** Jobs by the last word of the front end. */
  readonly submitted: number;
  readonly ended: number;
  readonly running: number;
  readonly starts: number;
  readonly faults: number;
  readonly problems: readonly string[];
  /** What has happened since the state before. */
  readonly said: readonly Said[];
}

export type FromWorld =
  | { readonly kind: "state"; readonly state: WorldState }
  | { readonly kind: "end"; readonly recording: Recording }
  | { readonly kind: "failed"; readonly message: string };
