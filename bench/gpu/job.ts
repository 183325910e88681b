/**
 * A job that uses bench/gpu/device.ts as training uses a GPU: it keeps memory there, and keeps some kernels
 * in the device's queue until it has had its time.
 *
 *   node bench/gpu/job.ts SOCKET NAME BYTES KERNEL_MS DEPTH TOTAL_MS
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [socketPath, name, bytes, kernelMs, depth, totalMs] = process.argv.slice(2);
const socket = connect(socketPath);
const answers = createInterface({ input: socket });
socket.write(`name ${name}-${process.pid}\n`);
socket.write(`alloc ${bytes}\n`);
const kernels = Math.ceil(Number(totalMs) / Number(kernelMs));
let launched = 0;
let done = -1;
const launch = () => {
  launched++;
  socket.write(`kernel ${1000 * Number(kernelMs)}\n`);
};
answers.on("line", (line) => {
  if (line.startsWith("no ")) {
    process.stderr.write(`job: ${line}\n`);
    process.exit(1);
  }
  // The first answer is the one of the memory.
  done++;
  while (launched < kernels && launched - done < Number(depth)) launch();
  if (done === kernels) process.exit(0);
});
socket.on("error", (error) => {
  process.stderr.write(`job: Cannot use the device: ${error.message}\n`);
  process.exit(1);
});
