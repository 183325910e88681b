/**
 * What is in the packages, as CycloneDX 1.6: npm's own list of the libraries, and what comes with them that
 * npm does not know. Made again, it has the same bytes, so it has no serial number and no time.
 */
import { execFileSync } from "node:child_process";

interface Component {
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly [more: string]: unknown;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/** Not libraries in Node, but numbers of interfaces and of data in process.versions. */
const NUMBERS = new Set(["node", "modules", "napi", "unicode", "cldr", "tz"]);
/** In the wheel alone. */
const LIBRARY = "libatomic1";

/** @param folder a checkout after `npm ci` */
export function sbomOf(folder: string, version: string): string {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"];
  const told = execFileSync("npm", words, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 });
  const { metadata, components, dependencies } = JSON.parse(told) as {
    metadata: { component: Component };
    components: readonly Component[];
    dependencies: readonly Dependency[];
  };
  const own = `tutti@${version}`;
  const isOwn = (ref: string) => ref === own || ref.startsWith("@tutti/");
  const added = [nodeOf(folder), libraryOf()];
  const direct = dependencies.filter(({ ref }) => isOwn(ref)).flatMap(({ dependsOn }) => dependsOn);
  const used = new Set([...direct.filter((ref) => !isOwn(ref)), ...added.map((part) => part["bom-ref"])]);
  const sbom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    // npm names the component after its folder.
    metadata: { component: { ...metadata.component, type: "application", name: "tutti" } },
    components: [...components.filter((part) => !isOwn(part["bom-ref"])), ...added],
    dependencies: [
      { ref: own, dependsOn: [...used].sort() },
      ...dependencies.filter(({ ref }) => !isOwn(ref)),
    ],
  };
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** Node as those who list its faults name it, with the libraries in it. */
function nodeOf(folder: string): Component {
  const node = `${folder}/node_modules/node-linux-${process.arch}/bin/node`;
  const told = execFileSync(node, ["-p", "JSON.stringify(process.versions)"], { encoding: "utf8" });
  const versions: Readonly<Record<string, string>> = JSON.parse(told);
  const components = Object.entries(versions)
    // One that it was built without has an empty version.
    .filter(([name, version]) => !NUMBERS.has(name) && version !== "")
    .map(([name, version]) => part("library", name, version, { purl: `pkg:generic/${name}@${version}` }));
  const cpe = `cpe:2.3:a:nodejs:node.js:${versions.node}:*:*:*:*:*:*:*`;
  return part("platform", "node", versions.node, {
    description: "In all packages but npm's",
    cpe,
    purl: `pkg:generic/node@${versions.node}`,
    components,
  });
}

function libraryOf(): Component {
  const format = "$" + "{Version} $" + "{Architecture}\n";
  const told = execFileSync("dpkg-query", ["--show", `--showformat=${format}`, LIBRARY], {
    encoding: "utf8",
  });
  const [version, architecture] = told.split("\n")[0].split(" ");
  return part("library", LIBRARY, version, {
    description: "In the wheel alone",
    purl: `pkg:deb/debian/${LIBRARY}@${encodeURIComponent(version)}?arch=${architecture}`,
  });
}

function part(type: string, name: string, version: string, more: object): Component {
  return { "bom-ref": `${name}@${version}`, type, name, version, ...more };
}
