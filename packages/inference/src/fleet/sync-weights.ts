import {
  type InferenceEngine,
  requireArguments,
  requireFields,
  settleWithin,
  type WeightPublication,
} from '@rlp/core';

/** Result of one engine of {@link syncWeightsToEngines}. */
export type EngineSync =
  | { readonly status: 'synchronised'; readonly version: number }
  | { readonly status: 'failed'; readonly error: unknown };

/** Options of {@link syncWeightsToEngines}. */
export interface SyncWeightsOptions {
  /** Maximum time for an engine, in milliseconds. Default 600000. */
  readonly timeoutMs?: number | undefined;
  /** Stops waiting. Every engine that has not answered counts as failed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Publishes weights to several engines at once. A failing engine does not stop the others.
 *
 * An engine that takes over another version than the published one has failed.
 *
 * @returns One result for each engine, in their order.
 */
export function syncWeightsToEngines(
  engines: readonly InferenceEngine[],
  publication: WeightPublication,
  options: SyncWeightsOptions = {},
): Promise<readonly EngineSync[]> {
  requireArguments('syncWeightsToEngines', { engines: 'objects' }, engines);
  requireFields('syncWeightsToEngines', { timeoutMs: 'number?' }, options);
  const { timeoutMs = 600_000, signal } = options;
  return Promise.all(
    engines.map(async (engine): Promise<EngineSync> => {
      const controller = new AbortController();
      try {
        const work = engine.updateWeights(publication, controller.signal);
        const version = await settleWithin(work, controller, { timeoutMs, signal });
        if (version === publication.version) return { status: 'synchronised', version };
        return {
          status: 'failed',
          error: new Error(`expected version ${publication.version}, the engine has ${version}`),
        };
      } catch (error) {
        return { status: 'failed', error };
      }
    }),
  );
}
