import type { Task } from '@rlp/core';
import { datasetFieldsSchema } from '@rlp/data';
import * as z from 'zod';

/** Kinds of tasks that `data.tasks` can name. */
const madeTasks = ['addition', 'reasoning'] as const;

/** Schema of data that is described. */
const describedSchema = z
  .strictObject({
    /**
     * File or folder that `loadDataset` reads, with a slice if you like: `train.jsonl[0:500]`. `./train.jsonl` of a configuration file is
     * looked for beside that file first, other relative paths in the working directory. Give either it or `tasks`.
     */
    path: z.string().min(1).optional(),
    /** `'addition'` makes sums with worked solutions, `'reasoning'` the seeded tasks of `@rlp/env/reasoning`. */
    tasks: z.enum(madeTasks).optional(),
    /** Options of `tasks`, such as `count`. Default `{}`. */
    options: z.record(z.string(), z.unknown()).default({}),
    /** Split of a folder, such as `'test'`. Default `'train'`, or the only split. */
    split: z.string().min(1).optional(),
    /** Configuration of a folder or a dataset of the hub with several, such as `'main'` of `openai/gsm8k`. Default: the only one. */
    config: z.string().min(1).optional(),
    /** Columns of the file, if their names are not recognised. Default `{}`. */
    fields: datasetFieldsSchema.prefault({}),
    /** Text around a prompt that is text, such as `"Question: {prompt}\nAnswer:"`. Default `"{prompt}"`. */
    template: z
      .string()
      .refine((text) => text.includes('{prompt}'), 'must contain {prompt}')
      .optional(),
  })
  .superRefine(({ path, tasks, options }, { addIssue }) => {
    const issue = (message: string, at: string) => addIssue({ code: 'custom', path: [at], message });
    if (path === undefined && tasks === undefined)
      issue("must be given, or tasks: 'addition' or 'reasoning'", 'path');
    if (path !== undefined && tasks !== undefined) issue('must not be given together with path', 'tasks');
    if (tasks === undefined && Object.keys(options).length > 0)
      issue('are the options of tasks; leave them out', 'options');
  });

/** Data that is described. */
export type DescribedData = z.output<typeof describedSchema>;

const tasksSchema = z
  .custom<readonly Task[]>(Array.isArray, 'expected a file, { path } or { tasks }, or a list of tasks')
  .superRefine((tasks, { addIssue }) => {
    const at = tasks.findIndex((task) => typeof task?.id !== 'string' || task.prompt === undefined);
    if (at < 0) return;
    const has = Object.keys(tasks[at] ?? {}).join(', ') || 'nothing';
    const message = `expected a task { id, prompt, metadata: { answer } } whose id is text, got one with ${has}; rows of other columns are read from a file`;
    addIssue({ code: 'custom', path: [at], message });
  });

/** Schema of the data of a run: a file, a description, or tasks. */
export const dataSchema = z.union([z.string().min(1), describedSchema, tasksSchema]);

/** Data as it is given. */
export type RunData = z.input<typeof dataSchema>;
