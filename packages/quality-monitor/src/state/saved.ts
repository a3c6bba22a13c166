import { base64Of, bytesOf, FormatError } from '@rlp/core';
import * as z from 'zod';

/** Schema of a number of things. */
export const count = z.int().nonnegative();

/** A state as JSON data. */
export interface Saved<Schema extends z.ZodType> {
  readonly state: z.input<Schema>;
}

/** What {@link saved} returned. */
const made = new WeakSet<object>();

/** A copy of a state. It becomes JSON data when it is read, because few states are written. */
export function saved<Schema extends z.ZodType>(schema: Schema, state: z.output<Schema>): Saved<Schema> {
  const copy = copyOf(state);
  let json: z.input<Schema> | undefined;
  const result: Saved<Schema> = {
    get state() {
      json ??= z.encode(schema, copy);
      return json;
    },
  };
  made.add(result);
  return result;
}

/** Copies a state whose fields may be saved states, or lists of them. Those are copies already, and stay unread. */
function copyOf<State>(state: State): State {
  if (typeof state !== 'object' || state === null || made.has(state)) return state;
  if (Array.isArray(state)) return state.map(copyOf) as State;
  if (Object.getPrototypeOf(state) !== Object.prototype) return structuredClone(state);
  return Object.fromEntries(Object.entries(state).map(([name, field]) => [name, copyOf(field)])) as State;
}

/** Reads what {@link saved} returned. @throws FormatError naming the problems. */
export function restored<S extends z.ZodType>(owner: string, schema: S, given: unknown): z.output<S> {
  const parsed = z.strictObject({ state: schema }).safeParse(given);
  if (parsed.success) return (parsed.data as { readonly state: z.output<S> }).state;
  const { path, message } = parsed.error.issues[0]!;
  const place = path.length === 0 ? '' : ` in ${path.join('.')}`;
  const problem = `another${place}: ${message}; if another version saved it, begin with a new monitor`;
  const came = typeof given === 'string' ? 'text; pass what JSON.parse makes of it' : problem;
  throw new FormatError(`expected the state of a ${owner}, as saveState returns it, got ${came}`);
}

/** The state of a schema before anything happened: zeros, empty lists and records, `null` if that is allowed. */
export function initial<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
  return beginning(schema) as z.output<Schema>;
}

function beginning(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, beginning(field)]));
  if (schema instanceof z.ZodTuple) return schema.def.items.map(beginning);
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodNullable) return null;
  return zeros.get(schema)?.() ?? 0;
}

type Packed = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
interface PackedKind<Type> {
  new (content: ArrayBuffer | number): Type;
  readonly BYTES_PER_ELEMENT: number;
}

/** Typed arrays of zeros, by their schemas. */
const zeros = new WeakMap<z.core.$ZodType, () => Packed>();

/** Schema of a typed array in memory that is the base64 of its bytes in JSON, a tenth of the size of numbers. */
export function packed<Type extends Packed>(kind: PackedKind<Type>, length?: number) {
  const text = z.base64({ abort: true }).refine(
    (base64) => {
      const bytes = (base64.length / 4) * 3 - /=*$/.exec(base64)![0].length;
      const numbers = bytes / kind.BYTES_PER_ELEMENT;
      return Number.isInteger(numbers) && (length === undefined || numbers === length);
    },
    { error: `expected ${length ?? 'whole'} numbers`, abort: true },
  );
  const codec = z.codec(text, z.custom<Type>(), {
    decode: (bytes) => new kind(bytesOf(bytes).buffer),
    encode: ({ buffer, byteOffset, byteLength }) => base64Of(new Uint8Array(buffer, byteOffset, byteLength)),
  });
  zeros.set(codec, () => new kind(length ?? 0));
  return codec;
}
