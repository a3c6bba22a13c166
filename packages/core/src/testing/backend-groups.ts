import { hasGroup } from '../backend-groups.ts';
import { ArgumentError } from '../errors.ts';
import type {
  CheckpointBackend,
  FullBackend,
  HostWeightsBackend,
  ReferenceBackend,
  TrainingBackend,
} from '../training.ts';
import { describeTrainingBackend, type TrainingBackendSubject } from './training-backend.ts';
import { expectSameWeights, largestGap, long, scores, train } from './training-fixtures.ts';
import { afterEach, describe, expect, it } from './vitest.ts';

/** What the suite of a group needs from an implementation. */
export interface BackendGroupSubject<Backend extends TrainingBackend> {
  /** A new backend with gradient clipping off. Every call gives equal initial weights. */
  readonly create: () => Promise<Backend>;
  /** Largest relative difference that counts as equal between two ways of computing one number. Default 1e-4. */
  readonly tolerance?: number;
}

/** What the suite of checkpoints needs. */
export interface CheckpointSubject<Backend extends CheckpointBackend = CheckpointBackend>
  extends BackendGroupSubject<Backend> {
  /** Path of a directory that does not exist yet, inside one that does. */
  readonly checkpointDirectory: () => Promise<string>;
}

/** Closes what it made after each test. */
function closing<Backend extends TrainingBackend>(make: () => Promise<Backend>): () => Promise<Backend> {
  const open: Backend[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((backend) => backend.close()));
  });
  return async () => {
    const backend = await make();
    open.push(backend);
    return backend;
  };
}

/** Contract of the group `weights`. See {@link HostWeightsBackend}. */
export function describeHostWeightsBackend(
  name: string,
  subject: BackendGroupSubject<HostWeightsBackend>,
): void {
  describe(`${name} is a HostWeightsBackend`, () => {
    const create = closing(subject.create);

    it('gives copies of its weights and takes them back', async () => {
      const backend = await create();
      const before = await backend.getWeights();
      await train(backend);
      const trained = await backend.getWeights();
      await backend.loadWeights(before);
      expectSameWeights(await backend.getWeights(), before);
      await backend.loadWeights(trained);
      expectSameWeights(await backend.getWeights(), trained);
    });

    it('rejects weights whose names or shapes do not match, and keeps its own', async () => {
      const backend = await create();
      const weights = await backend.getWeights();
      const [name, tensor] = [...weights][0]!;
      const missing = new Map([...weights].slice(1));
      const unknown = new Map([...weights, ['unknown', tensor]]);
      const reshaped = new Map([...weights, [name, { shape: [1], data: new Float32Array(1) }]]);
      for (const wrong of [missing, unknown, reshaped]) {
        await expect(backend.loadWeights(wrong)).rejects.toThrow(ArgumentError);
      }
      expectSameWeights(await backend.getWeights(), weights);
    });
  });
}

/** Contract of the group `reference`. See {@link ReferenceBackend}. */
export function describeReferenceBackend(name: string, subject: BackendGroupSubject<ReferenceBackend>): void {
  const { tolerance = 1e-4 } = subject;
  describe(`${name} is a ReferenceBackend`, () => {
    const create = closing(subject.create);

    it('keeps the reference policy where it was until told to move it', async () => {
      const backend = await create();
      const reference = async () =>
        (await backend.logprobs([long.tokens], { policy: 'reference' }))[0]!.logprobs;
      const current = async () => (await backend.logprobs([long.tokens]))[0]!.logprobs;
      const start = await current();
      await train(backend);
      expect(largestGap(await reference(), start)).toBeLessThan(tolerance);
      await backend.updateReference({ method: 'ema', decay: 1 });
      expect(largestGap(await reference(), start)).toBeLessThan(tolerance);
      await backend.updateReference({ method: 'copy' });
      const copied = await current();
      expect(largestGap(await reference(), copied)).toBeLessThan(tolerance);
      await train(backend);
      await backend.updateReference({ method: 'ema', decay: 0 });
      expect(largestGap(await reference(), await current())).toBeLessThan(tolerance);
      expect(largestGap(await reference(), copied)).toBeGreaterThan(0);
      await expect(backend.updateReference({ method: 'ema', decay: 1.5 })).rejects.toThrow(ArgumentError);
    });
  });
}

/** Contract of the group `checkpoints`. See {@link CheckpointBackend}. */
export function describeCheckpointBackend(name: string, subject: CheckpointSubject): void {
  const { checkpointDirectory: directory } = subject;
  describe(`${name} is a CheckpointBackend`, () => {
    const create = closing(subject.create);

    it('continues from a checkpoint bit for bit', async () => {
      const path = await directory();
      const first = await create();
      await train(first);
      await first.saveCheckpoint(path);
      await train(first);
      const second = await create();
      await second.loadCheckpoint(path);
      if (hasGroup(first, 'version') && hasGroup(second, 'version')) {
        expect(second.weightVersion).toBe(first.weightVersion);
      }
      expect(await train(second)).toEqual(2);
      expect(await scores(second)).toEqual(await scores(first));
    });

    it('brings the reference policy of the checkpoint, even of one that had not been trained', async () => {
      const path = await directory();
      const [first, second] = [await create(), await create()];
      if (!hasGroup(first, 'reference') || !hasGroup(second, 'reference')) return;
      await first.saveCheckpoint(path);
      await train(second);
      await second.updateReference({ method: 'copy' });
      await second.loadCheckpoint(path);
      const [expected, found] = await Promise.all(
        [first, second].map((backend) => backend.logprobs([long.tokens], { policy: 'reference' })),
      );
      expect(largestGap(found![0]!.logprobs, expected![0]!.logprobs)).toBeLessThan(1e-6);
    });

    it('rejects a checkpoint that is not there and keeps its weights', async () => {
      const backend = await create();
      const before = await scores(backend);
      await expect(backend.loadCheckpoint(await directory())).rejects.toThrow();
      expect(await scores(backend)).toEqual(before);
    });
  });
}

/** Contracts of a backend of every group but `values`, which {@link describeCriticBackend} has. */
export function describeFullBackend(
  name: string,
  subject: TrainingBackendSubject & CheckpointSubject<Omit<FullBackend, 'values'>>,
): void {
  describeTrainingBackend(name, subject);
  describeHostWeightsBackend(name, subject);
  describeReferenceBackend(name, subject);
  describeCheckpointBackend(name, subject);
}
