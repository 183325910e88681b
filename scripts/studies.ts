/** `npm run studies [-- KEY …]`: runs the studies, or those named, and writes the page of each. */

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { STUDIES } from "@tutti/papers/studies/registry.ts";
import { pagePath, studyPage } from "@tutti/papers/studies/study.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((key) => !STUDIES.some((study) => study.key === key));
if (unknown.length > 0) {
  const keys = STUDIES.map(({ key }) => key).join(", ");
  process.stderr.write(`studies: Cannot find study "${unknown[0]}": expected one of ${keys}\n`);
  process.exitCode = 64;
} else {
  try {
    for (const study of STUDIES) {
      if (wanted.length > 0 && !wanted.includes(study.key)) continue;
      const startedMs = performance.now();
      const tables = await study.run({
        workers: availableParallelism(),
        onDone: (done, of) => process.stderr.write(`\r${study.key}: ${done} of ${of} runs`),
      });
      const page = join(root, pagePath(study));
      mkdirSync(dirname(page), { recursive: true });
      writeFileSync(page, studyPage(study, tables));
      const quoted = study.quoted?.(tables);
      if (quoted !== undefined) writeFileSync(join(root, quoted.path), quoted.text);
      for (const { picture } of tables)
        if (picture !== undefined) writeFileSync(join(dirname(page), picture.name), picture.svg);
      process.stderr.write(`\n${study.key}: ${Math.round((performance.now() - startedMs) / 1000)} s\n`);
    }
  } catch (error) {
    const { message, exitCode } = explainError(error);
    process.stderr.write(`\nstudies: ${message}\n`);
    process.exitCode = exitCode;
  }
}
