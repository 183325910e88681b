import { expect, test } from "vitest";
import { parseHosts, readHosts } from "./hosts-file.ts";

test("a host has its name, and what its line says", () => {
  const text = `# our desks
oak

  anna@elm.example.org\tcpus=0-2,5 memory=1.5G # the new one
yew node=/opt/node/bin/node
`;
  expect(parseHosts(text, "hosts")).toEqual([
    { node: "oak", destination: "oak" },
    {
      node: "elm.example.org",
      destination: "anna@elm.example.org",
      cpus: [0, 1, 2, 5],
      memoryBytes: 1.5 * 2 ** 30,
    },
    { node: "yew", destination: "yew", nodeProgram: "/opt/node/bin/node" },
  ]);
});

test.each([
  ["", "it names no host"],
  ["# only a comment", "it names no host"],
  ["oak\n-oProxyCommand=x", 'line 2: "-oProxyCommand=x" is not a host'],
  ["oak\nanna@oak", 'line 2: line 1 names "oak" already'],
  ["a b@c", 'line 1: "b@c" is no setting'],
  ["oak;reboot", 'line 1: "oak;reboot" is not a host'],
  ["oak cpus=x", 'line 1: "x" is not a list of CPUs'],
  ["oak memory=16", 'line 1: "16" is not an amount of memory'],
  ["oak memory=0G", 'line 1: "0G" is not an amount of memory'],
  ["oak node=node", 'line 1: "node" is not the path of a program'],
  ["oak\n\noak2 gpus=1", 'line 3: "gpus=1" is no setting'],
  [Array.from({ length: 65 }, (_, i) => `h${i}`).join("\n"), "it names 65 hosts"],
])("%j is refused with its place", (text, message) => {
  expect(() => parseHosts(text, "my hosts")).toThrow(message);
  expect(() => parseHosts(text, "my hosts")).toThrow('Cannot use "my hosts"');
});

test("a file that is not there is named as the file of hosts", () => {
  expect(() => readHosts("/nowhere/hosts.txt")).toThrow(
    'Cannot read the file of hosts "/nowhere/hosts.txt": there is no such file, expected a text file with one host',
  );
});
