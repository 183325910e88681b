// Starts the command line in the executable, with the environment as it was typed: unpack.sh passes it on in
// pieces, because the shell that runs unpack.sh drops variables whose names it could not write.
const { env } = process;
const { TUTTI_LAUNCHER } = env;
let pieces = "";
for (let n = 1; env[`TUTTI_ENVIRONMENT_${n}`] !== undefined; n++) pieces += env[`TUTTI_ENVIRONMENT_${n}`];
if (pieces !== "") {
  for (const name of Object.keys(env)) delete env[name];
  for (const variable of Buffer.from(pieces, "base64").toString().split("\0")) {
    const end = variable.indexOf("=");
    if (end > 0) env[variable.slice(0, end)] = variable.slice(end + 1);
  }
}
if (TUTTI_LAUNCHER !== undefined) env.TUTTI_LAUNCHER = TUTTI_LAUNCHER;
await import("./tutti.js");
