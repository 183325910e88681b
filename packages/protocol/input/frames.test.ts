import { expect, test } from "vitest";
import { MAX_FRAME_BYTES, pieceFrames, sizeFrame, typedFrames } from "./frames.ts";

test("sizeFrame + has sizes from 1 to 9999, whatever a terminal says", () => {
  const text = (rows: number, columns: number) => Buffer.from(sizeFrame(rows, columns)).toString();
  expect(text(24, 80)).toBe("w 24 80\n");
  expect(text(0, Number.NaN)).toBe("w 1 1\n");
  expect(text(-3, 1e9)).toBe("w 1 9999\n");
});

test("typedFrames + hold all bytes in order, each frame small enough to be written all at once", () => {
  const typed = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 256));
  const frames = [...typedFrames(typed)];
  expect(frames.map(({ length }) => length)).toEqual([4096, 4096, 1829]);
  expect(frames.every(({ length }) => length <= MAX_FRAME_BYTES)).toBe(true);
  const bodies = frames.map((frame) => {
    const end = frame.indexOf(10);
    expect(Buffer.from(frame.subarray(0, end)).toString()).toBe(`d ${frame.length - end - 1}`);
    return frame.subarray(end + 1);
  });
  expect(Buffer.concat(bodies).equals(typed)).toBe(true);
  expect([...typedFrames(new Uint8Array())]).toEqual([]);
});

test("pieceFrames + say where they begin, so that all bytes are there once, each frame written all at once", () => {
  const piece = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 256));
  const frames = [...pieceFrames(1_000_000, piece)];
  expect(frames.every(({ length }) => length <= MAX_FRAME_BYTES)).toBe(true);
  let at = 1_000_000;
  const bodies = frames.map((frame) => {
    const end = frame.indexOf(10);
    const body = frame.subarray(end + 1);
    expect(Buffer.from(frame.subarray(0, end)).toString()).toBe(`p ${at} ${body.length}`);
    at += body.length;
    return body;
  });
  expect(Buffer.concat(bodies).equals(piece)).toBe(true);
  expect([...pieceFrames(0, new Uint8Array())]).toEqual([]);
});
