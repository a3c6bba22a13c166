/**
 * URL of a program module beside the caller's own: the `.ts` when the caller runs from source, the built `.js` otherwise.
 *
 *     const generator = { url: programUrl(import.meta.url, './generator.program') };
 *
 * Bundlers flatten entries into one folder, so the program and every module that names it must sit in the same source folder,
 * and the program must be an entry of the build.
 *
 * @param moduleUrl - The caller's `import.meta.url`.
 * @param path - The program relative to the caller, without extension.
 */
export function programUrl(moduleUrl: string, path: string): URL {
  return new URL(`${path}${isTypeScript(new URL(moduleUrl)) ? '.ts' : '.js'}`, moduleUrl);
}

/** Whether a URL names a TypeScript module, which Node cannot load without help. */
export function isTypeScript(url: URL): boolean {
  return /\.[cm]?ts$/.test(url.pathname);
}
