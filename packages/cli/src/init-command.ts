import { ArgumentError, messageOf } from '@rlp/core';
import { defineCommand } from 'citty';
import { createProject, nextSteps } from 'create-rlp';
import type { CliContext } from './context.ts';

/** `rlp init`. */
export const initCommand = defineCommand({
  meta: { name: 'init', description: 'Start a project: types, a reward with a test, data, a run file' },
  args: {
    directory: { type: 'positional', description: 'Folder of the project', default: '.' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args: { directory, json }, data }) {
    const { print } = data as CliContext;
    const project = await createProject({ directory }).catch((cause: unknown) => {
      throw new ArgumentError(`rlp init: ${messageOf(cause)}`, { cause });
    });
    print(json ? JSON.stringify(project) : nextSteps(project));
  },
});
