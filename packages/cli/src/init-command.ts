import { ArgumentError, messageOf } from '@rlp/core';
import { defineCommand } from 'citty';
import { createProject, nextSteps, templates } from 'create-rlp';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

/** `rlp init`. */
export const initCommand = defineCommand({
  meta: { name: 'init', description: 'Start a project: types, a reward with a test, data, a run file' },
  args: {
    directory: { type: 'positional', description: 'Folder of the project', default: '.' },
    template: {
      type: 'string',
      description: `What the project does: ${Object.keys(templates).join(', ')}`,
      default: 'reward',
    },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args: { directory, template, json }, data }) {
    const { print } = data as CliContext;
    const project = await createProject({ directory, template }).catch((cause: unknown) => {
      // What the system cannot do has its own remedy.
      if (cause instanceof Error && 'syscall' in cause) throw cause;
      const Problem = Object.hasOwn(templates, template) ? ArgumentError : UsageError;
      throw new Problem(`rlp init: ${messageOf(cause)}`, { cause });
    });
    print(json ? JSON.stringify(project) : nextSteps(project));
  },
});
