/** `node backup.js STATE FILE` in a simulated world: what `tutti store backup --force FILE` does. */
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";
import { backUp } from "@tutti/live/daemon/store/backup.ts";

const [stateFolder = "", file = ""] = process.argv.slice(2);
try {
  await backUp(`${stateFolder}/tutti.db`, file, true);
  process.exit(0);
} catch (error) {
  if (!(error instanceof InputError || error instanceof StorageError)) throw error;
  console.error(`tutti: ${error.message}`);
  process.exit(1);
}
