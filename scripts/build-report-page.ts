/**
 * Bundles the script that draws a report's charts, with the parts of ECharts that it uses, into one
 * JavaScript file. If run as a program, it prints the size of the bundle. It does the same as
 *   esbuild src/report/browser/report-page.ts --bundle --minify --format=iife --target=es2022 \
 *     --legal-comments=none
 */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const ENTRY = fileURLToPath(new URL("../src/report/browser/report-page.ts", import.meta.url));

/** The script's source, for the parameter `chartScript` of `htmlReport`. */
export async function buildReportPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    banner: {
      js: "/* Charts: Apache ECharts (Apache-2.0), zrender (BSD-3-Clause), https://echarts.apache.org */",
    },
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const script = await buildReportPage();
  console.log(`report page script: ${script.length} bytes, ${gzipSync(script).length} compressed`);
}
