/** The program that runs in the page, as text. */
export function bundleClient(): Promise<string>;
