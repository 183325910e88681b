/** A bundle of clients in dist/. */
type Clients = "client" | "slurm-names";

export function isBundleFresh(name: Clients | "tutti" | "torture"): boolean;
export function loadClients(name: Clients): { readonly ended: Promise<unknown> } | undefined;
