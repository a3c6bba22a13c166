import type { Readable } from 'node:stream';
import { Refusal } from './refusal.ts';

/**
 * Reads the body of a request.
 *
 * Rejects with a {@link Refusal} 413 as soon as the body exceeds `maxBytes` bytes. Rejects too if the client
 * disconnects.
 */
export function readBytes(request: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.closed) return reject(new Refusal(400, 'expected a whole body'));
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) finish(new Refusal(413, `expected at most ${maxBytes} bytes, got more`));
    };
    const onEnd = () => finish();
    const onClose = () => finish(new Refusal(400, 'expected a whole body'));
    const finish = (error?: Error) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      request.pause();
      if (error) reject(error);
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    request.on('error', finish).on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
