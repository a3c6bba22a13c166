import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OptionsError } from '../errors.ts';
import { withForeignNames } from './foreign-names.ts';
import { parseOptions } from './parse-options.ts';

const lossSchema = z
  .strictObject({
    surrogate: z.enum(['clip', 'sapo', 'importance-sampling']).default('clip'),
    clipLow: z.number().default(0.2),
    clipHigh: z.number().default(0.28),
    klCoefficient: z.number().default(0),
  })
  .refine(() => true);

const loss = withForeignNames(lossSchema, {
  surrogate: 'loss_mode',
  clipLow: 'epsilon',
  clipHigh: 'epsilon clip_ratio_high',
  klCoefficient: 'beta',
});

const plain = z.strictObject({
  tasksPerIteration: z.int().default(8),
  epochs: z.int().default(1),
  loss: loss.prefault({}),
  rollout: z
    .strictObject({
      groupSize: z.int().default(8),
      sampling: z.strictObject({ maxTokens: z.int(), topP: z.number() }).partial(),
    })
    .partial()
    .optional(),
  aggregation: z.union([
    z.enum(['token-mean', 'sequence-mean']),
    z.strictObject({ mode: z.enum(['token-sum', 'token-sum-norm']), constant: z.number().optional() }),
  ]),
  update: z
    .discriminatedUnion('method', [
      z.strictObject({ method: z.literal('none') }),
      z.strictObject({ method: z.literal('ema'), decay: z.number() }),
    ])
    .optional(),
  rewards: z.array(z.strictObject({ weight: z.number(), name: z.string().optional() })).optional(),
});

const schema = withForeignNames(plain, {
  tasksPerIteration: 'groups_per_batch generation_batch_size',
  epochs: 'num_iterations',
  'rollout.groupSize': 'num_generations generation_batch_size',
  'rollout.sampling.maxTokens': 'max_completion_length',
  'rollout.sampling.temperature': 'temperature',
  'loss.surrogate': 'loss_type',
  aggregation: 'loss_type',
  'BackendOptions.learningRate': 'learning_rate lr',
  'BackendOptions.lora': 'peft_config',
  'BackendOptions.lora.rank': 'r',
  'give every reward a weight': 'reward_weights',
});

function problems(input: object): readonly string[] {
  try {
    parseOptions('train', schema, { aggregation: 'token-mean', ...input }, 'TrainOptions');
  } catch (error) {
    if (error instanceof OptionsError) return error.issues;
    throw error;
  }
  return [];
}

