import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A request that is answered with an error: the status, and one sentence for whoever asked. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The body of a request. Rejects with a 413 once it is longer than `limit` bytes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new Refusal(413, `expected at most ${limit} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether a request carries the token: `authorization: Bearer …`, or `?token=…` for clients that set no headers. */
export function carriesToken(request: IncomingMessage, url: URL, token: string): boolean {
  const header = request.headers.authorization;
  const given = header?.replace(/^Bearer +/i, '') ?? url.searchParams.get('token') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** Whether a request names this machine as its host, as no web page can whose name someone pointed here. */
export function namesLoopback({ headers }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(headers.host ?? '');
}

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
