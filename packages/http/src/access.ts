import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a request carries the token: `authorization: Bearer …`, or `?token=…` for clients that set no headers. */
export function carriesToken(headers: Headers, url: URL, token: string): boolean {
  const header = headers.get('authorization');
  const given = header?.replace(/^Bearer +/i, '') ?? url.searchParams.get('token') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** Whether a `host` header names this machine. A web page whose name was pointed here names itself. */
export function namesLoopback(host: string | undefined): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '');
}

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}

/** Whether a request comes from a web page of another server, which may not use this one. */
export function isForeignPage(headers: Headers): boolean {
  const origin = headers.get('origin');
  if (origin === null) return false;
  return !URL.canParse(origin) || new URL(origin).host !== headers.get('host');
}
