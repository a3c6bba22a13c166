import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { EngineError } from '@rlp/core';
import { isTypeScript } from '../program-url.ts';

/** Imports the module of a program. If Node cannot load TypeScript, uses the program's own copy of tsx. */
export async function importModule(url: URL): Promise<unknown> {
  try {
    return await import(url.href);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (!isTypeScript(url) || code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw loadFailure(url, cause);
    await registerTypeScript(url);
    return import(`${url.href}?tsx`);
  }
}

async function registerTypeScript(url: URL): Promise<void> {
  try {
    // Resolved as CommonJS, because only that can be resolved relative to another module. The ES module is
    // beside it.
    const path = createRequire(url)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs');
    const { register } = (await import(pathToFileURL(path).href)) as { register(): unknown };
    register();
  } catch (cause) {
    throw new EngineError(
      `program ${url.href}: Node cannot load TypeScript, so install tsx beside it, or build it first`,
      {
        cause,
      },
    );
  }
}

function loadFailure(url: URL, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code !== 'ERR_MODULE_NOT_FOUND') return cause;
  return new EngineError(`program ${url.href}: ${(cause as Error).message}`, { cause });
}
