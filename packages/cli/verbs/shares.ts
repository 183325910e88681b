/** `tutti shares`: who should get how much of the machine, and what they have used of it. */

import { formatDigits, formatDuration, formatPercent, plural } from "@tutti/kernel/core/format.ts";
import type { SharesAnswer } from "@tutti/protocol/schema.ts";
import { quotaText } from "@tutti/words/limits.ts";
import { elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { show } from "../live/show.ts";
import { left, right, tableOf } from "../text/text.ts";

export function configure(command: Command): void {
  show(
    command.addHelpText(
      "after",
      "\nUsage is the CPUs of jobs times their running time; after a half-life, it\ncounts half. The factor is 2^(-usage/share): 1 without usage, 0.5 with exactly\nthe share. With a policy such as easy:order=fair-share, jobs of users with a\nlarger factor go first. Administrators see all users, others themselves and\ntheir rank.",
    ),
    { ask: ({ client }) => client.ask<SharesAnswer>("/v1/shares"), text: sharesText },
  );
}

function sharesText(answer: SharesAnswer): string {
  const { policy, isUsed, halfLifeMs, rank, ofUsers, users, groups, quotas = [] } = answer;
  const halfLife = `Usage counts half after ${formatDuration(halfLifeMs / 1000)}.`;
  const order = isUsed
    ? `The policy ${visibleLine(policy)} starts jobs of users with a larger factor first.`
    : `The policy ${visibleLine(policy)} does not order jobs by these factors.`;
  const own = rank === undefined ? [] : [`You are number ${rank} of ${plural(ofUsers, "user")}.`];
  const lines = [
    users.length === 0 ? "No usage is known, and nobody has a share of their own." : usersTable(users),
  ];
  if (groups !== undefined) lines.push("", tableOf(groups, [GROUP, ...VALUES]));
  const ofQuotas = quotas.map(
    (quota) => `Quota of ${quota.of} ${visibleLine(quota.name)}: ${quotaText(quota)} are used.`,
  );
  return [...lines, "", ...ofQuotas, ...own, halfLife, order, ""].join("\n");
}

type Share = Pick<SharesAnswer["users"][number], "shares" | "share" | "usedCpuMs" | "usage" | "factor">;

const VALUES = [
  right<Share>("shares", ({ shares }) => String(shares)),
  right<Share>("share", ({ share }) => formatPercent(share)),
  right<Share>("CPU time", ({ usedCpuMs }) => elapsedText(usedCpuMs)),
  right<Share>("usage", ({ usage }) => formatPercent(usage)),
  right<Share>("factor", ({ factor }) => formatDigits(factor, 4)),
];

const GROUP = left<{ readonly group?: string }>("group", ({ group = "" }) => visibleLine(group));

function usersTable(users: SharesAnswer["users"]): string {
  return tableOf<(typeof users)[number]>(users, [
    right("rank", ({ rank }) => String(rank)),
    left("user", ({ user }) => visibleLine(user)),
    users.some(({ group }) => group !== undefined) ? GROUP : undefined,
    ...VALUES,
  ]);
}
