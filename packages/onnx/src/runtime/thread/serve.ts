import type { Channel, FromEngine, ToEngine } from '../channel.ts';
import { loadNative } from '../native/load-native.ts';
import { guardedRuntime, type NativeGuard } from '../native/native-guard.ts';
import type { ResolvedEngineOptions } from '../options.ts';
import { serializeError } from '../wire-errors.ts';
import { Host } from './host.ts';
import { Server } from './server.ts';

/**
 * Runs an engine in this thread for the caller at the other end of `channel`.
 *
 * Sends a message when the engine is ready or has failed to start.
 *
 * @param guard - Notified of native calls, in a thread that may be terminated.
 */
export async function serve(
  channel: Channel<FromEngine, ToEngine>,
  options: ResolvedEngineOptions,
  guard?: NativeGuard,
): Promise<void> {
  try {
    const native = guard ? guardedRuntime(await guard.during(loadNative), guard) : await loadNative();
    const host = new Host(native, options);
    await host.probe();
    new Server(channel, host, options.timeouts.closeMs / 2);
    channel.post({ kind: 'ready', note: native.note });
  } catch (error) {
    channel.post({ kind: 'failed', error: serializeError(error) });
  }
}
