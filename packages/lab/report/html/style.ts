/** Writes the style sheet of the pages on papers. It is light or dark by the reader's preference. */
import { DARK, LIGHT, type Palette } from "../svg/palette.ts";

export function styleSheet(): string {
  return `:root{color-scheme:light dark;
--ground:#f5f6f8;--surface:#ffffff;--text:#16202b;--muted:#566373;--line:#dde2e8;--accent:#0a5c99;--best:#e3f3ea;--best-text:#0c5b3c;--beyond:#fbeedd;--beyond-text:#8a4b06;${variables(LIGHT)}}
@media (prefers-color-scheme:dark){:root{
--ground:#10151b;--surface:#182029;--text:#e6ebf0;--muted:#9dabb9;--line:#2e3945;--accent:#6cb8f0;--best:#17392b;--best-text:#84dcb3;--beyond:#3a2c17;--beyond-text:#f0b970;${variables(DARK)}}}
${RULES}`;
}

function variables({ series }: Palette): string {
  return series.map((colour, i) => `--series-${i}:${colour};`).join("");
}

const RULES = `*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;font-size:16px}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
.brand{font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--muted);margin:0}
h1{font-size:clamp(1.5rem,3.4vw,2.15rem);line-height:1.2;margin:.2em 0 .3em;overflow-wrap:anywhere;text-wrap:balance}
h2{font-size:1.15rem;margin:0 0 .2em}
h3{font-size:1rem;margin:1.4em 0 .3em}
section,figure{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:0 0 20px}
.note{color:var(--muted);font-size:.88rem;margin:.2em 0 .8em;text-wrap:pretty}
.scroll{overflow-x:auto;position:relative}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.5em .7em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
thead th{color:var(--muted);font-weight:600;vertical-align:bottom;white-space:normal}
th:first-child,td:first-child{text-align:left;padding-left:0}
tbody th{font-weight:600;white-space:normal}
.words{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:13em}
.left th,.left td{vertical-align:top}
tbody tr:last-child>*{border-bottom:0}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:0 20px}
figure{min-width:0}
figcaption{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;justify-content:space-between}
main{overflow-x:clip}
details>summary{cursor:pointer;color:var(--accent);font-size:.9rem}
section>details{margin-top:.6em}
section>details>summary,section>details>summary h2{display:list-item;list-style-position:inside;font-size:1rem;color:var(--text);font-weight:600}
dl.rules{display:grid;grid-template-columns:max-content 1fr;gap:.3em 1.2em;font-size:.92rem}
dl.rules dt{color:var(--muted)}
dl.rules dd{margin:0;overflow-wrap:anywhere}
ul{padding-left:1.2em;margin:.3em 0;font-size:.92rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.92em}
a{color:var(--accent)}
.verdict{flex:none;align-self:flex-start;min-width:9em;text-align:center;font-size:.8rem;font-weight:650;border-radius:6px;padding:.15em .6em;margin-top:.15em}
.yes{background:var(--best);color:var(--best-text)}
.no,.beyond{background:var(--beyond)}
.no,.missing{color:var(--beyond-text)}
.status{white-space:nowrap;font-weight:650}
.deviating{color:var(--beyond-text)}
.not-claimed{color:var(--muted)}
.undecided{border:1px solid var(--line)}
.statements{list-style:none;padding:0;font-size:.95rem}
.statements li{display:flex;gap:14px;padding:.55em 0;border-bottom:1px solid var(--line)}
.statements li:last-child{border-bottom:0}
.statements .note{margin:.1em 0 0}
th .note{font-weight:400}
.paper td{line-height:1.3}
.paper small,.spread{color:var(--muted)}
.paper .label{vertical-align:bottom}
.paper tbody th{font-weight:400}
.paper tbody th:not(:first-child),.paper .label{text-align:left}
.reasons{font-size:.88rem;padding-left:1.6em}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;margin:.2em 0;font-size:.85rem}
.legend span{display:inline-flex;align-items:center;gap:6px}
.mark{width:34px;height:12px;flex:none}
.drawing svg{display:block;width:100%;height:auto}
.steps{display:flex;flex-wrap:wrap;gap:8px 32px}
.step{min-width:0;max-width:100%}
.step svg{max-width:100%;height:auto}
footer{color:var(--muted);font-size:.85rem;padding-bottom:40px}
@media (max-width:640px){.statements li{flex-direction:column;gap:4px}dl.rules{grid-template-columns:1fr}dl.rules dd{margin-bottom:.5em}section,figure{padding:14px}}
@media print{body{background:none}details:not([open]){display:none}section,figure{break-inside:avoid;border:0;padding:0}}`;
