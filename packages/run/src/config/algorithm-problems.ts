import { algorithmOptions, algorithmSchemas } from '@rlp/algorithms';
import { isRecord, OptionsError, parseOptions } from '@rlp/core';
import { algorithmSchema } from './algorithm-schema.ts';

/** What an algorithm would refuse of its own and its preset's options once its stage begins, though the section alone is valid. */
export function algorithmProblems({ algorithm }: Readonly<Record<string, unknown>>): string[] {
  if (!isRecord(algorithm) || !algorithmSchema.safeParse(algorithm).success) return [];
  const { name = 'grpo', iterations: _, backend: __, ...given } = algorithm;
  const known = name as keyof typeof algorithmSchemas;
  const together = given.preset === undefined ? '' : ` (together with preset: '${given.preset}')`;
  return [
    ...combined(known, given).map((issue) => `algorithm.${issue}${together}`),
    ...criticProblems(known, isRecord(given.critic) ? given.critic : {}),
  ];
}

/** Problems of the options over those of the preset. */
function combined(name: keyof typeof algorithmSchemas, given: object): readonly string[] {
  try {
    parseOptions('algorithm', algorithmSchemas[name], algorithmOptions(name, given));
    return [];
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    return error.issues;
  }
}

function criticProblems(
  name: keyof typeof algorithmSchemas,
  { warmupIterations = 0, ...critic }: Readonly<Record<string, unknown>>,
): string[] {
  if (name !== 'ppo') {
    return Object.keys(critic).length === 0 && warmupIterations === 0
      ? []
      : [`algorithm.critic: has no effect on ${name}, which has no critic; leave it out, or take ppo`];
  }
  return warmupIterations === 0
    ? []
    : [
        'algorithm.critic.warmupIterations: needs a critic of its own, and that of a run shares the weights of the policy; leave it out',
      ];
}
