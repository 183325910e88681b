/**
 * The page's one Trusted Types policy. It lets through the page's own scripts and those of its workers and
 * nothing else, so no text of a user can become a script.
 */

interface TrustedScriptUrls {
  createScriptURL(url: string): string;
}

declare global {
  interface Window {
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ): TrustedScriptUrls;
    };
  }
}

const allowed = new Set<string>();
const rules = {
  createScriptURL: (url: string) => {
    if (allowed.has(url)) return url;
    throw new TypeError(`Cannot load the script ${JSON.stringify(url)}: it is not one of this page's own`);
  },
};
const policy: TrustedScriptUrls = window.trustedTypes?.createPolicy("tutti", rules) ?? rules;

/**
 * The URL of a script, for an element `script`, `new Worker` and `new SharedWorker`.
 * @param url a constant of the page, relative to it, or a blob that the page has made
 */
export function trustedUrl(url: string): string {
  allowed.add(url);
  return policy.createScriptURL(url);
}
