import { messageOf } from '@rlp/core';
import { defineRun, type RunConfig, readRunFile } from '@rlp/run';
import type { Finding } from './finding.ts';

/** What a configuration file names, and whether the file is sound. */
export interface CheckedRunFile {
  readonly finding: Finding;
  /** Model folder or name on the hub. `undefined` if the run makes its model. */
  readonly model: string | undefined;
  /** The configuration, if it is sound. */
  readonly config: RunConfig | undefined;
}

/** Whether a path is that of a configuration of a run. */
export function isRunFile(path: string): boolean {
  return /\.(ya?ml|json|[cm]?[jt]s)$/i.test(path);
}

/** Reads and checks the configuration of a run. */
export async function checkRunFile(path: string): Promise<CheckedRunFile> {
  const name = 'configuration';
  let config: RunConfig;
  try {
    config = await readRunFile(path);
    defineRun(config);
  } catch (error) {
    const text = `${path}: ${messageOf(error)}`;
    return { finding: { name, state: 'problem', text }, model: undefined, config: undefined };
  }
  const { model } = config;
  return {
    finding: { name, state: 'fine', text: `${path} has no contradictions` },
    model: typeof model === 'string' ? model : undefined,
    config,
  };
}
