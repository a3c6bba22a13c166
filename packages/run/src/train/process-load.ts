import type { Metrics } from '@rlp/core';

/**
 * Measures what this process took since the last call: `system/processor` in cores, and `system/memory` in MiB of resident memory now.
 *
 * @param clock - Milliseconds since any moment.
 */
export function processLoad(clock: () => number): () => Metrics {
  let [before, at] = [process.cpuUsage(), clock()];
  return () => {
    const used = process.cpuUsage(before);
    const elapsedMs = clock() - at;
    [before, at] = [process.cpuUsage(), clock()];
    const processor = (used.user + used.system) / 1000 / elapsedMs;
    return {
      'system/memory': process.memoryUsage.rss() / 2 ** 20,
      ...(elapsedMs > 0 && { 'system/processor': processor }),
    };
  };
}
