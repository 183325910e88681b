/** Finds GPUs in made-up trees of /proc, /dev and /sys. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findGpus } from "./gpus.ts";

describe("findGpus()", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "tutti-gpus-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function put(path: string, content = ""): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }

  const putNvidia = (address: string, minor: number) =>
    put(
      `proc/driver/nvidia/gpus/${address}/information`,
      `Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-1\nDevice Minor: \t ${minor}\nGPU Excluded:\t No\n`,
    );
  const putAmd = (node: number, simds: number, render: number) =>
    put(
      `sys/class/kfd/kfd/topology/nodes/${node}/properties`,
      `cpu_cores_count ${simds > 0 ? 0 : 64}\nsimd_count ${simds}\ndrm_render_minor ${render}\n`,
    );

  test("finds none on a machine without them", () => {
    put("dev/null");
    expect(findGpus(root)).toBeUndefined();
  });

  test("finds NVIDIA's by the driver, and only those with a device file", () => {
    putNvidia("0000:3b:00.0", 0);
    putNvidia("0000:5e:00.0", 1);
    putNvidia("0000:86:00.0", 2);
    for (const name of ["nvidia0", "nvidia2", "nvidiactl", "nvidia-uvm"]) put(`dev/${name}`);
    expect(findGpus(root)).toEqual({ maker: "nvidia", names: ["0", "1"] });
  });

  test("finds NVIDIA's by device files if the driver's folder is hidden, as in some containers", () => {
    for (const name of ["nvidia0", "nvidia5", "nvidiactl"]) put(`dev/${name}`);
    expect(findGpus(root)).toEqual({ maker: "nvidia", names: ["0", "1"] });
  });

  test("finds AMD's by the topology; a node without SIMD units is a CPU", () => {
    putAmd(0, 0, 0);
    putAmd(1, 440, 128);
    putAmd(2, 440, 129);
    putAmd(3, 440, 130);
    for (const name of ["renderD128", "renderD130"]) put(`dev/dri/${name}`);
    expect(findGpus(root)).toEqual({ maker: "amd", names: ["0", "1"] });
  });

  test("ignores the environment: a scheduler restarted with CUDA_VISIBLE_DEVICES=1 has all of them", () => {
    for (const name of ["nvidia0", "nvidia1"]) put(`dev/${name}`);
    process.env.CUDA_VISIBLE_DEVICES = "1";
    try {
      expect(findGpus(root)?.names).toEqual(["0", "1"]);
    } finally {
      delete process.env.CUDA_VISIBLE_DEVICES;
    }
  });
});
