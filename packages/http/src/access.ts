import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { Refusal } from './refusal.ts';

/** Whether a token gives access to an address. */
export type TokenCheck = (token: string, url: URL) => boolean;

/** Rules for access to the server. */
interface AccessRules {
  /** Address that the server listens on. */
  readonly host: string;
  readonly hostNames?: readonly string[] | undefined;
  readonly token?: string | TokenCheck | undefined;
  readonly openPaths: readonly string[] | ((path: string) => boolean);
}

type AskedRequest = Pick<Request, 'headers'>;

const digestOf = (text: string) => hash('sha256', text, 'buffer');

/** Returns the check of a request. It throws a {@link Refusal} for a request that must not reach the handler. */
export function accessCheck(rules: AccessRules): (request: AskedRequest, url: URL) => void {
  const { token, openPaths } = rules;
  const isOpen = typeof openPaths === 'function' ? openPaths : (path: string) => openPaths.includes(path);
  const isOwnHost = hostCheck(rules);
  const isAllowed = typeof token === 'string' ? equals(token) : token;
  return ({ headers }, url) => {
    if (!isOwnHost(headers.get('host') ?? '')) throw new Refusal(403, 'expected a host name of this server');
    if (isForeignPage(headers)) throw new Refusal(403, 'expected a page of this server');
    if (isAllowed === undefined || isOpen(url.pathname)) return;
    if (isAllowed(tokenOf(headers), url)) return;
    throw new Refusal(401, 'expected the token, as "authorization: Bearer …" or "x-api-key: …"');
  };
}

/** Compares in constant time. */
function equals(token: string): TokenCheck {
  const expected = digestOf(token);
  return (given) => timingSafeEqual(digestOf(given), expected);
}

/**
 * Whether a `host` header names this server.
 *
 * In DNS rebinding, a page's name is pointed at this server. The header then holds that name and is refused.
 */
function hostCheck({ host, hostNames }: AccessRules): (header: string) => boolean {
  if (/^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)) {
    return (header) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(header);
  }
  if (hostNames === undefined) return () => true;
  const names = new Set(['localhost', host, ...hostNames].map((name) => name.toLowerCase()));
  return (header) => {
    const name = header.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    // An IP address cannot be rebound to another server.
    return isIP(name) !== 0 || names.has(name.toLowerCase());
  };
}

/** Token from `authorization: Bearer …` or `x-api-key`. Addresses hold none, because they end up in logs and histories. */
function tokenOf(headers: Headers): string {
  return headers.get('authorization')?.replace(/^Bearer +/i, '') ?? headers.get('x-api-key') ?? '';
}

/** Whether a request comes from a web page of another server. Such pages have no access. */
function isForeignPage(headers: Headers): boolean {
  const origin = headers.get('origin');
  if (origin === null) return false;
  return !URL.canParse(origin) || new URL(origin).host !== headers.get('host');
}
