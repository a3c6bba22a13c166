import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeTextFile } from '@rlp/data/store';
import * as z from 'zod';
import { ApiError } from '../api-error.ts';

const infoSchema = z.object({
  baseModel: z.string(),
  rank: z.int().nonnegative(),
  attention: z.enum(['trained', 'frozen']).default('trained'),
  mlp: z.enum(['trained', 'frozen']).default('trained'),
  time: z.string(),
  /** Folder of the files, below the policy's. */
  folder: z.string(),
});

/** Facts of a checkpoint. */
export interface CheckpointInfo extends z.output<typeof infoSchema> {}

/** What a checkpoint is for: `weights` to train on, `sampler_weights` to sample with. */
export type CheckpointKind = 'weights' | 'sampler_weights';

const kinds = ['weights', 'sampler_weights'] as const;
const pathPattern = /^tinker:\/\/([a-zA-Z0-9_-]+)\/(weights|sampler_weights)\/([a-zA-Z0-9][a-zA-Z0-9_.-]*)$/;

/** Checkpoints in a folder: `POLICY/KIND/NAME.json` with facts, beside the files. They outlive the server. */
export class Checkpoints {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Makes the folder of a policy. Names are never used twice, also by a server that comes later. */
  async newPolicy(): Promise<string> {
    await mkdir(this.#root, { recursive: true });
    const taken = (await readdir(this.#root)).map((entry) => Number(/^model-(\d+)$/.exec(entry)?.[1] ?? -1));
    for (let number = Math.max(-1, ...taken) + 1; ; number++) {
      const name = `model-${number}`;
      try {
        await mkdir(join(this.#root, name));
        return name;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }

  /** A folder for files of a policy. */
  filesOf(policy: string, folder: string): string {
    return join(this.#root, policy, folder);
  }

  /** Makes a checkpoint known, once its files are there. Returns its path for clients. */
  async add(
    { policy, kind, name }: { readonly policy: string; readonly kind: CheckpointKind; readonly name: string },
    info: CheckpointInfo,
  ): Promise<string> {
    await writeTextFile(this.#fileOf(policy, kind, name), `${JSON.stringify(info)}\n`);
    return `tinker://${policy}/${kind}/${name}`;
  }

  /**
   * Facts of a checkpoint, and where its files are.
   *
   * @throws ApiError 400 for a path of another form, 404 for a checkpoint that is missing.
   */
  async find(path: string, kind?: CheckpointKind): Promise<CheckpointInfo & { readonly files: string }> {
    const [, policy, found, name] = pathPattern.exec(path) ?? [];
    if (policy === undefined || (kind !== undefined && found !== kind)) {
      const form = `tinker://MODEL/${kind ?? 'weights'}/NAME`;
      throw new ApiError(400, `expected a path such as "${form}", got "${path}"`);
    }
    const file = this.#fileOf(policy, found as CheckpointKind, name!);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) throw new ApiError(404, `Checkpoint not found: ${path}`);
    const info = infoSchema.parse(JSON.parse(text));
    return { ...info, files: this.filesOf(policy, info.folder) };
  }

  /** Checkpoints of a policy, oldest first. */
  async list(policy: string): Promise<readonly object[]> {
    if (!/^[a-zA-Z0-9_-]+$/.test(policy)) return [];
    const found = await Promise.all(kinds.map((kind) => this.#listKind(policy, kind)));
    return found.flat().sort((a, b) => (a.time < b.time ? -1 : 1));
  }

  async #listKind(policy: string, kind: CheckpointKind) {
    const entries = await readdir(join(this.#root, policy, kind)).catch(() => []);
    const names = entries.flatMap((entry) => (entry.endsWith('.json') ? [entry.slice(0, -5)] : []));
    return Promise.all(
      names.map(async (name) => {
        const tinker_path = `tinker://${policy}/${kind}/${name}`;
        const { time } = await this.find(tinker_path);
        const checkpoint_type = kind === 'weights' ? 'training' : 'sampler';
        return { checkpoint_id: `${kind}/${name}`, checkpoint_type, time, tinker_path };
      }),
    );
  }

  /** Removes a checkpoint. */
  async remove(path: string): Promise<void> {
    const { files } = await this.find(path);
    const [, policy, kind, name] = pathPattern.exec(path)!;
    await rm(this.#fileOf(policy!, kind as CheckpointKind, name!));
    await rm(files, { recursive: true, force: true });
  }

  #fileOf(policy: string, kind: CheckpointKind, name: string): string {
    return join(this.#root, policy, kind, `${name}.json`);
  }
}
