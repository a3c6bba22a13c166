/**
 * URL of a program module beside the caller: `.ts` if the caller runs from source, otherwise the built `.js`.
 *
 *     const generator = { url: programUrl(import.meta.url, './generator.program') };
 *
 * Bundlers flatten entries into one folder. Keep the program in the same source folder as the modules that
 * name it, and make it an entry of the build.
 *
 * @param moduleUrl - The caller's `import.meta.url`.
 * @param path - Path of the program relative to the caller, without extension.
 */
export function programUrl(moduleUrl: string, path: string): URL {
  return new URL(`${path}${isTypeScript(new URL(moduleUrl)) ? '.ts' : '.js'}`, moduleUrl);
}

/** Whether a URL names a TypeScript module. Node needs a loader for it. */
export function isTypeScript(url: URL): boolean {
  return /\.[cm]?ts$/.test(url.pathname);
}
