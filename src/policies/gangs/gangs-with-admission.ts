/**
 * The gang policies that can stand behind an admission queue, and how each of them uses the matrix. Left out: `random`, whose jobs are
 * scattered, so that there is no block to be reserved.
 */
import { InputError } from "../../core/errors.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { withAdmission } from "./admission.ts";
import { bc as plainBc, buddy as plainBuddy } from "./buddy.ts";
import { br as plainBr, brmms as plainBrmms, brms as plainBrms } from "./buddy-blocks.ts";
import { extraSlotsOf } from "./extra-slots.ts";
import { gang as plainGang } from "./gang.ts";
import type { MatrixUse } from "./matrix-room.ts";
import { migrationCostS } from "./migration.ts";

import { wlv as plainWlv } from "./wlv.ts";

export const gang = withAdmission(plainGang, (parameters) => rowByRow(parameters, "side by side"));
export const buddy = withAdmission(plainBuddy, (parameters) => rowByRow(parameters, "whole buddy"));
export const bc = withAdmission(plainBc, (parameters) => rowByRow(parameters, "whole buddy"));
export const br = withAdmission(plainBr, (parameters) =>
  buddyColumns(parameters, extraSlotsOf(parameters) === "kept"),
);
export const brms = withAdmission(plainBrms, (parameters) => buddyColumns(parameters, true));
export const brmms = withAdmission(plainBrmms, (parameters) => buddyColumns(parameters, false));
export const wlv = withAdmission(plainWlv, (parameters) => {
  if (parameters.array === "ring") refuse("array=ring", "whether a gang fits depends on legal cuts");
  refuseMigration(parameters);
  return {
    lines: "columns",
    blocks: "side by side",
    keepsExtraSlots: extraSlotsOf(parameters) === "kept",
    asks: true,
  };
});

function buddyColumns(parameters: ParameterValues, keepsExtraSlots: boolean): MatrixUse {
  refuseMigration(parameters);
  return { lines: "columns", blocks: "buddy", keepsExtraSlots, asks: true };
}

function refuseMigration(parameters: ParameterValues): void {
  const costS = migrationCostS(parameters);
  if (costS !== undefined)
    refuse(`migrate=${costS}`, "reservations are forecast on processors that gangs keep");
}

function rowByRow(parameters: ParameterValues, blocks: MatrixUse["blocks"]): MatrixUse {
  if (extraSlotsOf(parameters) === "returned")
    refuse("extraSlots=returned", "which slots of a row will be given back is not known outside the policy");
  return { lines: "rows", blocks, keepsExtraSlots: extraSlotsOf(parameters) === "kept", asks: false };
}

function refuse(setting: string, reason: string): never {
  throw new InputError(
    `Cannot limit rows or memory with "${setting}": ${reason}, expected no limit or another setting`,
  );
}
