import { allWithSignals, type TokenId, TrainingError } from '@rlp/core';
import type * as z from 'zod';
import { type ChunkLimits, chunksOf } from './chunks.ts';
import { scoringInput } from './gradients.ts';
import type { Submitted, TinkerSession } from './session.ts';
import { futureSchema, passSchema } from './wire.ts';

/** A model on a Tinker server. Its requests are numbered, and the server works on them in this order. */
export class ServedModel {
  readonly session: TinkerSession;
  readonly id: string;
  #sent = 0;

  constructor(session: TinkerSession, id: string) {
    this.session = session;
    this.id = id;
  }

  /** Whether no request was sent yet. Servers load weights only then. */
  get isFresh(): boolean {
    return this.#sent === 0;
  }

  submit(path: string, body: object, signal?: AbortSignal): Promise<Submitted> {
    const request = { model_id: this.id, seq_id: ++this.#sent, ...body };
    return this.session.submit(path, request, futureSchema, signal);
  }

  /** Adds the gradient of an input to what the server has accumulated. */
  submitGradient(input: object): Promise<Submitted> {
    return this.submit('/forward_backward', { forward_backward_input: input });
  }

  /** Updates the weights by the accumulated gradient, which is zero afterwards. */
  submitUpdate(adam: Readonly<Record<string, number>>, signal?: AbortSignal): Promise<Submitted> {
    return this.submit('/optim_step', { adam_params: adam, type: 'optim_step' }, signal);
  }

  /** Sends a request and waits for its result. */
  async call<Schema extends z.ZodType>(
    path: string,
    body: object,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    return this.session.result(await this.submit(path, body), schema);
  }

  /** Logprobs that passes computed: of their sequences in order, without the first token of each. */
  async passed(submitted: readonly Submitted[]): Promise<number[][]> {
    const results = await allWithSignals(submitted, [], (one, signal) =>
      this.session.result(one, passSchema, signal),
    );
    return results.flatMap(({ loss_fn_outputs }) => loss_fn_outputs.map(({ logprobs }) => logprobs.data));
  }

  /** Logprobs of tokens, by sequence. 0 at position 0. */
  async score(
    sequences: readonly (readonly TokenId[])[],
    limits: ChunkLimits,
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    const members = sequences.flatMap((tokens, index) => (tokens.length > 1 ? [index] : []));
    const scored = members.map((index) => ({ tokens: sequences[index]! }));
    const submitted: Submitted[] = [];
    for (const chunk of chunksOf(scored, limits)) {
      const input = scoringInput(chunk.map(({ tokens }) => tokens));
      submitted.push(await this.submit('/forward', { forward_input: input }, signal));
    }
    return alignedWith(sequences, members, await this.passed(submitted));
  }

  /** Unloads the model, if the server can. */
  unload(signal?: AbortSignal): Promise<void> {
    return this.session.unload(this.id, signal);
  }
}

/** Logprobs of all sequences, 0 at position 0, from those of some of them. */
export function alignedWith(
  sequences: readonly (readonly TokenId[])[],
  members: readonly number[],
  rows: readonly (readonly number[])[],
): Float32Array[] {
  const aligned = sequences.map((tokens) => new Float32Array(tokens.length));
  if (rows.length !== members.length) {
    throw new TrainingError(`tinker: expected logprobs of ${members.length} sequences, got ${rows.length}`);
  }
  for (const [row, member] of members.entries()) {
    const [into, from] = [aligned[member]!, rows[row]!];
    if (from.length !== into.length - 1 || !from.every(Number.isFinite)) {
      throw new TrainingError(
        `tinker: expected ${into.length - 1} finite logprobs of sequence ${member}, got ${from.length}`,
      );
    }
    into.set(from, 1);
  }
  return aligned;
}
