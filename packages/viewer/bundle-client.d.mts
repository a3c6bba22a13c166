/** A program that runs in a page, as text. @param entry - Its file in `client`. */
export function bundleClient(entry: string): Promise<string>;
