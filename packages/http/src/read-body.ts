import { Refusal } from './refusal.ts';

/**
 * Reads the body of a request as text.
 *
 * @throws {@link Refusal} 413 as soon as the body has more than `maxBytes` bytes.
 */
export async function readBody(request: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Refusal(413, `expected at most ${maxBytes} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
