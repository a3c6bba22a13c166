import * as z from 'zod';

type Packed = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
type PackedKind<Type> = { new (buffer: ArrayBuffer): Type; readonly BYTES_PER_ELEMENT: number };

/** Schema of a typed array in memory that is the base64 of its bytes in JSON, a tenth of the size of numbers. */
export function packed<Type extends Packed>(kind: PackedKind<Type>, length?: number) {
  const text = z.base64({ abort: true }).refine(
    (bytes) => {
      const numbers = atob(bytes).length / kind.BYTES_PER_ELEMENT;
      return Number.isInteger(numbers) && (length === undefined || numbers === length);
    },
    { error: `expected ${length ?? 'whole'} numbers`, abort: true },
  );
  return z.codec(text, z.custom<Type>(), {
    decode: (bytes) => new kind(Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0)).buffer),
    encode: textOf,
  });
}

/** The base64 of an array's bytes. */
function textOf(array: Packed): string {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    // Fifteen times faster than spreading.
    text += String.fromCharCode.apply(null, bytes.subarray(start, start + 8192) as unknown as number[]);
  }
  return btoa(text);
}
