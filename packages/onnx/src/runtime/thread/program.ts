import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ArgumentError, EngineError } from '@rlp/core';

import { isTypeScript } from '../program-url.ts';
import type { CallContext, EngineHost, ProgramFactory } from '../protocol.ts';

type Method = (argument: unknown, call: CallContext) => unknown;

/** Loads a program's module and builds the program. */
export async function loadProgram(href: string, host: EngineHost, options: unknown): Promise<object> {
  const module = (await importModule(new URL(href))) as { readonly default?: unknown };
  if (typeof module.default !== 'function') {
    throw new ArgumentError(
      `program ${href}: the default export must be a program factory, (host, options) => methods, got ${typeof module.default}`,
    );
  }
  const methods: unknown = await (module.default as ProgramFactory<Record<string, Method>, unknown>)(
    host,
    options,
  );
  if (typeof methods !== 'object' || methods === null) {
    throw new ArgumentError(
      `program ${href}: its factory must return an object of methods, got ${typeof methods}`,
    );
  }
  return methods;
}

/** A bound method of a program. Throws an ArgumentError that lists the known methods. */
export function methodOf(program: object, name: string): Method {
  const method = name in Object.prototype ? undefined : (program as Record<string, unknown>)[name];
  if (typeof method === 'function') return method.bind(program) as Method;
  const own = [...Object.keys(program), ...Object.getOwnPropertyNames(Object.getPrototypeOf(program) ?? {})];
  const known = own.filter((key) => !(key in Object.prototype));
  throw new ArgumentError(`program: no method named "${name}", expected one of: ${known.join(', ')}`);
}

/** Imports a module. If Node cannot load TypeScript, uses the program's own copy of tsx. */
async function importModule(url: URL): Promise<unknown> {
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
