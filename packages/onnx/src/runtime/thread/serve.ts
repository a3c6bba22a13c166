import type { Channel, FromEngine, ToEngine } from '../channel.ts';
import type { ResolvedEngineOptions } from '../options.ts';
import type { Platform } from '../platform.ts';
import { serializeError } from '../wire-errors.ts';
import { Host } from './host.ts';
import { Server } from './server.ts';

/**
 * Runs an engine in this thread for the caller at the other end of `channel`.
 *
 * Sends a message when the engine is ready or has failed to start.
 */
export async function serve(
  channel: Channel<FromEngine, ToEngine>,
  options: ResolvedEngineOptions,
  platform: Platform,
): Promise<void> {
  try {
    const native = await platform.loadRuntime(options.executionProvider);
    const host = new Host(native, options, platform);
    await host.probe();
    const { importModule } = platform;
    new Server(channel, { host, importModule, stopMs: options.timeouts.closeMs / 2 });
    channel.post({ kind: 'ready', note: native.note });
  } catch (error) {
    channel.post({ kind: 'failed', error: serializeError(error) });
  }
}
