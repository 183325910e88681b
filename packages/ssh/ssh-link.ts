/**
 * The link to the conductor of a host. It changes launches for the host (relocate.ts), and holds back the end
 * of an attempt until all that the attempt has written is here (outputs.ts).
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { LinkListener, NodeLink } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { Connector, type Way } from "@tutti/live/daemon/executor/cluster/connector.ts";
import type { AttemptState, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { FileQueues } from "./output-files.ts";
import { Outputs } from "./outputs.ts";
import { type Destination, launchFor, memberFor } from "./relocate.ts";

interface SshLinkSetup {
  readonly node: string;
  readonly clock: Clock;
  readonly listener: LinkListener;
  readonly way: Way;
  /** Folder of what is known about output. */
  readonly outputs: string;
  readonly queues: FileQueues;
  /** Undefined until the host has answered. */
  readonly destination: () => Destination | undefined;
  /** The account here under which the output of a job is written. */
  readonly accountOf: (spec: LaunchSpec) => { readonly uid: number; readonly gid: number };
  /** The user here who has this name on the host, for what is shown. */
  readonly uidOf: (user: string) => number;
  /** An attempt is about to be sent. */
  readonly onSent: (spec: LaunchSpec) => void;
  readonly notice: (text: string) => void;
  readonly onClose: () => void;
}

export class SshLink implements NodeLink {
  readonly node: string;
  readonly #setup: SshLinkSetup;
  readonly #connector: Connector;
  readonly #outputs: Outputs;

  constructor(setup: SshLinkSetup) {
    const { node, clock, listener, way, notice, onClose } = setup;
    this.node = node;
    this.#setup = setup;
    this.#outputs = new Outputs({
      node,
      clock,
      folder: setup.outputs,
      queues: setup.queues,
      send: (message) => this.#connector.send(message),
      notice,
    });
    this.#connector = new Connector({
      node,
      clock,
      way,
      onClose,
      listener: {
        opened: () => {
          this.#outputs.connected(true);
          listener.opened();
        },
        message: (message) => this.#receive(message),
        closed: (because) => {
          this.#outputs.connected(false);
          listener.closed(because);
        },
      },
    });
  }

  get lastHeardMs(): number {
    return this.#connector.lastHeardMs;
  }

  send(message: ToConductor): void {
    if (message.type === "forget") {
      const key = { ...message.attempt, identity: message.identity };
      this.#outputs.whenDone(key, () => {
        this.#outputs.drop(key);
        this.#connector.send(message);
      });
      return;
    }
    const sent = this.#changed(message);
    if (sent !== undefined) this.#connector.send(sent);
  }

  close(): void {
    this.#outputs.close();
    this.#connector.close();
  }

  /** Undefined: it cannot be sent now, and is asked for again. */
  #changed(message: ToConductor): ToConductor | undefined {
    if (message.type !== "launch" && message.type !== "join" && message.type !== "step") return message;
    const to = this.#setup.destination();
    if (to === undefined) return undefined;
    try {
      if (message.type === "join") return { type: "join", member: memberFor(message.member, to) };
      const { spec } = message;
      const changed = launchFor(spec, to);
      this.#outputs.track(spec, this.#setup.accountOf(spec));
      this.#setup.onSent(spec);
      return { type: message.type, spec: { ...changed, tasks: spec.tasks ?? 1 } };
    } catch (error) {
      this.#setup.notice(
        `job ${message.type === "join" ? message.member.job : message.spec.job} is not sent to ${this.node}: ${(error as Error).message}`,
      );
      return undefined;
    }
  }

  #receive(message: FromConductor): void {
    const { listener } = this.#setup;
    if (message.type === "output") this.#outputs.receive(message);
    else if (message.type === "ended") this.#outputs.whenDone(message.end, () => listener.message(message));
    else if (message.type === "state")
      listener.message({ ...message, attempts: message.attempts.map((attempt) => this.#listed(attempt)) });
    else {
      if (message.type === "launched")
        this.#outputs.begun({ ...message.attempt, identity: message.identity });
      listener.message(message);
    }
  }

  /** An attempt in a state: its end is reported by itself when its output is here. */
  #listed({ about, ...attempt }: AttemptState): AttemptState {
    this.#outputs.begun(attempt);
    const { end } = attempt;
    let isHeld = false;
    if (end !== undefined) {
      isHeld = true;
      let isNow = true;
      this.#outputs.whenDone(attempt, () => {
        isHeld = false;
        if (!isNow) this.#setup.listener.message({ type: "ended", end });
      });
      isNow = false;
    }
    const listed = { ...attempt, about: about && this.#aboutHere(about) };
    if (!isHeld) return listed;
    const { end: _, ...open } = listed;
    return { ...open, phase: "stopping" };
  }

  /** With the ids of this machine. */
  #aboutHere({ user, ...about }: NonNullable<AttemptState["about"]>): NonNullable<AttemptState["about"]> {
    const { uid: _, ...rest } = about;
    return user === undefined ? rest : { ...rest, uid: this.#setup.uidOf(user) };
  }
}
