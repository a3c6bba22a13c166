import { homedir } from 'node:os';
import { join } from 'node:path';
import { callback } from '@rlp/core';
import * as z from 'zod';

/** Schema of {@link HubOptions}. */
export const hubSchema = z.strictObject({
  /** Branch, tag or commit. Default `'main'`. */
  revision: z.string().refine(isRevision, 'must be the name of a branch or tag, or a commit').default('main'),
  /** Token for private and gated repositories. Default: the environment variable `HF_TOKEN`. */
  accessToken: z.string().min(1).optional(),
  /** `'cache'` reads what was downloaded before and uses no network. Default: `'cache'` if `HF_HUB_OFFLINE` is set, else `'download'`. */
  use: z.enum(['download', 'cache']).optional(),
  /** Folder of the cache. Default: `HF_HUB_CACHE`, or `hub` in `HF_HOME`, or `~/.cache/huggingface/hub`. */
  cacheDirectory: z.string().min(1).optional(),
  /** Address of the hub. Default: `HF_ENDPOINT`, or `https://huggingface.co`. */
  url: z.url().optional(),
  /** Sends requests, for example through a proxy. Default: the global `fetch`. */
  fetch: callback<typeof fetch>().optional(),
  /** Milliseconds without an answer or a byte after which a download is tried again. Default 30,000. */
  stallMs: z.int().min(1).default(30_000),
  /** Attempts per file. Each goes on where the last one stopped. Default 5. */
  attempts: z.int().min(1).default(5),
});

/** Whether a text can name a revision. It becomes a path in the cache. */
function isRevision(text: string): boolean {
  return !text.includes('\\') && text.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** How a repository of the Hugging Face hub is fetched. */
export interface HubOptions extends z.input<typeof hubSchema> {}

/** {@link HubOptions} with defaults and what the environment says. */
export type ResolvedHubOptions = ReturnType<typeof withEnvironment>;

/** Fills in what Hugging Face's environment variables say. */
export function withEnvironment(
  options: z.output<typeof hubSchema>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
) {
  const { HF_TOKEN, HF_HUB_OFFLINE, HF_ENDPOINT, HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment;
  const home = HF_HOME ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  const isOffline = /^(1|true|yes|on)$/i.test(HF_HUB_OFFLINE ?? '');
  return {
    ...options,
    accessToken: options.accessToken ?? (HF_TOKEN || undefined),
    use: options.use ?? (isOffline ? ('cache' as const) : ('download' as const)),
    cacheDirectory: options.cacheDirectory ?? HF_HUB_CACHE ?? join(home, 'hub'),
    url: (options.url ?? HF_ENDPOINT ?? 'https://huggingface.co').replace(/\/+$/, ''),
    fetch: options.fetch ?? globalThis.fetch,
  };
}
