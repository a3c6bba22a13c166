const loaders = ['import', 'require', 'loader', 'experimental-loader', 'conditions'];
const switches = ['experimental-strip-types', 'experimental-transform-types'];

/** The flags of Node that say how modules are loaded, such as `--import tsx`: a process that loads the same modules needs them. */
export function loaderFlags(flags: readonly string[]): string[] {
  return flags.flatMap((flag, at) => {
    const [name = '', value] = flag
      .replace(/^-r$/, '--require')
      .replace(/^-C$/, '--conditions')
      .split('=', 2);
    if (switches.some((known) => name === `--${known}`)) return [flag];
    if (!loaders.some((known) => name === `--${known}`)) return [];
    return value === undefined ? [flag, ...flags.slice(at + 1, at + 2)] : [flag];
  });
}

const tsx = /^(--import=)?(tsx|tsx\/esm|.*\/tsx\/dist\/(loader|esm\/index)\.mjs)$/;

/**
 * The module whose `register` makes tsx load TypeScript in a thread, if a process with these flags was started with tsx. `undefined` for
 * others, and if Node itself loads TypeScript.
 *
 * On Node 20 a thread does not load with the hooks of its process, and tsx adds them to the main thread only.
 */
export function tsxRegister(flags: readonly string[]): string | undefined {
  if (Reflect.get(process.features, 'typescript')) return undefined;
  const [, , loader] = flags.map((flag) => tsx.exec(flag)).find((found) => found !== null) ?? [];
  if (loader === undefined) return undefined;
  return loader.startsWith('tsx') ? 'tsx/esm/api' : loader.replace(/\/dist\/.*$/, '/dist/esm/api/index.mjs');
}
