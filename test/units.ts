/** Reads the systemd units of packaging/ as systemd reads them. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function unitPath(name: "tutti" | "tutti-user"): string {
  return fileURLToPath(new URL(`../packaging/systemd/${name}.service`, import.meta.url));
}

/** Values of a setting from all its lines. */
export function settingOf(unit: string, setting: string): string[] {
  return unit
    .split("\n")
    .filter((line) => line.startsWith(`${setting}=`))
    .flatMap((line) => line.slice(setting.length + 1).split(/\s+/));
}

export function readUnit(name: "tutti" | "tutti-user"): string {
  return readFileSync(unitPath(name), "utf8");
}
