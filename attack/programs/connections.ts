/**
 * Runs as a stranger: holds many connections without a token, and replaces each connection that is closed.
 *
 *   connections.ts SOCKET-OR-PORT COUNT half|nothing|body
 */
import { connect } from "node:net";

const [, , address = "", count = "0", kind] = process.argv;
const TEXTS: Readonly<Record<string, string>> = {
  half: "GET /v1/status HTTP/1.1\r\nhost: localhost\r\n",
  nothing: "",
  body: "POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{",
};
let opened = 0;

function another(): void {
  const socket = /^\d+$/.test(address) ? connect(Number(address), "127.0.0.1") : connect(address);
  socket.on("connect", () => {
    socket.write(TEXTS[kind ?? ""] ?? "");
    if (++opened === Number(count) - 500) console.log("ready");
  });
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(another, 20));
}

for (let i = 0; i < Number(count); i++) setTimeout(another, i / 4);
// If the scheduler accepts fewer connections, that is enough.
setTimeout(() => console.log("ready"), 4000);
