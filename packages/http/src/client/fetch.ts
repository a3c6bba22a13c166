/** The part of a response that is read. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Read piece by piece, so that an endless answer can be cut. */
  readonly body?: FetchBody | null;
  /** Read if `body` is missing. */
  text(): Promise<string>;
}

/** The bytes of a response. */
export interface FetchBody {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
}

/** Methods that are used. */
export type HttpMethod = 'GET' | 'POST' | 'DELETE';

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: {
    readonly method: HttpMethod;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchResponse>;
