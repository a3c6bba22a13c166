/** The worker of the page: it computes, so that the page stays free. */
import { messageOf } from '@rlp/core';
import { modelBlobs } from '@rlp/models';
import { createEngine } from '@rlp/onnx/web';
import type { GameName } from './games.ts';
import { learn, newModel, type Progress } from './learn.ts';

/** Messages of the page. */
export type ToWorker =
  | {
      readonly kind: 'start';
      readonly game: GameName;
      readonly imitations: number;
      readonly iterations: number;
      /** Address of ONNX Runtime's files. */
      readonly assets: string;
    }
  | { readonly kind: 'pause' | 'go on' | 'stop' };

/** Messages of the worker. */
export type FromWorker =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'paused' }
  | { readonly kind: 'finished'; readonly files: readonly (readonly [name: string, content: Blob])[] }
  | { readonly kind: 'failed'; readonly reason: string };

const scope = globalThis as unknown as {
  postMessage(message: FromWorker): void;
  addEventListener(event: 'message', listener: (event: { readonly data: ToWorker }) => void): void;
};

const stop = new AbortController();
let goOn: (() => void) | undefined;
let paused: Promise<void> | undefined;

function resume(): void {
  goOn?.();
  paused = undefined;
}

scope.addEventListener('message', ({ data }) => {
  if (data.kind === 'start') void train(data);
  else if (data.kind === 'pause') paused ??= new Promise((resolve) => (goOn = resolve));
  else resume();
  if (data.kind === 'stop') stop.abort();
});

async function train({ assets, ...asked }: ToWorker & { readonly kind: 'start' }): Promise<void> {
  try {
    const engine = await createEngine({ assets });
    const training = learn(engine, newModel('0'), { ...asked, seed: '0', signal: stop.signal });
    let step = await training.next();
    while (!step.done) {
      scope.postMessage({ kind: 'progress', progress: step.value });
      if (paused !== undefined) scope.postMessage({ kind: 'paused' });
      await paused;
      step = await training.next();
    }
    await engine.close();
    scope.postMessage({ kind: 'finished', files: [...modelBlobs(step.value)] });
  } catch (error) {
    scope.postMessage({ kind: 'failed', reason: messageOf(error) });
  }
}
