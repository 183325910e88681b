/** Says who has which share, and what they have used of it. */
import { type FairShare, type ShareIndex, shareFactor, shareLevel } from "@tutti/kernel/core/fair-share.ts";
import type { SharesAnswer } from "@tutti/protocol/schema.ts";
import { type Config, sharesOf } from "../config/config.ts";
import type { Caller } from "../contract/service.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import type { LiveShares } from "./live-shares.ts";

interface SharesParts {
  readonly shares: LiveShares;
  readonly config: Config;
  readonly scheduler: Pick<Scheduler, "choice" | "parameters">;
}

/** Of others than the caller, administrators see everything, and users nothing but their own rank. */
export function sharesAnswerOf(
  { shares, config, scheduler }: SharesParts,
  { user: caller, isAdministrator }: Caller,
): Omit<SharesAnswer, "schema"> {
  const quotas = shares.quotas.list(isAdministrator ? undefined : caller);
  shares.update();
  const { counted } = shares;
  const all = [...counted.users()].map(([user, index]) => ({ user, index, level: counted.levelOf(index) }));
  all.sort((a, b) => a.level - b.level || (a.user < b.user ? -1 : 1));
  const groupOf = new Map(counted.groups.map(([name, index]) => [index, name]));
  const users = all.map(({ user, index, level }) => {
    const { parent, effectiveUsage } = counted.nodes[index];
    const group = groupOf.get(parent);
    return {
      user,
      group,
      rank: 1 + all.findIndex((other) => other.level === level),
      ...valuesOf(counted, index),
      effectiveUsage,
    };
  });
  const own = users.filter(({ user }) => user === caller);
  return {
    policy: scheduler.choice.label,
    isUsed: isFairShare(scheduler.parameters),
    halfLifeMs: sharesOf(config).halfLifeS * 1000,
    ...(own.length > 0 && { rank: own[0].rank }),
    ofUsers: users.length,
    users: isAdministrator ? users : own,
    ...(isAdministrator &&
      counted.groups.length > 0 && {
        groups: counted.groups.map(([group, index]) => ({ group, ...valuesOf(counted, index) })),
      }),
    ...(quotas.length > 0 && { quotas }),
  };
}

/** Whether a policy with these parameters orders its queue by fair share. */
export function isFairShare({ order, queueOrder }: Readonly<Record<string, string | number>>): boolean {
  return order === "fair-share" || queueOrder === "fair-share";
}

function valuesOf({ nodes }: FairShare, index: ShareIndex) {
  const { shares, share, usageCpuS, usage } = nodes[index];
  return { shares, share, usedCpuMs: usageCpuS * 1000, usage, factor: shareFactor(shareLevel(nodes[index])) };
}
