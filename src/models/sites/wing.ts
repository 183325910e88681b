/** Several sites under one grid scheduler (Dimitriadou and Karatza 2009). */
import type { SitesPolicyDefinition } from "../../core/sites.ts";
import { acrossSites, oneSite } from "../../policies/sites.ts";
import { SITES_RULES } from "../../simulator/sites.ts";
import type { Wing } from "../wing.ts";

export const sites: Wing<SitesPolicyDefinition> = {
  name: "sites",
  title: "Several sites",
  machine: "processors with a queue each, grouped into sites under one grid scheduler",
  rules: SITES_RULES,
  paper: "dimitriadou2009",
  policies: [oneSite, acrossSites],
};
