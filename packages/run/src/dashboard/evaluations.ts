import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluationSchema } from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import type { RunSample, RunScore } from '@rlp/viewer/runs';
import * as z from 'zod';

/** Responses of an evaluation that are shown. */
const shownSamples = 8;
const answerSchema = z.object({
  task: z.string(),
  prompt: z.string(),
  response: z.string(),
  reward: z.number().nullable().default(null),
});

interface Read {
  readonly changed: number;
  /** Version of the weights. */
  readonly version: number;
  readonly score?: RunScore | undefined;
  readonly samples: readonly RunSample[];
}

/** The evaluations of a run. A file is read again when it has changed. */
export class RunEvaluations {
  readonly #folder: string;
  #known = new Map<string, Read>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  get scores(): readonly RunScore[] {
    return this.#ordered.flatMap(({ score }) => score ?? []);
  }

  get samples(): readonly RunSample[] {
    return this.#ordered.flatMap(({ samples }) => samples);
  }

  /** @returns whether anything changed, and what could not be read. */
  async read(): Promise<{ readonly isChanged: boolean; readonly problems: readonly string[] }> {
    const names = await readdir(this.#folder).catch(() => []);
    const problems: string[] = [];
    const next = new Map<string, Read>();
    let isChanged = false;
    for (const name of names.filter((name) => name.endsWith('.json')).sort()) {
      const path = join(this.#folder, name);
      const changed = (await stat(path).catch(() => undefined))?.mtimeMs;
      if (changed === undefined) continue;
      const known = this.#known.get(name);
      const isNew = known?.changed !== changed;
      const read = isNew ? await readEvaluation(path, changed) : known;
      if (read.score === undefined) problems.push(`${path} is not an evaluation; it is left out`);
      next.set(name, read);
      isChanged ||= isNew;
    }
    isChanged ||= next.size !== this.#known.size;
    this.#known = next;
    return { isChanged, problems };
  }

  /** In the order of the weights. */
  get #ordered(): readonly Read[] {
    return [...this.#known.values()].sort((a, b) => a.version - b.version || a.changed - b.changed);
  }
}

async function readEvaluation(path: string, changed: number): Promise<Read> {
  try {
    const {
      name,
      policyVersion: version,
      accuracy,
      low,
      high,
      reward,
      tasks,
    } = evaluationSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    const score = { name, accuracy, low, high, reward, tasks: tasks.length };
    return { changed, version, score, samples: await readSamples(path, name) };
  } catch {
    return { changed, version: 0, samples: [] };
  }
}

/** The first responses of an evaluation. They lie beside it. A line that cannot be read is left out. */
async function readSamples(path: string, evaluation: string): Promise<readonly RunSample[]> {
  const samples: RunSample[] = [];
  const file = path.replace(/\.json$/, '.jsonl');
  if (!existsSync(file)) return samples;
  for await (const { value } of readJsonLinesFile(file, { schema: answerSchema, onMalformed: () => {} })) {
    samples.push({ evaluation, ...value });
    if (samples.length === shownSamples) break;
  }
  return samples;
}
