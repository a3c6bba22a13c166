import { SamplerError, type ScoreRequest, type TokenScores } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import type { QuantizedForm } from '@rlp/models/decoder';
import { serialize } from '@rlp/onnx';
import type { OperatorSet } from '@rlp/onnx/layers';
import { type EngineHost, type EngineSession, Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { TokenLogits } from '../backend.ts';
import { feedsOf, floats } from '../decoding/step-inputs.ts';
import { StoredWeights } from '../decoding/weights.ts';
import { type ScoreBatch, scoreBatches } from './score-batches.ts';
import { scoreGraph } from './score-graph.ts';

/** What a scorer needs. */
export interface ScorerOptions {
  readonly config: ModelConfig;
  readonly store: string;
  readonly contextLength: number;
  readonly operators: OperatorSet;
  /** Maximum tokens of one batch, padding included. A single longer sequence still runs. */
  readonly scoreTokens: number;
}

type Output = 'scores' | 'logits';

/** Computes probabilities of given tokens, in batches of similar length. */
export class Scorer {
  readonly #host: EngineHost;
  readonly #options: ScorerOptions;
  readonly #weights: StoredWeights;
  readonly #sessions = new Map<Output, Promise<EngineSession>>();

  constructor(host: EngineHost, options: ScorerOptions) {
    this.#host = host;
    this.#options = options;
    this.#weights = new StoredWeights(host, options.config, options.store);
  }

  /** How the store holds the linear layers. */
  get form(): QuantizedForm | 'float32' {
    return this.#weights.form;
  }

  /**
   * Logprobs and entropies at `temperature`, by request.
   *
   * @throws SamplerError if the model returns none.
   */
  async score(
    requests: readonly ScoreRequest[],
    temperature: number,
    signal: AbortSignal,
  ): Promise<TokenScores[]> {
    const scores: TokenScores[] = requests.map(() => ({
      logprobs: new Float32Array(0),
      entropies: new Float32Array(0),
    }));
    const feeds = { temperature: new Tensor('float32', Float32Array.of(temperature), [1, 1]) };
    await this.#forEach('scores', requests, signal, feeds, (batch, outputs) => {
      const [logprobs, entropies] = [floats(outputs, 'logprobs'), floats(outputs, 'entropies')];
      if (!logprobs.every(Number.isFinite)) throw notFinite();
      for (const { index, from, to } of batch.parts) {
        scores[index] = {
          logprobs: logprobs.slice(from, to).map((logprob) => Math.min(0, logprob)),
          entropies: entropies.slice(from, to),
        };
      }
    });
    return scores;
  }

  /** Full logits, by request. */
  async logits(requests: readonly ScoreRequest[], signal: AbortSignal): Promise<TokenLogits[]> {
    const { vocabularySize } = this.#options.config;
    const logits: TokenLogits[] = requests.map(() => ({ logits: new Float32Array(0), vocabularySize }));
    await this.#forEach('logits', requests, signal, {}, (batch, outputs) => {
      for (const { index, from, to } of batch.parts) {
        const rows = floats(outputs, 'logits').slice(from * vocabularySize, to * vocabularySize);
        logits[index] = { logits: rows, vocabularySize };
      }
    });
    return logits;
  }

  async close(): Promise<void> {
    const sessions = await Promise.all(this.#sessions.values());
    this.#sessions.clear();
    for (const session of sessions) await session.release();
  }

  async #forEach(
    output: Output,
    requests: readonly ScoreRequest[],
    signal: AbortSignal,
    extra: Tensors,
    take: (batch: ScoreBatch, outputs: Tensors) => void,
  ): Promise<void> {
    const batches = scoreBatches(requests, this.#options.scoreTokens);
    if (batches.length === 0) return;
    const session = await this.#session(output);
    const parameters = this.#weights.feeds(session.inputNames);
    for (const batch of batches) {
      signal.throwIfAborted();
      const feeds = { ...parameters, ...extra, ...batchFeeds(batch) };
      take(batch, await session.run(feedsOf(session, feeds)));
      await this.#host.yield();
    }
  }

  #session(output: Output): Promise<EngineSession> {
    const known = this.#sessions.get(output);
    if (known !== undefined) return known;
    const { config, contextLength, operators: ops } = this.#options;
    const { input: parameter, storedProduct: product } = this.#weights;
    const graph = scoreGraph({ config, contextLength, ops, output, parameter, product });
    const session = this.#host.createSession(serialize(graph));
    this.#sessions.set(output, session);
    session.catch(() => this.#sessions.delete(output));
    return session;
  }
}

function notFinite(): SamplerError {
  return new SamplerError(
    "scoreTokens: the model's logprobs are not finite; its weights have diverged or are damaged; go back to an earlier checkpoint",
  );
}

function batchFeeds({ tokens, positions, rows, targets, count, time }: ScoreBatch): Tensors {
  const mask = new Float32Array(time * time);
  for (let query = 0; query < time; query++) mask.fill(-1e30, query * time + query + 1, (query + 1) * time);
  return {
    tokens: new Tensor('int64', tokens, [count, time]),
    positions: new Tensor('int64', positions, [count, time]),
    mask: new Tensor('float32', mask, [time, time]),
    rows: new Tensor('int64', rows, [rows.length]),
    targets: new Tensor('int64', targets, [targets.length]),
  };
}
