import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onSignals } from "./signals.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("onSignals() reports one press of Ctrl-C once, however often it arrives, and reports a later press again", () => {
  const heard: string[] = [];
  const stop = onSignals(["SIGUSR2", "SIGHUP"], (name) => heard.push(name));
  process.emit("SIGUSR2", "SIGUSR2");
  vi.advanceTimersByTime(300);
  process.emit("SIGUSR2", "SIGUSR2");
  process.emit("SIGHUP", "SIGHUP");
  expect(heard).toEqual(["SIGUSR2"]);
  // The time counts from the last reported press, so a user who presses again and again gets through.
  vi.advanceTimersByTime(300);
  process.emit("SIGUSR2", "SIGUSR2");
  expect(heard).toEqual(["SIGUSR2", "SIGUSR2"]);
  stop();
  vi.advanceTimersByTime(1000);
  expect(process.listenerCount("SIGUSR2")).toBe(0);
});
