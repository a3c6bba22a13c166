import { type Channel, type FromEngine, inlineChannels, type ToEngine } from '../channel.ts';
import type { ResolvedEngineOptions } from '../options.ts';
import type { Platform } from '../platform.ts';
import type { Engine, ProgramMethods, ProgramReference } from '../protocol.ts';
import { serve } from '../thread/serve.ts';
import { Client, type Liveness } from './client.ts';
import { RemoteEngine } from './remote-engine.ts';

/** A client of the engine at the other end, and the names of the stores there. */
export function connect(channel: Channel<ToEngine, FromEngine>, liveness: Liveness) {
  const stores = new Set<string>();
  const client = new Client(channel, liveness, (name, state) => {
    if (state === 'created') stores.add(name);
    else stores.delete(name);
  });
  return { client, stores };
}

/** Starts an engine in this thread. A program that can import itself does. The platform imports the others. */
export async function openInline(
  options: ResolvedEngineOptions,
  { platform, onNote }: { readonly platform: Platform; readonly onNote: (note: string | undefined) => void },
): Promise<Engine> {
  const [near, far] = inlineChannels<ToEngine, FromEngine>();
  const { client, stores } = connect(near, { ref() {}, unref() {} });
  const known = new Map<string, () => Promise<unknown>>();
  const importModule = (url: URL) => known.get(url.href)?.() ?? platform.importModule(url);
  void serve(far, options, { ...platform, importModule });
  onNote(await client.ready);
  const remember = ({ url, load }: ProgramReference<ProgramMethods>) => {
    if (load !== undefined) known.set(url.href, load);
  };
  return new RemoteEngine(client, stores, options, { starting: remember });
}
