/** The sections of CHANGELOG.md: `## Unreleased`, and one for each version, the last first. */

const UNRELEASED = "## Unreleased\n";

/** The text of a version's section without its heading; undefined if there is none. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m);
  const own = sections.find((section) => /^\S*/.exec(section)![0] === version);
  return own?.slice(own.indexOf("\n")).trim() || undefined;
}

/** What is unreleased becomes the section of a version, below an empty one for what comes next. */
export function withSection(changelog: string, version: string): string {
  if (sectionOf(changelog, version) !== undefined) return changelog;
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## ${version}\n`);
}
