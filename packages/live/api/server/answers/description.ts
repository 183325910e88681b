/**
 * Makes the page at `/api`, which describes the API for people. It loads nothing and reveals nothing about
 * this machine.
 */
import { createHash } from "node:crypto";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { z } from "zod";
import { ROUTES, type Route } from "../../contract/routes.ts";

interface Fields {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly required?: readonly string[];
  readonly items?: Fields;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #0072b2 }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-weight: 600 }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em }
pre { padding: 0.8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto }
section { border-top: 1px solid var(--line); padding: 0.4rem 0 }
h3 { margin: 0.4rem 0; font-size: 1rem; font-weight: 600 }
.method { display: inline-block; min-width: 4.5rem; color: var(--accent); font-weight: 700 }
p { margin: 0.3rem 0 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0.3rem 0 }
dt { font-family: ui-monospace, monospace; font-size: 0.9em }
dd { margin: 0 }
@media (prefers-color-scheme: dark) { :root { --accent: #56b4e9 } }
`;

const styleHash = createHash("sha256").update(STYLE).digest("base64");

export function descriptionResponse(version: string): Response {
  return new Response(pageHtml(version), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    },
  });
}

function pageHtml(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tutti API</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Tutti ${escapeHtml(version)}: API</h1>
<p>Tutti schedules parallel jobs as gangs. The command line uses these routes over a Unix socket; they are the same here.
For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<p>Every request needs your token, which is in a file that only you can read. <code>tutti status</code> shows the path of this file and the
address of this API:</p>
<pre>curl -H "Authorization: Bearer $(cat TOKEN_FILE)" ADDRESS/v1/jobs</pre>
<p>Answers name their schema, such as <code>tutti.jobs/1</code>; within a version, keys are only added. A refusal has a code and says what failed,
why, and what to do next. Names, logs and reasons contain text from users: escape them before you show them.</p>
<h2>Routes</h2>
${ROUTES.map(routeHtml).join("\n")}
</main>
</body>
</html>
`;
}

function routeHtml({ method, path, summary, description, query = {}, body, isPublic }: Route): string {
  const parameters = [
    ...Object.entries(query).map(([name, schema]) => [`?${name}=`, schema.description ?? ""]),
    ...(body === undefined ? [] : bodyFields(z.toJSONSchema(body, { io: "input" }) as Fields, "")),
  ].map(([name = "", text = ""]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(text)}</dd>`);
  return `<section>
<h3><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(summary)}${isPublic ? " (no token needed)" : ""}.${description === undefined ? "" : ` ${escapeHtml(description)}`}</p>
${parameters.length === 0 ? "" : `<dl>${parameters.join("")}</dl>`}
</section>`;
}

/** Fields of a body with their descriptions. Fields of objects in a list are written as `jobs[].name`. */
function bodyFields({ properties = {}, required = [] }: Fields, before: string): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const whole = `${before}${name}`;
    const text = [required.includes(name) ? "Required." : "", field.description ?? ""].join(" ").trim();
    const inner = field.items?.properties === undefined ? field : field.items;
    return [[whole, text], ...bodyFields(inner, inner === field ? `${whole}.` : `${whole}[].`)];
  });
}
