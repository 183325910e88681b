/** The shared worker: one feed for all tabs of this browser. */
import { Feed } from "./feed.ts";
import { BROWSER } from "./feed-world.ts";

const feed = new Feed(BROWSER);

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  const take = feed.join((message) => port.postMessage(message));
  port.onmessage = ({ data }) => take(data);
});
