/** A bundle of dist/. */
type Bundle = "tutti" | "client" | "slurm-names";

export function isBundleFresh(name: Bundle): boolean;
export function loadClients(name: Exclude<Bundle, "tutti">): { readonly ended: Promise<unknown> } | undefined;
