/**
 * Reproduces Kawanami, Yoshihisa and Kanazawa 2008: automatic queue selection and connected reservations on
 * the HPC2500, tables 1 to 4 and figures 2 and 3. The site's log is not public, so the jobs come from a model
 * (workload/models/hpc2500.ts). Our numbers can be compared in direction only: the paper prints no numbers
 * for its figures, and section 4 only describes them in words.
 */
import texts from "../../../../docs/papers/kawanami2008.texts.json" with { type: "json" };
import { judge } from "../../claims.ts";
import { paperOf } from "../texts.ts";
import { claims } from "./claims.ts";
import { figures } from "./figures.ts";
import { noteValues } from "./notes.ts";
import { kawanami2008Tables } from "./tables.ts";

export const kawanami2008 = paperOf(kawanami2008Tables, texts, {
  figures,
  statements: (results) => claims(results).map(judge),
  noteValues,
});