describe('a misspelt option', () => {
  it('that chooses a form is taken for the one that does', () => {
    expect(problems({ aggregation: { type: 'token-sum' } }).join()).toContain(
      '"type"; did you mean aggregation.mode?',
    );
  });

  it('that begins like its neighbours is taken for them, and not for the same name elsewhere', () => {
    const clip = z.number().optional();
    const both = z.strictObject({ loss: lossSchema, critic: z.strictObject({ clip }) }).partial();
    expect(() => parseOptions('train', both, { loss: { clip: 0.2 } })).toThrow(
      'did you mean loss.clipLow or loss.clipHigh?',
    );
  });

  it('that stands in many places is taken for the least deep', () => {
    const stage = z.strictObject({ backend: z.strictObject({ rate: z.number() }) }).partial();
    const many = z.strictObject({ backend: stage.shape.backend, a: stage, b: stage, c: stage }).partial();
    expect(() => parseOptions('run', many, { rate: 1 })).toThrow('did you mean backend.rate?');
  });

  it.each([
    [{ epoch: 1 }, 'Unrecognized option "epoch"; did you mean epochs?'],
    [
      { tasks_per_iteration: 4 },
      'Unrecognized option "tasks_per_iteration"; did you mean tasksPerIteration?',
    ],
    [{ clip_high: 0.3 }, 'Unrecognized option "clip_high"; did you mean loss.clipHigh?'],
    [{ klCoef: 0 }, 'Unrecognized option "klCoef"; did you mean loss.klCoefficient?'],
    [{ loss: { clipHihg: 0 } }, 'loss: Unrecognized option "clipHihg"; did you mean loss.clipHigh?'],
    [{ loss: { groupSize: 4 } }, 'loss: Unrecognized option "groupSize"; did you mean rollout.groupSize?'],
    [
      { rewards: [{ weight: 1, nmae: 'a' }] },
      'rewards.0: Unrecognized option "nmae"; did you mean rewards.0.name?',
    ],
    [
      { loss: { zzzzzz: 0 } },
      'loss: Unrecognized option "zzzzzz"; expected one of: surrogate, clipLow, clipHigh, klCoefficient',
    ],
  ])('%j', (input, expected) => {
    expect(problems(input)).toEqual([expected]);
  });

  it.each([
    // A list of choices needs choices, and not too many of them.
    [{ rollout: { wholly_else: 1 } }, 'expected one of: groupSize, sampling'],
    // Half of a name's letters may not be wrong.
    [{ rollout: { grxxxize: 1 } }, 'expected one of'],
    // A name of three letters is too short to guess by, an abbreviation of four is not.
    [{ epo: 1 }, 'Unrecognized option "epo"; expected one of'],
    [{ rollout: { sampling: { topp: 1 } } }, 'did you mean rollout.sampling.topP?'],
    [{ rollout: { grou: 2 } }, 'did you mean rollout.groupSize?'],
    // One swap of neighbours is one mistake, and so near enough for a name of four.
    [{ rewards: [{ weight: 1, naem: 'a' }] }, 'did you mean rewards.0.name?'],
    [{ loss: { epochs: 1 } }, 'loss: Unrecognized option "epochs"; it belongs outside loss'],
  ])('%j is near enough or not', (input, expected) => {
    expect(problems(input).join()).toContain(expected);
  });

  it('is found in the branch of a union that was meant', () => {
    expect(problems({ aggregation: { mode: 'token-sum', const: 1 } })).toEqual([
      'aggregation: Unrecognized option "const"; did you mean aggregation.constant?',
    ]);
    expect(problems({ update: { method: 'none', decay: 1 } })).toEqual([
      expect.stringContaining('update: Unrecognized option "decay"'),
    ]);
  });
});

describe('a name of another library', () => {
  it.each([
    ['num_generations', 'in rlp this is rollout.groupSize'],
    ['numGenerations', 'in rlp this is rollout.groupSize'],
    ['max_completion_length', 'in rlp this is rollout.sampling.maxTokens'],
    ['beta', 'in rlp this is loss.klCoefficient'],
    ['epsilon', 'in rlp this is loss.clipLow and loss.clipHigh'],
    ['loss_type', 'in rlp this is loss.surrogate and aggregation'],
    ['generation_batch_size', 'in rlp this is tasksPerIteration and rollout.groupSize'],
    ['learning_rate', 'in rlp this is learningRate of BackendOptions'],
    ['learningRate', 'it is an option of BackendOptions'],
    ['r', 'in rlp this is lora.rank of BackendOptions'],
    ['lora', 'it is an option of BackendOptions'],
    ['reward_weights', 'give every reward a weight'],
    ['rewardWeights', 'give every reward a weight'],
  ])('%s is translated by the schema that knows it', (name, expected) => {
    expect(problems({ [name]: 1 })).toEqual([`Unrecognized option "${name}"; ${expected}`]);
  });

  it('of an option that is elsewhere is translated all the same', () => {
    expect(problems({ temperature: 1 })).toEqual([
      'Unrecognized option "temperature"; in rlp this is rollout.sampling.temperature, which is no option here',
    ]);
  });

  it.each(['rank', 'hasOwnProperty', ''])('is not %j', (name) => {
    expect(problems({ [name]: 1 })).toEqual([
      expect.stringContaining(`"${name}"; expected one of: tasksPer`),
    ]);
  });

  it('is known to what extends a schema, refines it or picks from it', () => {
    const derived = [plain, plain.refine(() => true)].map((each) =>
      withForeignNames(each, { epochs: 'passes' }),
    );
    const picked = derived[0]!.omit({ epochs: true });
    const refused = (each: z.ZodType) => () =>
      parseOptions('train', each, { passes: 1, aggregation: 'token-mean' });
    expect(refused(derived[0]!.extend({ more: z.number() }).partial())).toThrow('in rlp this is epochs');
    expect(refused(derived[1]!.safeExtend({ more: z.number().optional() }))).toThrow('in rlp this is epochs');
    expect(refused(picked)).toThrow('in rlp this is epochs, which is no option here');
  });

  it('stands for the nearest option of several, by what was given', () => {
    const stage = z.strictObject({ loss: loss.optional(), rate: z.number().optional() });
    const named = withForeignNames(stage, { rate: 'lr' }).optional();
    const run = withForeignNames(
      z.strictObject({ first: named, second: named, rate: z.number().optional() }),
      {
        rate: 'lr',
      },
    );
    const hint = (input: object) => () => parseOptions('run', run, input);
    expect(hint({ lr: 1, second: {} })).toThrow(/in rlp this is rate$/);
    expect(hint({ second: { lr: 1 } })).toThrow(
      'second: Unrecognized option "lr"; in rlp this is second.rate',
    );
    expect(hint({ second: { loss: { lr: 1 } } })).toThrow('in rlp this is second.rate');
    expect(hint({ beta: 1 })).toThrow('in rlp this is first.loss.klCoefficient or second.loss.klCoefficient');
    expect(hint({ beta: 1, second: {} })).toThrow(/in rlp this is second\.loss\.klCoefficient$/);
  });
});

