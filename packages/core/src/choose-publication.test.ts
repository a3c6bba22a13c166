import { describe, expect, it } from 'vitest';
import { choosePublication } from './choose-publication.ts';
import { ArgumentError } from './errors.ts';

const here = { engine: {}, store: 'policy' };
const trainer = { publishes: ['shared', 'adapter', 'checkpoint'] as const, shares: here };
const sampler = { accepts: ['checkpoint', 'shared', 'adapter'] as const, shares: here };

describe('choosePublication', () => {
  it('shares a store if trainer and sampler have one, whatever else they could do', () => {
    expect(choosePublication(trainer, sampler)).toEqual({ as: 'shared' });
    expect(choosePublication(trainer, sampler, '/weights')).toEqual({ as: 'shared' });
  });

  it('takes a store for the same unless both say which they have', () => {
    const { publishes } = trainer;
    expect(choosePublication({ publishes }, sampler)).toEqual({ as: 'shared' });
    expect(choosePublication(trainer, { accepts: ['shared'] })).toEqual({ as: 'shared' });
  });

  it("writes files in the trainer's first form that the sampler accepts, if their stores differ", () => {
    const elsewhere = { ...sampler, shares: { engine: here.engine, store: 'other' } };
    expect(choosePublication(trainer, elsewhere, '/weights')).toEqual({
      as: 'adapter',
      directory: '/weights',
    });
    const whole = { ...elsewhere, accepts: ['checkpoint'] as const };
    expect(choosePublication(trainer, whole, '/weights')).toEqual({
      as: 'checkpoint',
      directory: '/weights',
    });
  });

  it('prefers files to a store if the trainer names them first and there is a directory', () => {
    const files = { ...trainer, publishes: ['checkpoint', 'shared'] as const };
    expect(choosePublication(files, sampler, '/weights')).toMatchObject({ as: 'checkpoint' });
    expect(choosePublication(files, sampler)).toEqual({ as: 'shared' });
  });

  it('publishes checkpoints by default', () => {
    expect(choosePublication({}, { accepts: ['checkpoint'] }, '/weights')).toMatchObject({
      as: 'checkpoint',
    });
  });

  const refusals: readonly (readonly [string, Parameters<typeof choosePublication>, string])[] = [
    [
      'no form in common',
      [{ publishes: ['adapter'] }, { accepts: ['shared', 'checkpoint'] }, '/weights'],
      'publish: the backend publishes adapter and the sampler accepts shared, checkpoint; choose a sampler that accepts a form of this backend',
    ],
    [
      'nothing to publish or to accept',
      [{ publishes: [] }, { accepts: [] }],
      'publish: the backend publishes nothing and the sampler accepts nothing; choose a sampler that accepts a form of this backend',
    ],
    [
      'a server that was started without what it takes',
      [{ publishes: ['adapter'] }, { accepts: [], refusals: { adapter: 'start it with --enable-lora' } }],
      'publish: the backend publishes adapter and the sampler accepts nothing (for adapter start it with --enable-lora); choose a sampler that accepts a form of this backend',
    ],
    [
      'two engines',
      [
        { publishes: ['shared'], shares: here },
        { accepts: ['shared'], shares: { ...here, engine: {} } },
      ],
      'publish: the backend and the sampler live in different engines, so the sampler would never see new weights; create both in one engine with one store',
    ],
    [
      'two stores, or a directory that is missing',
      [trainer, { ...sampler, shares: { ...here, store: 'other' } }],
      'publish: the backend trains store "policy" and the sampler reads store "other"; create both in one engine with one store, or give `publications`, a directory that both can reach',
    ],
    [
      'a directory that is missing',
      [{}, { accepts: ['checkpoint'] }],
      'publish: give `publications`, a directory that both can reach',
    ],
    [
      'two vocabularies',
      [
        { ...trainer, vocabularySize: 512 },
        { ...sampler, vocabularySize: 513 },
      ],
      "publish: the backend's model knows 512 tokens and the sampler's 513; create both from the same model",
    ],
  ];
  it.each(refusals)('refuses %s, and says what to do', (_, given, message) => {
    expect(() => choosePublication(...given)).toThrow(new ArgumentError(message));
  });

  it('refuses a form that is not in a list', () => {
    const one = 'checkpoint' as unknown as readonly 'checkpoint'[];
    expect(() => choosePublication({ publishes: one }, sampler)).toThrow(/to be a list .*, got "checkpoint"/);
    expect(() => choosePublication(trainer, { accepts: one })).toThrow(ArgumentError);
  });

  it('compares vocabularies only if both are known', () => {
    expect(choosePublication({ ...trainer, vocabularySize: 512 }, sampler)).toEqual({ as: 'shared' });
    expect(choosePublication(trainer, { ...sampler, vocabularySize: 512 })).toEqual({ as: 'shared' });
  });
});
