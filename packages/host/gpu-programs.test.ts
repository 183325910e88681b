/**
 * Runs pretended programs. What nvidia-smi prints is as its documentation and version 550 have it; what
 * rocm-smi prints is as in public reports of ROCm 6.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identityOf, isAlive } from "@tutti/host/processes.ts";
import { afterAll, describe, expect, test } from "vitest";
import { findGpuPrograms, gpuNamed, readGpus } from "./gpu-programs.ts";

const MIB = 2 ** 20;
const folder = mkdtempSync(join(tmpdir(), "tutti-gpus-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes a program. @returns its folder */
function program(place: string, name: string, script: string): string {
  const bin = join(folder, place);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  return bin;
}

const printing = (text: string) => `cat <<'END'\n${text}\nEND`;

const NVIDIA = `0, GPU-1f0e6e3c-7d0b-5a0f-9d55-0e1a7a9b1c01, 37, 11468, 81559, NVIDIA A100-SXM4-80GB
1, GPU-1f0e6e3c-aaaa-5a0f-9d55-0e1a7a9b1c02, [N/A], 4, 81559, NVIDIA A100-SXM4-80GB`;

const AMD = `{"card0": {"GPU use (%)": "37", "VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "10850304", "Unique ID": "0x5C88007D3A0D1B6C", "Card Series": "AMD Instinct MI210"}, "card1": {"GPU use (%)": "0", "VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "27856896", "Unique ID": "N/A", "Card series": "AMD Instinct MI210"}, "system": {"Driver version": "6.3.6"}}`;

describe("readGpus()", () => {
  const read = async (bin: string, ms = 10_000) => readGpus(findGpuPrograms(bin), ms);

  test("nvidia-smi: MiB and percent; what has no percent, such as in the mode MIG, has no share", async () => {
    const warning = "WARNING: infoROM is corrupted at gpu 0000:3B:00.0";
    const bin = program("nvidia", "nvidia-smi", printing(`${NVIDIA}\n${warning}`));
    const name = "NVIDIA A100-SXM4-80GB";
    const totalBytes = 81_559 * MIB;
    expect(await read(bin)).toEqual({
      program: "nvidia-smi",
      gpus: [
        {
          ...{ index: "0", uuid: "GPU-1f0e6e3c-7d0b-5a0f-9d55-0e1a7a9b1c01", name },
          ...{ share: 0.37, memoryBytes: 11_468 * MIB, totalBytes },
        },
        {
          ...{ index: "1", uuid: "GPU-1f0e6e3c-aaaa-5a0f-9d55-0e1a7a9b1c02", name },
          ...{ memoryBytes: 4 * MIB, totalBytes },
        },
      ],
    });
  });

  test("rocm-smi: bytes, with a warning before the JSON, and versions that differ in capitals", async () => {
    const warning =
      "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status";
    const bin = program("amd", "rocm-smi", printing(`${warning}\n\n${AMD}`));
    const name = "AMD Instinct MI210";
    expect(await read(bin)).toEqual({
      program: "rocm-smi",
      gpus: [
        {
          ...{ index: "0", uuid: "GPU-5c88007d3a0d1b6c", name },
          ...{ share: 0.37, memoryBytes: 10_850_304, totalBytes: 68_702_699_520 },
        },
        { index: "1", name, share: 0, memoryBytes: 27_856_896, totalBytes: 68_702_699_520 },
      ],
    });
  });

  test("programs that fail, print something else or are missing say nothing", async () => {
    const failing = printing(NVIDIA).concat("\nexit 9");
    for (const script of [failing, "echo NVIDIA-SMI has failed", printing('{"card0": 7'), "exit 0", "yes"]) {
      const bin = program("garbage", "nvidia-smi", script);
      program("garbage", "rocm-smi", script);
      expect(await read(bin)).toBeUndefined();
    }
    expect(await read("")).toBeUndefined();
    expect(await readGpus([join(folder, "gone", "nvidia-smi")])).toBeUndefined();
  });

  test("where nvidia-smi finds no driver, rocm-smi is asked", async () => {
    const bin = program("both", "nvidia-smi", "echo NVIDIA-SMI has failed; exit 9");
    program("both", "rocm-smi", printing(AMD));
    expect(await read(bin)).toMatchObject({ program: "rocm-smi" });
  });

  test("one that hangs is killed with what it has started", async () => {
    const pids = join(folder, "pids");
    const bin = program("hanging", "nvidia-smi", `sleep 600 &\necho $! $$ >"${pids}"\nwait`);
    expect(await read(bin, 1000)).toBeUndefined();
    const identities = readFileSync(pids, "utf8").trim().split(" ").map(Number).map(identityOf);
    await expect.poll(() => identities.some((one) => one !== undefined && isAlive(one))).toBe(false);
  });
});

describe("findGpuPrograms()", () => {
  test("in the order of the PATH, one by each maker, and not from folders of the working directory", () => {
    const first = program("first", "nvidia-smi", "exit");
    const second = program("second", "nvidia-smi", "exit");
    program("second", "rocm-smi", "exit");
    const path = `.:relative::${first}:${second}`;
    expect(findGpuPrograms(path)).toEqual([join(first, "nvidia-smi"), join(second, "rocm-smi")]);
    expect(findGpuPrograms(join(folder, "gone"))).toEqual([]);
  });

  test("none that others could replace", () => {
    const open = program("open", "nvidia-smi", "exit");
    chmodSync(open, 0o777);
    expect(findGpuPrograms(open)).toEqual([]);
  });
});

test("gpuNamed(): by number, by uuid and by the beginning of one uuid; parts of GPUs and models are none", async () => {
  const { gpus = [] } =
    (await readGpus(findGpuPrograms(program("names", "nvidia-smi", printing(NVIDIA))))) ?? {};
  const indexOf = (name: string) => gpuNamed(name, gpus)?.index;
  expect(["1", "GPU-1f0e6e3c-AAAA", "GPU-1f0e6e3c-7d0b-5a0f-9d55-0e1a7a9b1c01"].map(indexOf)).toEqual([
    "1",
    "1",
    "0",
  ]);
  expect(["2", "01", "GPU-", "GPU-1f0e6e3c", "MIG-1f0e6e3c", "a100", ""].map(indexOf)).toEqual(
    Array(7).fill(undefined),
  );
});
