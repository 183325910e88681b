/** The notes of a release: what has changed, how to install each file, checksums, and how to publish it. */

/** By the ends of files' names, for people who have downloaded them. */
const INSTALL: readonly (readonly [RegExp, (file: string) => string])[] = [
  [/\.whl$/, (file) => `pip install ./${file}`],
  [/\.deb$/, (file) => `sudo apt install ./${file}`],
  [/-linux-\w+$/, (file) => `chmod +x ${file} && ./${file} --version`],
  [/^tutti-[\d.]+\.tgz$/, (file) => `npm install --global ./${file}`],
];

/** @param sums the lines of SHA256SUMS */
export function notesOf(version: string, changes: string, files: readonly string[], sums: string): string {
  const install = files.flatMap((file) => {
    const [, line] = INSTALL.find(([names]) => names.test(file)) ?? [];
    return line === undefined ? [] : [line(file)];
  });
  return `# Tutti ${version}

${changes}

## Installation

Each of these is enough, without the others. \`sha256sum --ignore-missing --check SHA256SUMS\` checks those that you have.

\`\`\`
${install.join("\n")}
\`\`\`

## Checksums (SHA-256)

\`\`\`
${sums.trimEnd()}
\`\`\`

<!--
Nothing is published yet. To publish it, type in the folder of these files:

  git push origin v${version}
  gh release create v${version} --verify-tag --title "Tutti ${version}" --notes-file NOTES.md SHA256SUMS $(cut -d' ' -f3 SHA256SUMS)

npm publish and twine upload need a name of our own: on PyPI, "tutti" is another project.
-->
`;
}
