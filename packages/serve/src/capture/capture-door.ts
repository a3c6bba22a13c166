import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type HttpServer, serveHttp } from '@rlp/http';
import { ApiError, apiErrorOf } from '../api-error.ts';
import { errorBody } from '../error-shapes.ts';
import type { RouteSettings, ServeApp, ServeEnv } from '../routes.ts';
import { serveApp } from '../serve-app.ts';
import type { CapturedEpisode } from './captured-episode.ts';

/** How an agent reaches the policy. */
export interface Door {
  /** `http://host:port/r/<group>/<member>/v1`, for clients of OpenAI's API. */
  readonly baseURL: string;
  /** Key of this episode. It opens nothing else. */
  readonly apiKey: string;
  /** Answers requests to `baseURL` without a socket. Clients that take a `fetch` can use it. */
  readonly fetch: typeof globalThis.fetch;
  /** Forgets the episode. Requests that come later get 410. */
  close(): void;
}

/** Where the door listens. */
interface Listening {
  readonly host: string;
  /** Name of the host in addresses. Default: the host. */
  readonly hostName: string | undefined;
  readonly port: number;
}

interface Guest {
  readonly episode: CapturedEpisode;
  readonly key: Buffer;
}

type Handling = Required<ServeEnv['Bindings']>['exchange'];

const digestOf = (text: string) => hash('sha256', text, 'buffer');

/** What agents may ask for. Routes that change weights are not for them. */
const askingPaths = /^\/v1\/(chat\/completions|completions|responses|messages|models)(\/|$)/;

/** The episode's part of an address, and the path behind it. */
function splitPath(pathname: string): { readonly place: string; readonly path: string } {
  const [, place = '', path = '/'] = /^(\/r\/[^/]+\/\d+)(\/.*)$/.exec(pathname) ?? [];
  return { place, path };
}

/** Address of a server under another name. */
function urlAt({ url, port }: HttpServer, name: string | undefined): string {
  if (name === undefined) return url;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Milliseconds that a refusal takes. */
const lateMs = 100;

/** Routes requests to the episodes that they belong to. */
export class CaptureDoor {
  readonly #app: ServeApp;
  readonly #guests = new Map<string, Guest>();
  readonly #hosts = new WeakMap<Request, CapturedEpisode>();
  readonly #server: Promise<HttpServer> | undefined;
  readonly #hostName: string | undefined;
  #groups = 0;

  constructor(settings: RouteSettings, listen: Listening | 'nowhere') {
    this.#app = serveApp({
      answerer: ({ req }) => this.#hosts.get(req.raw)!.answerer,
      pathOf: ({ url }) => splitPath(new URL(url).pathname).path,
      settings,
      onError: (error, _, request) => this.#hosts.get(request)!.requests.refused(error),
    });
    if (listen === 'nowhere') return;
    const { host, hostName, port } = listen;
    this.#hostName = hostName;
    this.#server = serveHttp({
      ...{ host, port },
      process: 'released',
      handler: (request, exchange) => this.#answer(request as Request, exchange.url, exchange),
      refusalBody: (refusal, { url }) => errorBody(apiErrorOf(refusal), new URL(url).pathname),
    });
    // Reported to those who wait for it.
    this.#server.catch(() => undefined);
  }

  /** A name for a group in addresses, and a number, because groups of different collections can have equal names. */
  groupPath(id: string): string {
    this.#groups += 1;
    return `${this.#groups}-${id.replace(/[^\w.-]+/g, '-').slice(0, 60)}`;
  }

  /** Lets an agent in. */
  async open(episode: CapturedEpisode, group: string, member: number): Promise<Door> {
    const server = await this.#server;
    const url = server === undefined ? 'http://capture.invalid' : urlAt(server, this.#hostName);
    const place = `/r/${group}/${member}`;
    const apiKey = `rlp-${randomBytes(24).toString('hex')}`;
    this.#guests.set(place, { episode, key: digestOf(apiKey) });
    return {
      baseURL: `${url}${place}/v1`,
      apiKey,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        return this.#answer(request, new URL(request.url), undefined);
      },
      close: () => {
        this.#guests.delete(place);
        episode.close();
      },
    };
  }

  /** Stops to listen and drops requests under way. */
  async close(): Promise<void> {
    for (const { episode } of this.#guests.values()) episode.close();
    this.#guests.clear();
    await (await this.#server?.catch(() => undefined))?.close();
  }

  async #answer(request: Request, url: URL, exchange: Handling): Promise<Response> {
    const { place, path } = splitPath(url.pathname);
    try {
      this.#hosts.set(request, this.#guest(place, request.headers).episode);
      if (!askingPaths.test(path))
        throw new ApiError(404, `there is no ${request.method} ${path} for agents`);
    } catch (error) {
      const known = apiErrorOf(error);
      this.#guests.get(place)?.episode.requests.refused(error);
      // An agent that goes on after its end must not keep this process busy.
      await new Promise((resolve) => setTimeout(resolve, lateMs));
      return Response.json(errorBody(known, path), { status: known.status });
    }
    return this.#app.fetch(request, { exchange });
  }

  #guest(place: string, headers: Headers): Guest {
    const guest = this.#guests.get(place);
    if (guest === undefined) {
      throw new ApiError(410, 'no episode runs at this address; it may be over', { code: 'episode_over' });
    }
    const given = headers.get('authorization')?.replace(/^Bearer +/i, '') ?? headers.get('x-api-key') ?? '';
    if (timingSafeEqual(digestOf(given), guest.key)) return guest;
    throw new ApiError(401, 'expected the key of this episode, as "authorization: Bearer …"');
  }
}
