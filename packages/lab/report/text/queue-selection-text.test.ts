import { HPC2500_CLASSES, type JobShape } from "@tutti/kernel/core/queue-classes.ts";
import { explainQueue } from "@tutti/kernel/policies/space/queue-selection.ts";
import { describe, expect, test } from "vitest";
import { formatQueueSelection } from "./queue-selection-text.ts";

const shape = (processes: number, threads: number, estimateS = 60): JobShape => ({
  processors: processes * threads,
  processes,
  threads,
  estimateS,
});

describe("formatQueueSelection()", () => {
  const tell = (job: JobShape) => formatQueueSelection(HPC2500_CLASSES, explainQueue(HPC2500_CLASSES, job));

  test("names the rule and the classes ruled out in one sentence", () => {
    expect(tell(shape(4, 32))).toBe(
      "s128: the tightest queue that admits the job (also d128, d512), decided by 8 processes; ss8 allows 8 processors, the job asks for 128; s8 allows 8 processors, the job asks for 128; d32 allows 32 processors, the job asks for 128",
    );
    expect(tell(shape(8, 1, 9000))).toBe(
      "s8: the tightest queue that admits the job (also s128, d32, d128, d512), decided by 8 processors; ss8 allows less than 7200 s of elapsed time, the job asks for 9000",
    );
    expect(tell(shape(1, 128))).toContain("s128: the only queue that admits the job; ");
    expect(tell(shape(1, 200))).toContain(
      "No queue admits the job: ss8 allows 8 processors, the job asks for 200; ",
    );
  });
});
