/** Bundles the pages that measurements open, each with its style and its script. */
import { bundled, type PageFiles } from "../../scripts/build-web.ts";

export async function buildBenchPage(name: "matrix" | "timeline"): Promise<PageFiles> {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title><link rel="stylesheet" href="${name}.css"><body><div id="bench"></div><script src="${name}.js"></script></body></html>`;
  return new Map([["", html], ...(await bundled({ [name]: `bench/pages/${name}.tsx` }))]);
}
