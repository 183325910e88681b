/** Whether the name of a policy is the path of a file. */
export function isPolicyFile(name: string): boolean {
  return name.includes("/") || /\.[cm]?[jt]s$/.test(name);
}
