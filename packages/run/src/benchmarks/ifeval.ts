import { type Instruction, instructionFollowing } from '@rlp/rewards/instructions';
import * as z from 'zod';
import type { AnswerBenchmark, BenchmarkOptions, BenchmarkRow } from './benchmark.ts';
import { fieldsOf, idOf } from './fields.ts';

interface Instructed {
  readonly instructions: readonly Instruction[];
}

/** Instructions that a program can check: rows of `{ prompt, instruction_id_list, kwargs }`. */
export function ifeval(rows: readonly BenchmarkRow[], options: BenchmarkOptions = {}): AnswerBenchmark {
  const { style = 'completion', source = 'ifeval' } = options;
  const shape = {
    prompt: z.string(),
    instruction_id_list: z.array(z.string()).min(1),
    kwargs: z.array(z.record(z.string(), z.unknown())),
  };
  const tasks = fieldsOf(rows, shape, source).map(({ prompt, instruction_id_list, kwargs }, index) => ({
    id: idOf(rows[index]!, index),
    prompt: style === 'completion' ? prompt : [{ role: 'user' as const, content: prompt }],
    metadata: {
      instructions: instruction_id_list.map((id, place) => ({
        id,
        args: argumentsOf(kwargs[place], prompt, id),
      })),
    },
  }));
  const instructions = (metadata: unknown) => (metadata as Instructed).instructions;
  const strict = { reading: 'strict', loops: 'accept', instructions } as const;
  const loose = { ...strict, reading: 'loose' } as const;
  return {
    kind: 'answer',
    name: 'ifeval',
    metric: 'prompt_level_strict_acc',
    tasks,
    metrics: {
      prompt_level_strict_acc: instructionFollowing(strict),
      inst_level_strict_acc: instructionFollowing({ ...strict, grading: 'share' }),
      prompt_level_loose_acc: instructionFollowing(loose),
      inst_level_loose_acc: instructionFollowing({ ...loose, grading: 'share' }),
    },
    parts: {
      metrics: ['inst_level_strict_acc', 'inst_level_loose_acc'],
      of: ({ metadata }) => instructions(metadata).length,
    },
    sampling: { maxTokens: 1280 },
  };
}

/** Arguments without those that are null. The prompt is one where the instruction repeats it. */
function argumentsOf(given: BenchmarkRow = {}, prompt: string, id: string): BenchmarkRow {
  const own = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const repeats = id.endsWith('combination:repeat_prompt') && given.prompt_to_repeat === undefined;
  return { ...Object.fromEntries(own), ...(repeats && { prompt_to_repeat: prompt }) };
}
