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
