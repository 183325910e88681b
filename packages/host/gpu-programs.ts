/**
 * Reads how busy the GPUs of this machine are, by the programs of their makers. Each of them answers once and
 * ends:
 *
 *   nvidia-smi   0, GPU-1f0e6e3c-…, 37, 11468, 81559, NVIDIA A100-SXM4-80GB        % and MiB
 *   rocm-smi     {"card0": {"GPU use (%)": "37", "VRAM Total Used Memory (B)": "12025069568", …}}
 *
 * An answer takes 50 to 500 ms, and seconds while the driver is being loaded; a driver that hangs never
 * answers. So nobody waits for it.
 */
import { spawn } from "./ports/child-process.ts";
import { existsSync } from "./ports/fs.ts";
import { isAbsolute, join } from "./ports/path.ts";
import { OWN_ENVIRONMENT } from "./surroundings.ts";
import { replaceablePart } from "./trusted-path.ts";

export interface GpuReading {
  /** As the program numbers it: 0, 1, … */
  readonly index: string;
  /** As CUDA and ROCm write it, GPU-…; left out: unknown. */
  readonly uuid?: string;
  readonly name: string;
  /** Part of the last moment in which it was busy, 0 … 1. Left out: unknown, such as in the mode MIG. */
  readonly share?: number;
  /** Memory in use, by whatever process. */
  readonly memoryBytes: number;
  readonly totalBytes: number;
}

interface GpuProgram {
  readonly name: string;
  readonly words: readonly string[];
  readonly read: (output: string) => readonly GpuReading[];
}

const PROGRAMS: readonly GpuProgram[] = [
  {
    name: "nvidia-smi",
    words: [
      "--query-gpu=index,uuid,utilization.gpu,memory.used,memory.total,name",
      "--format=csv,noheader,nounits",
    ],
    read: nvidiaReadings,
  },
  {
    name: "rocm-smi",
    words: ["--showuse", "--showmeminfo", "vram", "--showuniqueid", "--showproductname", "--json"],
    read: amdReadings,
  },
];
export const GPU_PROGRAM_NAMES: readonly string[] = PROGRAMS.map(({ name }) => name);
/** Where AMD's programs are, besides the PATH. */
const AMD_FOLDER = "/opt/rocm/bin";
const PATIENCE_MS = 10_000;
/** Far more than the answer about the GPUs of any machine. */
const MAX_OUTPUT = 2 ** 20;
const MIB = 2 ** 20;

/**
 * Full paths of the programs that are here, at most one by each maker, first by the PATH. One that somebody
 * else could replace does not count, because a scheduler that is root runs it.
 */
export function findGpuPrograms(path = process.env.PATH ?? ""): readonly string[] {
  const folders = [...path.split(":").filter(isAbsolute), AMD_FOLDER];
  const uid = process.getuid!();
  return PROGRAMS.flatMap(({ name }) => {
    const files = folders.map((folder) => join(folder, name));
    return files.find((file) => existsSync(file) && replaceablePart(file, uid) === undefined) ?? [];
  });
}

/**
 * The GPUs that the first of these programs reads that finds any; undefined: none of them does.
 * @param programs full paths, such as those from `findGpuPrograms`
 */
export async function readGpus(
  programs: readonly string[],
  patienceMs = PATIENCE_MS,
): Promise<{ readonly program: string; readonly gpus: readonly GpuReading[] } | undefined> {
  for (const path of programs) {
    const program = PROGRAMS.find(({ name }) => path.endsWith(`/${name}`));
    if (program === undefined) continue;
    const gpus = program.read(await outputOf(path, program.words, patienceMs));
    if (gpus.length > 0) return { program: program.name, gpus };
  }
  return undefined;
}

/** The GPU that a job knows by this name: its number or uuid, or the beginning of one, as CUDA has it. */
export function gpuNamed(name: string, gpus: readonly GpuReading[]): GpuReading | undefined {
  if (/^\d+$/.test(name)) return gpus.find(({ index }) => index === name);
  if (!/^GPU-./i.test(name)) return undefined;
  const named = gpus.filter(({ uuid }) => uuid?.toLowerCase().startsWith(name.toLowerCase()));
  return named.length === 1 ? named[0] : undefined;
}

/** Empty if it cannot be started, takes too long or fails: then it has said nothing about GPUs. */
function outputOf(path: string, words: readonly string[], patienceMs: number): Promise<string> {
  return new Promise((resolve) => {
    // In a process group of its own, so that nothing of it is left when it is killed.
    const child = spawn(path, [...words], {
      cwd: "/",
      detached: true,
      env: { ...OWN_ENVIRONMENT, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pieces: Buffer[] = [];
    let length = 0;
    const giveUp = () => {
      finish("");
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      child.stdout?.destroy();
      child.unref();
    };
    const timer = setTimeout(giveUp, patienceMs);
    const finish = (output: string) => {
      clearTimeout(timer);
      resolve(output);
    };
    child.stdout?.on("error", () => {});
    child.stdout?.on("data", (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_OUTPUT) giveUp();
    });
    child.once("error", () => finish(""));
    child.once("close", (code) => finish(code === 0 ? Buffer.concat(pieces).toString("utf8") : ""));
  });
}

/** Other lines, such as warnings, do not count. */
function nvidiaReadings(output: string): readonly GpuReading[] {
  return output.split("\n").flatMap((line) => {
    const [index = "", uuid = "", share, used, total, ...name] = line.split(",").map((cell) => cell.trim());
    if (!/^\d+$/.test(index) || !uuid.startsWith("GPU-")) return [];
    return readingOf({ index, uuid, name: name.join(", ") }, share, bytesIn(used, MIB), bytesIn(total, MIB));
  });
}

function amdReadings(output: string): readonly GpuReading[] {
  // Warnings may be around it.
  const json = output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1);
  let cards: unknown;
  try {
    cards = JSON.parse(json);
  } catch {
    return [];
  }
  return Object.entries(cards as Record<string, unknown>).flatMap(([card, facts]) => {
    const index = /^card(\d+)$/.exec(card)?.[1];
    if (index === undefined || typeof facts !== "object" || facts === null) return [];
    // Versions differ in capital letters.
    const values = new Map(Object.entries(facts).map(([key, value]) => [key.toLowerCase(), String(value)]));
    const id = /^0x([0-9a-f]+)$/i.exec(values.get("unique id") ?? "")?.[1];
    const name = values.get("card series") ?? values.get("device name") ?? "GPU of AMD";
    return readingOf(
      { index, name, ...(id !== undefined && { uuid: `GPU-${id.toLowerCase()}` }) },
      values.get("gpu use (%)"),
      bytesIn(values.get("vram total used memory (b)"), 1),
      bytesIn(values.get("vram total memory (b)"), 1),
    );
  });
}

/** @param percent as the program writes it */
function readingOf(
  gpu: Pick<GpuReading, "index" | "uuid" | "name">,
  percent: string | undefined,
  memoryBytes: number,
  totalBytes: number,
): readonly GpuReading[] {
  if (Number.isNaN(memoryBytes) || Number.isNaN(totalBytes)) return [];
  const share = Number.parseFloat(percent ?? "") / 100;
  return [{ ...gpu, ...(share >= 0 && share <= 1 && { share }), memoryBytes, totalBytes }];
}

function bytesIn(text: string | undefined, unitBytes: number): number {
  return Number(text?.match(/^\d+(\.\d+)?$/)?.[0] ?? Number.NaN) * unitBytes;
}
