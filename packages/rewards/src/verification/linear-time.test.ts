import { describe, expect, it } from 'vitest';
import {
  arithmeticStatements,
  createCustomVerifierPipeline,
  FormatVerifier,
  SafetyPatternVerifier,
  ToxicityVerifier,
  textpolicyRules,
} from '../verification.ts';
import { safetyKinds, safetyMatches } from './verifiers/safety-matches.ts';

/** Shapes that make careless patterns run over the same text again and again. */
const shapes: Readonly<Record<string, string>> = {
  letter: 'a',
  space: ' ',
  'line break': '\n',
  digit: '1',
  'digit, space': '1 ',
  'digit, comma': '1,',
  sum: '1+',
  parenthesis: '(',
  'equals sign': '=',
  'capital and digit': 'DE12 ABCD ',
  address: 'a@',
  'address without end': 'a.b-c+d@e.f-',
  sentence: 'a. ',
  tag: '<a ',
  'open marker': '<|im_start',
  fence: '```\n',
  token: 'eyJaaaaaaaa.',
  quote: '"[{',
  injection: 'ignore all the your of my ',
  masked: 'f*u.c k ',
  surrogates: '😀',
};
const size = 100_000;
const texts = Object.entries(shapes).map(
  ([name, unit]) => [name, unit.repeat(Math.ceil(size / unit.length))] as const,
);

/** As many as the toxicity verifier reads, by night. */
const readCharacters = process.env.RLP_SLOW_TESTS ? 1_000_000 : 50_000;
const megabytes = process.env.RLP_SLOW_TESTS ? 10 : 0.25;

const pipeline = createCustomVerifierPipeline([
  { type: 'length' },
  { type: 'length', unit: 'sentences' },
  { type: 'toxicity', phrases: ['no way'] },
  { type: 'coherence' },
  { type: 'factual', scope: 'answers' },
  { type: 'format', schema: { type: 'object' } },
  { type: 'language', languages: ['en'] },
  { type: 'repetition' },
  { type: 'safety-pattern' },
  { type: 'has-greeting' },
  { type: 'no-empty-response' },
  { type: 'contains-keywords', keywords: ['never there'] },
]);

// What is quadratic takes hours over so many characters; the limits are generous for a busy machine.
describe('hostile texts', () => {
  it.each(texts)('are searched in linear time: %s', (_, text) => {
    const begun = performance.now();
    safetyMatches(text, safetyKinds);
    arithmeticStatements(text);
    textpolicyRules.toxicity()(text);
    textpolicyRules.coherence()(text);
    textpolicyRules.factual()(text);
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it.each(texts)('are read for toxicity and safety in linear time: %s', async (_, text) => {
    const begun = performance.now();
    for (const verifier of [new ToxicityVerifier(), new SafetyPatternVerifier()])
      await verifier.verifyBatch([{ prompt: '', response: text.slice(0, readCharacters) }]);
    expect(performance.now() - begun).toBeLessThan(5000 + readCharacters / 20);
  });

  it.each(['email', 'uri', 'url', 'hostname', 'date-time', 'ipv6', 'uri-template'])(
    'are no burden as a JSON Schema format: %s',
    async (format) => {
      const verifier = new FormatVerifier({ schema: { type: 'string', format } });
      const begun = performance.now();
      for (const unit of ['a', 'a.', 'http://', '::', '{', '%']) {
        const response = JSON.stringify(`${unit.repeat(size / unit.length)}!`);
        await verifier.verifyBatch([{ prompt: '', response }]);
      }
      expect(performance.now() - begun).toBeLessThan(2500);
    },
  );

  it(`go through all verifiers, ${megabytes} MB of them`, async () => {
    const begun = performance.now();
    for (const response of ['a'.repeat(1_000_000 * megabytes), '1,'.repeat(100_000 * megabytes)]) {
      const [report] = await pipeline.verifyBatch([{ prompt: 'a', response }]);
      expect(report!.result).toBe('fail');
    }
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
