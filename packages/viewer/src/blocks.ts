import { base64Of, bytesOf } from '@rlp/core';

/** What a text is packed with and unpacked with. Browsers and Node have it, and no types of either are used here. */
interface Streams {
  readonly Blob: new (parts: readonly (string | Uint8Array)[]) => { stream(): Piped };
  readonly Response: new (body: Piped) => { arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> };
  readonly CompressionStream: new (format: 'gzip') => unknown;
  readonly DecompressionStream: new (format: 'gzip') => unknown;
  readonly crypto: {
    readonly subtle: { digest(name: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> };
  };
}

interface Piped {
  pipeThrough(stream: unknown): Piped;
}

const streams = globalThis as unknown as Streams;

/** A text, compressed, as base64. */
export async function packed(text: string): Promise<string> {
  const { Blob, Response, CompressionStream } = streams;
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return base64Of(bytes);
}

/** What {@link packed} was given. */
export async function unpacked(base64: string): Promise<string> {
  const { Blob, Response, DecompressionStream } = streams;
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** SHA-256 of ASCII text, in hexadecimal. What a page's texts say cannot foresee it. */
export async function digest(ascii: string): Promise<string> {
  const bytes = Uint8Array.from(ascii, (character) => character.charCodeAt(0));
  const hash = new Uint8Array(await streams.crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
