export {
  availableParallelism,
  constants,
  homedir,
  hostname,
  loadavg,
  setPriority,
  tmpdir,
  totalmem,
  uptime,
} from "node:os";
