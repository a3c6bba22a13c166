import type { Platform } from '../platform.ts';
import { loadBound } from './c-interface/load-bound.ts';
import { cudaAdvice } from './cuda-files.ts';
import { importModule } from './import-module.ts';
import { loadNative } from './load-native.ts';
import { guardedRuntime, type NativeGuard } from './native-guard.ts';
import { Profiler } from './profiler.ts';

/**
 * Node with onnxruntime-node.
 *
 * @param guard - Notified of native calls, in a thread that may be terminated.
 */
export function nodePlatform(guard?: NativeGuard): Platform {
  return {
    loadRuntime: async (provider) => {
      const load = provider === 'cuda' ? loadBound : loadNative;
      return guard ? guardedRuntime(await guard.during(load), guard) : await load();
    },
    importModule,
    providerAdvice: (provider) => (provider === 'cuda' ? cudaAdvice() : undefined),
    createProfiler: () => new Profiler(),
  };
}
