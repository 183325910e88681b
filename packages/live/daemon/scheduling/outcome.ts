/** What the scheduler decides, and why it made a new driver. */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { Decision } from "./live-driver.ts";

/** The reason for an adoption. */
export interface Reason {
  readonly text: string;
  /** Who may see the text: the user whose job it names, or only administrators; left out: all users. */
  readonly visibleTo?: number | "administrators";
}

/** Why nothing starts under the policy, or not this job. */
export type PolicyObstacle =
  /** The policy cannot take over without moving gangs, which is impossible on a cluster. */
  | {
      readonly kind: "handover";
      readonly policy: string;
      /** Gangs that must end first. */
      readonly jobs: readonly JobNumber[];
    }
  /** The job needs countable resources, and the policy counts only processors. */
  | { readonly kind: "policy-units"; readonly policy: string };

export interface Outcome extends Decision {
  /** Set after an adoption: its reason, and the running jobs that were stopped. */
  readonly adoption?: { readonly because: Reason; readonly stopped: readonly JobNumber[] } | undefined;
  /** Set when the policy failed and was replaced: the policy that failed, and why. */
  readonly fellBack?: { readonly choice: PolicyChoice; readonly because: string } | undefined;
}
