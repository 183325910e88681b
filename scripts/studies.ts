/** `npm run studies [-- KEY …]`: runs the studies, or those named, and writes docs/studies/KEY.md of each. */

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { STUDIES } from "@tutti/papers/studies/registry.ts";
import { studyPage } from "@tutti/papers/studies/study.ts";

const folder = fileURLToPath(new URL("../docs/studies/", import.meta.url));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((key) => !STUDIES.some((study) => study.key === key));
if (unknown.length > 0) {
  const keys = STUDIES.map(({ key }) => key).join(", ");
  process.stderr.write(`studies: Cannot find study "${unknown[0]}": expected one of ${keys}\n`);
  process.exitCode = 64;
} else {
  try {
    mkdirSync(folder, { recursive: true });
    for (const study of STUDIES) {
      if (wanted.length > 0 && !wanted.includes(study.key)) continue;
      const startedMs = performance.now();
      const tables = await study.run({
        workers: availableParallelism(),
        onDone: (done, of) => process.stderr.write(`\r${study.key}: ${done} of ${of} runs`),
      });
      writeFileSync(`${folder}${study.key}.md`, studyPage(study, tables));
      const quoted = study.quoted?.(tables);
      if (quoted !== undefined)
        writeFileSync(fileURLToPath(new URL(`../${quoted.path}`, import.meta.url)), quoted.text);
      for (const { picture } of tables)
        if (picture !== undefined) writeFileSync(folder + picture.name, picture.svg);
      process.stderr.write(`\n${study.key}: ${Math.round((performance.now() - startedMs) / 1000)} s\n`);
    }
  } catch (error) {
    const { message, exitCode } = explainError(error);
    process.stderr.write(`\nstudies: ${message}\n`);
    process.exitCode = exitCode;
  }
}
