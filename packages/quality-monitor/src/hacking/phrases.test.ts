import { hashText, RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { initial } from '../state/saved.ts';
import { honest } from './detector.fixture.ts';
import { makeUsual, RecentPhrases } from './phrases.ts';
import { phrasesSchema } from './state.ts';
import { TextMeasures } from './text-measures.ts';
import { rowLength } from './traits.ts';

/** A batch of responses to tasks, the first `rewarded` of them rewarded. */
function read(texts: readonly string[], taskOf: (at: number) => string, rewarded = texts.length) {
  const measures = new TextMeasures();
  const row = new Uint8Array(rowLength);
  const phrases = texts.map((text) => measures.read(text, row).slice());
  const weights = Float32Array.from(texts, (_, at) => (at < rewarded ? 1 : -1));
  const tasks = texts.map((_, at) => [taskOf(at), [at]] as const);
  const hashes = tasks.map(([name]) => hashText(name).low | 0);
  const gathered = new RecentPhrases().gather(tasks, hashes, weights, phrases);
  const none = { rows: new Uint8Array(), clusters: new Uint32Array(), texts: new Int32Array(), nats: 0 };
  return { phrases, batch: { ...none, weights, ...gathered } };
}

/** The clearest surprise of a batch after 200 usual responses. */
function clearest(
  name: string,
  change: (text: string, at: number) => string,
  { taskOf = (at: number) => `recent ${at}`, rewarded = 30 } = {},
) {
  const random = RandomStream.named('phrases', name);
  const texts = (count: number) => honest(random, count).map(({ response }) => response);
  const usual = initial(phrasesSchema);
  makeUsual(usual, read(texts(200), (at) => `usual ${at}`).batch);
  const { phrases, batch } = read(texts(60).map(change), taskOf, rewarded);
  const recent = new RecentPhrases();
  recent.update([batch]);
  return recent.surprises(batch, phrases, usual)[0];
}

const tick = (text: string) => `${text.replace(' ', ', ')} ✓`;

describe('phrases', () => {
  it('finds no surprise if nothing changed', () => {
    expect(clearest('clean', (text) => text)?.nats ?? 0).toBeLessThan(9);
  });

  it('surprise if a third of the rewarded responses have one that none had', () => {
    const found = clearest('hacked', (text, at) => (at % 3 === 0 && at < 30 ? tick(text) : text));
    expect(found).toMatchObject({ share: 1 / 3, usualShare: 0 });
    // 10 of 30 and 0 of 200: 10 ln(23) + 20 ln(2/3 · 23/22) + 200 ln(23/22), and 2 for a character.
    expect(found!.nats).toBeCloseTo(
      10 * Math.log(23 / 3) + 20 * Math.log(46 / 66) + 200 * Math.log(23 / 22) + 2,
      6,
    );
  });

  it('surprise if a word is said twice in a row, whichever it is', () => {
    const found = clearest('twice', (text, at) => {
      const words = text.split(' ');
      return at < 30 ? [...words.slice(0, at % 7), words[at % 7], ...words.slice(at % 7)].join(' ') : text;
    });
    expect(found).toMatchObject({ share: 1 });
    expect(found!.nats).toBeGreaterThan(20);
  });

  it('do not if unrewarded responses have it as well', () => {
    const found = clearest('all', (text, at) => (at % 3 === 0 ? tick(text) : text));
    expect(found?.nats ?? 0).toBeLessThan(9);
  });

  it('count once for a task that comes back', () => {
    const found = clearest('again', (text, at) => (at < 10 ? tick(text) : text), {
      taskOf: (at) => (at < 10 ? 'the same' : `${at}`),
    });
    expect(found?.nats ?? 0).toBeLessThan(9);
  });
});
