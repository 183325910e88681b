/** What a visitor can do to the simulated machine, in words, and in the address of the page. */
import type { Said } from "@tutti/torture/page/messages.ts";
import { DEED_NAMES, type Deed, type DeedName } from "@tutti/torture/run/recorded.ts";
import { eventSentence } from "@tutti/words/event-sentences.ts";

interface DeedWords {
  readonly button: string;
  /** Of the button that takes it back. */
  readonly back?: string;
  readonly hint: string;
  readonly said: string;
  readonly saidBack?: string;
}

export const DEEDS: Readonly<Record<DeedName, DeedWords>> = {
  conductor: {
    button: "Kill the conductor",
    hint: "It gives each line of jobs its turn.",
    said: "You killed the conductor (SIGKILL).",
  },
  "front-end": {
    button: "Kill the front end",
    hint: "It accepts jobs and decides when they start.",
    said: "You killed the front end (SIGKILL).",
  },
  stop: {
    button: "Stop the conductor",
    back: "Let the conductor go on",
    hint: "It still exists, and does nothing.",
    said: "You stopped the conductor (SIGSTOP).",
    saidBack: "You let the conductor go on.",
  },
  power: {
    button: "Cut the power",
    back: "Turn the power on",
    hint: "The node is lost, with its memory and what was not yet on its disk.",
    said: "You cut the power of the node.",
    saidBack: "You turned the power on again.",
  },
  disk: {
    button: "Fill the disk",
    back: "Make room on the disk",
    hint: "Nothing new can be written.",
    said: "You filled the disk.",
    saidBack: "You made room on the disk.",
  },
  node: {
    button: "Lose a node",
    back: "Give the node power again",
    hint: "One of five: its power is cut, and what ran there is lost.",
    said: "You cut the power of a node.",
    saidBack: "You gave the node power again.",
  },
  network: {
    button: "Unplug a node's network",
    back: "Plug the network in again",
    hint: "Its jobs go on, and nobody hears of it.",
    said: "You unplugged the network of a node.",
    saidBack: "You plugged the network in again.",
  },
  "node-conductor": {
    button: "Kill a node's conductor",
    hint: "On its node, it gives each line of jobs its turn.",
    said: "You killed the conductor of a node (SIGKILL).",
  },
  clock: {
    button: "Set the clock ahead",
    back: "Set the clock right",
    hint: "By one hour.",
    said: "You set the clock one hour ahead.",
    saidBack: "You set the clock right.",
  },
};

/** When it goes, and when it comes; events tell the rest. */
const THERE = {
  machine: ["The node is off: what was in memory is lost.", "The node boots."],
  "front end": ["The front end is gone.", "The front end answers."],
  conductor: ["There is no conductor.", undefined],
} as const;

/** Undefined: it is not worth a line. */
export function saidText({ what }: Said): string | undefined {
  if (what.kind === "deed") {
    const { said, saidBack = said } = DEEDS[what.name];
    return what.isTakenBack ? saidBack : said;
  }
  if (what.kind === "node") return `Node ${what.name} ${what.isThere ? "boots" : "is off"}.`;
  if (what.kind !== "event") return THERE[what.kind][what.isThere ? 1 : 0];
  const text = eventSentence(what.event, `job ${what.event.job}`);
  return text && `${text[0].toUpperCase()}${text.slice(1)}.`;
}

const NAMES: readonly string[] = [...DEED_NAMES, "end"];
const MOST = 1000;

/** As in the address: `12.5:conductor,20:disk`, in seconds with at most 6 digits. */
export function deedsText(deeds: readonly Deed[]): string {
  return deeds.map(({ atUs, name }) => `${atUs / 1e6}:${name}`).join(",");
}

/** Reads the address; what cannot be read ends the list. */
export function readDeeds(text = ""): Deed[] {
  const deeds: Deed[] = [];
  for (const part of text.split(",").slice(0, MOST)) {
    const [, seconds, name] = /^(\d{1,7}(?:\.\d{1,6})?):([a-z-]+)$/.exec(part) ?? [];
    const atUs = Math.round(Number(seconds) * 1e6);
    if (!NAMES.includes(name) || atUs < (deeds.at(-1)?.atUs ?? 0)) break;
    deeds.push({ atUs, name: name as Deed["name"] });
  }
  return deeds;
}
