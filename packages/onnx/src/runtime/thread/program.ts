import { ArgumentError } from '@rlp/core';
import type { CallContext, EngineHost, ProgramFactory } from '../protocol.ts';

type Method = (argument: unknown, call: CallContext) => unknown;

/** Builds the program of a module. */
export async function buildProgram(
  href: string,
  module: { readonly default?: unknown },
  { host, options }: { readonly host: EngineHost; readonly options: unknown },
): Promise<object> {
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