describe('a misspelt value', () => {
  it.each([
    [{ loss: { surrogate: 'sapoo' } }, /^loss\.surrogate: .*did you mean 'sapo'\?$/],
    [{ loss: { surrogate: 'importance_sampling' } }, /did you mean 'importance-sampling'\?$/],
    [{ aggregation: 'tokenMean' }, /^aggregation: .*did you mean 'token-mean'\?$/],
    [{ aggregation: { mode: 'tokensum' } }, /^aggregation\.mode: .*did you mean 'token-sum'\?$/],
    [{ update: { method: 'emma' } }, /^update\.method: .*did you mean 'ema'\?$/],
  ])('%j', (input, expected) => {
    expect(problems(input)).toEqual([expect.stringMatching(expected)]);
  });
});

describe('the error', () => {
  it('names the interface and every problem', () => {
    const wrong = { epoch: 1, beta: 0, loss: { surrogate: 'klip', clipLow: 'a' } };
    expect(() => parseOptions('train', schema, { aggregation: 3, ...wrong }, 'TrainOptions')).toThrow(
      /^train: invalid options \(TrainOptions\)\n/,
    );
    expect(problems(wrong)).toHaveLength(4);
  });

  it('says what a union of names and objects accepts', () => {
    expect(problems({ aggregation: 3 })).toEqual([
      'aggregation: expected one of "token-mean", "sequence-mean", or an object, got 3',
    ]);
  });

  it('joins what the kinds of a union say, if they do not all name what they expect', () => {
    const either = z.strictObject({ size: z.union([z.literal('all'), z.number('must be a count')]) });
    expect(() => parseOptions('create', either, { size: [] })).toThrow(
      /size: .*"all".*; or must be a count$/,
    );
  });

  it('shows the branch of a union with the fewest problems, wherever it stands', () => {
    const wide = z.strictObject({ a: z.number(), b: z.number(), c: z.number() });
    const either = z.strictObject({ shape: z.union([wide, z.strictObject({ a: z.number() })]) });
    const refused = () => parseOptions('create', either, { shape: { a: 'x' } });
    expect(refused).toThrow(/\n.*shape\.a: [^\n]*$/);
  });

  it("shows a union's own message before a check of one of its kinds", () => {
    const isHead = z.custom((value) => typeof value === 'object', 'expected a head');
    const head = z.union([z.literal('none'), isHead], "expected 'none' or a head");
    const refused = () => parseOptions('create', z.strictObject({ head }), { head: 'mlp' });
    expect(refused).toThrow(/head: expected 'none' or a head$/);
  });

  it('shows the check of a kind if the union has no message of its own', () => {
    const ordered = z.strictObject({ low: z.number() }).refine(({ low }) => low > 0, 'low must be positive');
    const bounds = z.union([z.literal('off'), ordered]);
    const refused = () => parseOptions('create', z.strictObject({ bounds }), { bounds: { low: 0 } });
    expect(refused).toThrow(/bounds: low must be positive$/);
  });
});

