/** Damaged, hostile and enormous files and links leave a living page with a message. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../scripts/chromium.ts";
import { LabBrowser } from "../scripts/lab-page.ts";
import { expectText, stillWorks, TINY, withLab } from "./lab-driver.ts";

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: LabBrowser;

  beforeAll(async () => {
    browser = await LabBrowser.launch();
  });

  afterAll(() => browser?.close());

  describe("a file that cannot be used gives one message, and the page goes on", () => {
    const large = Buffer.from("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n".repeat(200_000));
    const packed = gzipSync(large);
    const faulty: readonly (readonly [string, string, Buffer, string])[] = [
      ["a gzip file that is cut", "cut.swf.gz", packed.subarray(0, packed.length / 2), "end too early"],
      ["a damaged gzip file", "bad.swf.gz", damaged(packed), "damaged"],
      ["an empty file", "empty.swf", Buffer.alloc(0), "it is empty"],
      ["random bytes", "noise.bin", Buffer.from(noise(500_000)), "none of its"],
      [
        "a page of HTML",
        "<img src=x onerror=alert(1)>.swf",
        Buffer.from("<script>alert(1)</script>\n<img src=x onerror=alert(1)>"),
        "line 1",
      ],
      ["JSON without jobs", "x.json", Buffer.from('{"a":1}'), "list of jobs"],
      ["a header of sacct without fields", "x.txt", Buffer.from("JobID|State\n1|COMPLETED\n"), "line 1"],
      ["a trace in UTF-16", "x.swf", Buffer.from(TINY, "utf16le"), "none of its"],
      [
        "zeros that unpack to 600 MB",
        "zeros.gz",
        gzipSync(Buffer.alloc(600 * 2 ** 20, 32)),
        "more than 512 MiB",
      ],
    ];
    test.each(faulty)("%s", async (_title, name, buffer, expected) => {
      await withLab(browser, async (page) => {
        await page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer });
        const message = await page.locator(".setup [role=alert]").textContent({ timeout: 120_000 });
        expect(message).toMatch(/^Cannot (read|use) /);
        expect(message).toContain(expected);
        await stillWorks(page);
      });
    });

    test("a file of 3 GB", async () => {
      await withLab(browser, async (page) => {
        await page.evaluate(`{
          const part = new Blob([new Uint8Array(2 ** 20)]);
          const data = new DataTransfer();
          data.items.add(new File(new Array(3000).fill(part), "enormous.swf"));
          dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }`);
        await expectText(page, "it has 3000 MiB, which is more than 512 MiB");
        await stillWorks(page);
      });
    });

    test("a link that was damaged", async () => {
      for (const x of ["AAAA", "%%%", "q1ZKzs9Nz0tVslIqTi0qSy1SsgIA", "A".repeat(39_000)])
        await withLab(
          browser,
          async (page) => {
            await expectText(page, "Cannot use the experiment of this link");
            await stillWorks(page);
          },
          `#/experiment?x=${x}`,
        );
    });
  });
});

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xa5, 5000, 5200);
  return copy;
}

/** Bytes of a linear congruential generator: the same in every run. */
function noise(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  });
}
