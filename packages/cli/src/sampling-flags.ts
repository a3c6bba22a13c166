import { countOf, given, numberOf } from './numbers.ts';

/** Flags of commands that sample. */
export const samplingArgs = {
  'max-tokens': { type: 'string', description: 'Maximum new tokens of a response', valueHint: 'N' },
  temperature: {
    type: 'string',
    description: 'Divides the logits. 0 takes the likeliest token',
    valueHint: 'T',
  },
  'top-p': {
    type: 'string',
    description: 'Sample among the likeliest tokens of this probability',
    valueHint: 'P',
  },
  'top-k': { type: 'string', description: 'Sample among this many likeliest tokens', valueHint: 'N' },
  'min-p': {
    type: 'string',
    description: 'Drop tokens less likely than this share of the likeliest',
    valueHint: 'P',
  },
  stop: { type: 'string', description: 'Text that ends a response', valueHint: 'TEXT' },
  seed: { type: 'string', description: 'Names the random draws. Equal seeds repeat them', valueHint: 'TEXT' },
  threads: { type: 'string', description: 'Threads of the engine. Default: one per core', valueHint: 'N' },
} as const;

type Flags = { readonly [Name in keyof typeof samplingArgs]?: string | undefined };

/** Sampling options as the flags say. @throws ArgumentError naming the flag that is out of range. */
export function samplingOf(args: Flags) {
  const share = { least: 0, most: 1 };
  return given({
    maxTokens: countOf('max-tokens', args['max-tokens']),
    temperature: numberOf('temperature', args.temperature, { least: 0 }),
    topP: numberOf('top-p', args['top-p'], share),
    topK: numberOf('top-k', args['top-k'], { least: 0, kind: 'integer' }),
    minP: numberOf('min-p', args['min-p'], share),
    stopStrings: args.stop === undefined ? undefined : [args.stop],
  });
}