describe('a hint', () => {
  const places = (count: number) =>
    z.strictObject(
      Object.fromEntries(
        Array.from({ length: count }, (_, k) => [
          `part${k}`,
          z.strictObject({ weight: z.number() }).optional(),
        ]),
      ),
    );
  const hint = (shape: z.ZodType, input: object) => {
    try {
      parseOptions('create', shape, input);
    } catch (error) {
      return (error as OptionsError).issues[0];
    }
    return undefined;
  };

  it('offers up to three places, and none of more', () => {
    expect(hint(places(3), { weight: 1 })).toContain(
      'did you mean part0.weight or part1.weight or part2.weight?',
    );
    expect(hint(places(4), { weight: 1 })).not.toContain('did you mean');
  });

  it('lists up to fifteen keys, and none of more', () => {
    const keys = (count: number) =>
      z.strictObject(
        Object.fromEntries(Array.from({ length: count }, (_, k) => [`k${k}`, z.number().optional()])),
      );
    expect(hint(keys(15), { zzzzzzzz: 1 })).toContain('expected one of: k0, k1,');
    expect(hint(keys(16), { zzzzzzzz: 1 })).toBe('Unrecognized option "zzzzzzzz"');
  });

  it('lists no placeholder beside the keys', () => {
    const sizes = z.union([
      z.strictObject({ size: z.number().optional() }),
      z.record(z.string(), z.number()),
    ]);
    expect(hint(z.strictObject({ sizes }), { sizes: { width: 'x' } })).toMatch(/expected one of: size$/);
  });

  it('prefers a neighbour that lacks an s, or has one too many, to the same name elsewhere', () => {
    const resumed = z.strictObject({
      iterations: z.number(),
      seed: z.number().optional(),
      resume: z.strictObject({ iteration: z.number(), seeds: z.number() }).optional(),
    });
    expect(hint(resumed, { iteration: 1, iterations: 1 })).toContain('did you mean iterations?');
    expect(hint(resumed, { seeds: 1, iterations: 1 })).toContain('did you mean seed?');
  });

  it('prefers the same name within a neighbour to a neighbour that is spelt alike', () => {
    const sampling = z.strictObject({ maxTokens: z.number() }).optional();
    const rollout = z.strictObject({ maxTurns: z.number().optional(), sampling }).optional();
    const nested = z.strictObject({ rollout, evaluation: sampling });
    expect(hint(nested, { rollout: { maxTokens: 24 } })).toContain(
      'did you mean rollout.sampling.maxTokens?',
    );
  });

  it('does not send an option outside if it is already at the top', () => {
    const nested = z.strictObject({
      epochs: z.number().optional(),
      loss: z.strictObject({ clip: z.number().optional() }).optional(),
    });
    expect(hint(nested, { loss: { epochs: 1 } })).toContain('it belongs outside loss');
    expect(hint(nested, { clip: 1 })).toContain('did you mean loss.clip?');
    expect(hint(nested, { 'loss.clip': 1 })).not.toContain('outside');
  });

  it('says what is near before what another library means that is not here', () => {
    const known = { 'Other.klCoefficient': 'beta' };
    const near = withForeignNames(z.strictObject({ betas: z.number().optional() }), known);
    const far = withForeignNames(z.strictObject({ x: z.number().optional() }), known);
    expect(hint(near, { beta: 1 })).toContain('did you mean betas?');
    expect(hint(far, { beta: 1 })).toContain('in rlp this is klCoefficient of Other');
  });

  it('writes a name as the object that it stands for, and never sends a key to where it is', () => {
    const kinds = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('adamw') }),
      z.strictObject({ kind: z.literal('lion'), beta: z.number().optional() }),
    ]);
    const backend = z.strictObject({
      optimizer: kinds.optional(),
      lora: z.strictObject({ rank: z.int() }).optional(),
    });
    expect(hint(backend, { optimizer: 'Lion' })).toContain("write { kind: 'lion' }; it may be adamw, lion");
    expect(hint(backend, { lora: { rank: 1, dora: 1 } })).toContain('expected one of: rank');
  });
});
