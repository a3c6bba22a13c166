import { createHash } from 'node:crypto';
import { ApiError } from '../api-error.ts';
import type { CheckpointKind, Checkpoints } from './checkpoints.ts';
import { lossNamed } from './losses.ts';
import { sequenceOf } from './sequences.ts';
import type { HostedPolicy, PolicySettings } from './trainer.ts';
import { type AdamParams, type Pass, tensorOf } from './wire.ts';

/** Facts of a policy that clients ask for. */
export interface PolicyFacts extends Pick<PolicySettings, 'rank' | 'attention' | 'mlp'> {
  readonly id: string;
  readonly sessionId: string;
  readonly baseModel: string;
}

/** A policy that a client trains, with the calls that it got. Calls run in the order they came. */
export class TrainedPolicy {
  readonly facts: PolicyFacts;
  readonly #policy: Promise<HostedPolicy>;
  readonly #checkpoints: Checkpoints;
  readonly #now: () => Date;
  /** Calls by their number, so that a call that is sent twice is done once. */
  readonly #calls = new Map<number, { readonly digest: string; readonly requestId: string }>();
  #last: Promise<unknown>;
  /** Weights without a name. They go with the policy. */
  readonly #ephemeral: string[] = [];
  #saved = 0;

  constructor(
    facts: PolicyFacts,
    policy: Promise<HostedPolicy>,
    { checkpoints, now }: { readonly checkpoints: Checkpoints; readonly now: () => Date },
  ) {
    this.facts = facts;
    this.#policy = policy;
    this.#checkpoints = checkpoints;
    this.#now = now;
    this.#last = policy.catch(() => undefined);
  }

  /** Resolves once the policy can be trained. */
  async ready(): Promise<void> {
    await this.#policy;
  }

  /**
   * Starts a call, or returns the name of the same call if it was started already.
   *
   * @throws ApiError 409 for another call of the same number.
   */
  once(number: number | null | undefined, request: unknown, start: () => string): string {
    if (number === null || number === undefined) return start();
    const digest = createHash('sha256').update(JSON.stringify(request)).digest('base64');
    const known = this.#calls.get(number);
    if (known === undefined) {
      const requestId = start();
      this.#calls.set(number, { digest, requestId });
      return requestId;
    }
    if (known.digest === digest) return known.requestId;
    throw new ApiError(409, `seq_id ${number} of ${this.facts.id} was another request; send the next number`);
  }

  /** Logprobs of each datum, without a gradient. */
  forward({ data, loss_fn, loss_fn_config }: Pass): Promise<object> {
    return this.#run(async (policy) => {
      const loss = lossNamed(loss_fn, loss_fn_config ?? {});
      const sequences = data.map((datum, index) => sequenceOf(datum, index, { ...loss, columns: [] }));
      const scores = await policy.logprobs(sequences.map(({ tokens }) => tokens));
      return passResult(
        scores.map(({ logprobs }) => logprobs),
        {},
      );
    });
  }

  /** Adds the gradient of the summed loss. */
  forwardBackward({ data, loss_fn, loss_fn_config }: Pass): Promise<object> {
    return this.#run(async (policy) => {
      const loss = lossNamed(loss_fn, loss_fn_config ?? {});
      const sequences = data.map((datum, index) => sequenceOf(datum, index, loss));
      const result = await policy.forwardBackward({ sequences }, loss);
      return passResult(result.logprobs, { 'loss:sum': result.loss });
    });
  }

  update(adam: AdamParams): Promise<object> {
    return this.#run(async (policy) => {
      const { gradientNorm, learningRate, updates } = await policy.update(adam);
      return {
        metrics: { grad_norm: gradientNorm, learning_rate: learningRate, updates },
        type: 'optim_step',
      };
    });
  }

  /** Writes weights and optimizer. */
  save(name: string): Promise<object> {
    return this.#run(async (policy) => {
      const folder = `training_files/${name}`;
      await policy.saveCheckpoint(this.#checkpoints.filesOf(this.facts.id, folder));
      const path = await this.#add('weights', name, folder);
      return { path, type: 'save_weights' };
    });
  }

  load(path: string, optimizer: 'restored' | 'fresh'): Promise<object> {
    return this.#run(async (policy) => {
      const { files, baseModel, rank } = await this.#checkpoints.find(path, 'weights');
      const { facts } = this;
      if (baseModel !== facts.baseModel || rank !== facts.rank) {
        throw new ApiError(
          400,
          `load_weights: ${path} is of ${baseModel} with rank ${rank}, ${facts.id} of ${facts.baseModel} with rank ${facts.rank}`,
        );
      }
      await policy.loadCheckpoint(files, { optimizer });
      return { type: 'load_weights' };
    });
  }

  /** Writes weights to sample with. Returns their path. */
  publish(name: string | undefined): Promise<string> {
    return this.#run(async (policy) => {
      // Each in its own folder: the backend removes versions before the last two of a folder.
      const { id, rank } = this.facts;
      const folder = `sampler_files/${this.#saved++}`;
      const directory = this.#checkpoints.filesOf(id, folder);
      const { version } = await policy.publish({ as: rank > 0 ? 'adapter' : 'checkpoint', directory });
      const path = await this.#add(
        'sampler_weights',
        name ?? `ephemeral-${this.#saved}`,
        `${folder}/${version}`,
      );
      if (name === undefined) this.#ephemeral.push(path);
      return path;
    });
  }

  async close(): Promise<void> {
    await this.#last;
    await (await this.#policy.catch(() => undefined))?.close();
    for (const path of this.#ephemeral.splice(0)) await this.#checkpoints.remove(path);
  }

  #add(kind: CheckpointKind, name: string, folder: string): Promise<string> {
    const { id: policy, baseModel, rank, attention, mlp } = this.facts;
    const info = { baseModel, rank, attention, mlp, time: this.#now().toISOString(), folder };
    return this.#checkpoints.add({ policy, kind, name }, info);
  }

  #run<Result>(work: (policy: HostedPolicy) => Promise<Result>): Promise<Result> {
    const done = this.#last.then(async () => work(await this.#policy));
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Logprobs of the tokens after the first. */
function passResult(logprobs: readonly Float32Array[], metrics: Readonly<Record<string, number>>): object {
  const loss_fn_outputs = logprobs.map((row) => ({ logprobs: tensorOf(row.subarray(1)) }));
  return { loss_fn_output_type: 'TensorData', loss_fn_outputs, metrics };
}
