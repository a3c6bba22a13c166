import { RlpError } from './errors.ts';

interface Host {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/**
 * Returns a built-in module of Node.
 *
 * Use it for file access in an entry that must also load in a page. Bundlers see no import, so they have nothing to resolve.
 *
 * @param name - Such as `'node:fs/promises'`.
 * @throws RlpError if the host does not have the module, as in a page.
 */
export function nodeBuiltin<Module>(name: `node:${string}`): Module {
  const found = (globalThis as Host).process?.getBuiltinModule?.(name);
  if (found !== undefined) return found as Module;
  throw new RlpError(
    `${name} is not available here: call functions that read or write files from Node, Deno or Bun`,
  );
}
