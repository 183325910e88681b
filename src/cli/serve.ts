import type { Command } from "commander";
export function configure(_command: Command): void {}
