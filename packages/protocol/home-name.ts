/**
 * The name of a conductor's folder on a node of a batch system.
 *
 *   /tmp/tutti-1000/0123456789abcdef-7-n1     user, owner's name, number of the pilot, node
 */

/** Owner's name and number of the pilot are the name of the cluster. */
const NAME = /^(([0-9a-f]{16})-\d+)-(.+)$/;

/** @returns undefined: it is not the name of such a folder */
export function parseHomeName(
  name: string,
): { readonly cluster: string; readonly owner: string; readonly node: string } | undefined {
  const [, cluster, owner, node] = NAME.exec(name) ?? [];
  return cluster === undefined ? undefined : { cluster, owner, node };
}
