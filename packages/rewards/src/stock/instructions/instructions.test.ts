import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkInstructions,
  detectableLanguages,
  followsInstruction,
  type Instruction,
  instructionFollowing,
  instructionIds,
  loadLanguageDetector,
} from '../../instructions.ts';
import { answering } from '../../trajectories.fixture.ts';
import { countSentences } from './sentences.ts';

const language = await loadLanguageDetector();

/** For each kind: arguments, responses that follow, responses that do not. */
const cases: Readonly<Record<string, readonly [Instruction['args'], readonly string[], readonly string[]]>> =
  {
    'change_case:capital_word_frequency': [
      { capital_relation: 'at least', capital_frequency: 2 },
      ['GO NOW', "DON'T go", 'I and I'],
      ['Go NOW', ''],
    ],
    'change_case:english_capital': [{}, ['THIS IS THE WAY WE WALK TO SCHOOL.'], ['THIS is', '123']],
    'change_case:english_lowercase': [{}, ['this is the way we walk to school.'], ['This is', '123']],
    'combination:repeat_prompt': [{ prompt_to_repeat: 'Say it. ' }, ['say it. It.'], ['I say it.']],
    'combination:two_responses': [
      {},
      ['a\n******\nb', '******a******b'],
      ['a', 'a******a', 'a******b******c', 'a************b'],
    ],
    'detectable_content:number_placeholders': [
      { num_placeholders: 2 },
      ['[a] to [b]'],
      ['[a', '[a\n] [b]', '[a [b]', '[] []', '[ ] [\u200b] [a]'],
    ],
    'detectable_content:postscript': [
      { postscript_marker: 'P.P.S' },
      ['x\nP.P.S hi', 'p. p. s: hi'],
      ['P.S. hi', 'x\nP.P.S.', 'x\nP.P.S \u2060'],
    ],
    'detectable_format:constrained_response': [
      {},
      ['My answer is no.', 'Is it? I do not know. My answer is maybe. I say: My answer is maybe.'],
      ['my answer is no.', 'no', 'My answer is yes. My answer is no.', 'I never say "My answer is no."'],
    ],
    'detectable_format:json_format': [{}, ['{"a":1}', '```json\n[1]\n```'], ['x: {"a":1}', '{']],
    'detectable_format:multiple_sections': [
      { section_spliter: 'Section', num_sections: 2 },
      ['Section 1 a Section2 b'],
      ['Section A'],
    ],
    'detectable_format:number_bullet_lists': [
      { num_bullets: 2 },
      ['* a\n - b', 'x\n\n* a\n* b'],
      ['* a', '** a\n* b', '* a\n* b\n* c'],
    ],
    'detectable_format:number_highlighted_sections': [
      { num_highlights: 2 },
      ['*a* **b**'],
      ['*a* ** **', '*a*'],
    ],
    'detectable_format:title': [{}, ['<<ode>>\nx'], ['<<>>', '<< >>', '<<a\nb>>', '<ode>']],
    'keywords:existence': [{ keywords: ['sun', 'Moon'] }, ['Sunny moon'], ['sun']],
    'keywords:forbidden_words': [{ forbidden_words: ['rain', 'c++'] }, ['rainy'], ['It will RAIN.']],
    'keywords:frequency': [
      { relation: 'less than', keyword: 'a.b', frequency: 2 },
      ['a.b', 'axb axb'],
      ['A.B a.b'],
    ],
    'keywords:letter_frequency': [
      { let_relation: 'at least', letter: '!', let_frequency: 2 },
      ['a!b!'],
      ['a!'],
    ],
    'language:response_language': [
      { language: 'de' },
      ['Das ist ein schöner Tag, und wir gehen in die Schule.'],
      ['This is a lovely day and we go to school.'],
    ],
    'length_constraints:nth_paragraph_first_word': [
      { first_word: 'Two', num_paragraphs: 2, nth_paragraph: 2 },
      ['one\n\n"two, x'],
      ['one\n\nthree', 'two', 'one\n\ntwo\n\nthree'],
    ],
    'length_constraints:number_paragraphs': [
      { num_paragraphs: 2 },
      ['a\n***\nb', '***a***b***'],
      ['a', 'a*** ***b', 'a***b***c'],
    ],
    'length_constraints:number_sentences': [
      { relation: 'at least', num_sentences: 2 },
      ['One. Two.', 'Is it? Yes.'],
      ['Mr. Smith came.', 'It is 3.5 m.'],
    ],
    'length_constraints:number_words': [
      { relation: 'less than', num_words: 3 },
      ['one, two!'],
      ['one-two three'],
    ],
    'punctuation:no_comma': [
      {},
      ['a b', '\u4f60\u597d\u3002'],
      ['a, b', 'a\uff0c b', 'a\u060c b', '\u200b\u2060', 'a\u02cf b', 'a&#44; b'],
    ],
    'startend:end_checker': [{ end_phrase: 'Bye.' }, ['So bye.', '"Bye."'], ['Bye. x']],
    'startend:quotation': [{}, ['"a"', ' "a b"\n'], ['"a', '"', '""', '" "']],
  };

describe('followsInstruction', () => {
  it('has a case for every kind', () => {
    expect(Object.keys(cases).sort()).toEqual([...instructionIds].sort());
    expect(instructionIds).toHaveLength(25);
  });

  it.each(Object.entries(cases))('checks %s', (id, [args, follow, fail]) => {
    for (const response of follow)
      expect([response, followsInstruction(response, { id, args }, { language })]).toEqual([response, true]);
    for (const response of fail)
      expect([response, followsInstruction(response, { id, args }, { language })]).toEqual([response, false]);
    expect(followsInstruction(' \n', { id, args }, { language })).toBe(false);
  });

  it('reads loosely: without asterisks, first line, last line', () => {
    const quoted = { id: 'en:startend:quotation' };
    expect(followsInstruction('Sure:\n"a"', quoted)).toBe(false);
    expect(followsInstruction('Sure:\n"a"', quoted, { reading: 'loose' })).toBe(true);
    expect(followsInstruction('*"a"*', quoted, { reading: 'loose' })).toBe(true);
    expect(followsInstruction('Sure:\n"a" x', quoted, { reading: 'loose' })).toBe(false);
  });

  it('names what is wrong with an instruction', () => {
    expect(() => followsInstruction('x', { id: 'constructor' })).toThrow(
      'no instruction is named "constructor"',
    );
    expect(() => followsInstruction('x', { id: 'keywords:existence', args: {} })).toThrow(
      'bad arguments of keywords:existence: keywords: ',
    );
    const asPublished = { id: 'keywords:existence', kwargs: { keywords: ['moon'] } };
    expect(() => followsInstruction('x', asPublished)).toThrow('read from args, not from kwargs');
  });

  it('takes linear time on hostile text', () => {
    const begun = performance.now();
    for (const unit of [
      '[',
      '<<',
      '*',
      '* ',
      '\n',
      '. ',
      'a.',
      '"',
      '- ',
      'A',
      "A'",
      'p. ',
      'Section ',
      '***',
      '>>',
      '\ud800',
    ]) {
      const response = unit.repeat(30_000 / unit.length);
      for (const [id, [args]] of Object.entries(cases))
        followsInstruction(response, { id, args }, { language });
    }
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  it('answers for any text', () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '. ',
      '\n',
      '*',
      '[',
      ']',
      '<<',
      '>>',
      '"',
      ',',
      '***',
      '\u{1f600}',
      '\udc00',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const response = pieces.join('');
        for (const [id, [args]] of Object.entries(cases)) {
          expect(typeof followsInstruction(response, { id, args }, { language })).toBe('boolean');
        }
      }),
      { numRuns: 20 },
    );
  });

  const directory = join(
    process.env.RLP_SHARED ?? resolve(import.meta.dirname, '../../../../../../shared'),
    'data/instruction_following',
  );
  it.skipIf(!existsSync(directory))(
    existsSync(directory)
      ? 'agrees with the reference checker on 99 % of 1,524 verdicts'
      : `skipped: no directory ${directory}`,
    () => {
      let [verdicts, agreed] = [0, 0];
      for (const model of ['qwen2.5-0.5b', 'mistral-7b', 'gpt-4o-mini']) {
        for (const line of readFileSync(join(directory, `${model}.jsonl`), 'utf8')
          .trim()
          .split('\n')) {
          const { response, instruction_id_list, kwargs, strict } = JSON.parse(line);
          instruction_id_list.forEach((id: string, k: number) => {
            verdicts += 1;
            const instruction = { id, args: kwargs[k] };
            agreed += Number(
              followsInstruction(response, instruction, { language, loops: 'accept' }) === strict[k],
            );
          });
        }
      }
      expect(verdicts).toBe(1524);
      expect(agreed / verdicts).toBeGreaterThan(0.99);
    },
  );
});

it.each([
  ['number_words', { relation: 'at least', num_words: 20 }, 'so it goes '.repeat(10), 'a'],
  [
    'number_words',
    { relation: 'less than', num_words: 8 },
    'RiversCarryWater toTheSeaAndTurnMillsOnTheWay.',
    'Rivers carry water.',
  ],
  ['number_sentences', { relation: 'at least', num_sentences: 5 }, 'Rivers flow. . . . . .', 'a. b. c.'],
] as const)('takes nothing empty or said again and again for length: %s', (name, args, one, other) => {
  const id = `length_constraints:${name}`;
  const verdicts = [one, other].map((text) => followsInstruction(text, { id, args }));
  expect(verdicts).toEqual([false, 'num_words' in args && args.num_words === 8]);
  const isLong = followsInstruction(one, { id, args }, { loops: 'accept' });
  expect(isLong).toBe('num_words' in args && args.num_words === 20);
});

describe('countSentences', () => {
  it.each([
    ['', 0],
    ['One', 1],
    ['One. Two! Three? "Four." Five', 5],
    ['Dr. A. Smith met Mrs. Jones, e.g. at 5 p.m. on Monday. Then he left.', 2],
    ['Wait... what? Well... No.', 3],
    ['In the U.S. The sun shines.', 2],
    ['1. Do this\n2. Do that', 3],
  ])('counts %j as %d', (text, count) => {
    expect(countSentences(text)).toBe(count);
  });
});

describe('instructionFollowing', () => {
  interface Instructed {
    readonly instructions: readonly Instruction[];
  }
  const judge = (options: { grading?: 'all' | 'share' }, instructions: readonly Instruction[]) => {
    const reward = instructionFollowing({
      instructions: (metadata: Instructed) => metadata.instructions,
      ...options,
    });
    const trajectory = answering('no comma but "quotes"', { instructions });
    return reward(trajectory, { signal: new AbortController().signal });
  };
  const both = [{ id: 'punctuation:no_comma' }, { id: 'startend:quotation' }];

  it('asks for all, or gives the share', () => {
    expect([judge({}, both), judge({ grading: 'share' }, both), judge({}, both.slice(0, 1))]).toEqual([
      0, 0.5, 1,
    ]);
  });

  it('takes a task without instructions for an error', () => {
    expect(() => judge({}, [])).toThrow('task "a" must have at least one instruction');
  });
});

it('detects languages, and admits when it cannot', () => {
  expect([language('Wo ist der Bahnhof, bitte?'), language('어디에 있습니까'), language('12 34')]).toEqual([
    'de',
    'ko',
    undefined,
  ]);
});

it('asks for a detector only if an instruction needs one', async () => {
  const german = { id: 'language:response_language', args: { language: 'de' } };
  expect(() => followsInstruction('Wo?', german)).toThrow(
    'expected a language detector for language:response_language; pass { language: await loadLanguageDetector() }',
  );
  const reward = instructionFollowing<object>({ instructions: () => [german] });
  const trajectory = answering('Wo ist der Bahnhof, bitte?', {});
  expect(await reward(trajectory, { signal: new AbortController().signal })).toBe(1);
});

describe('what cannot be checked', () => {
  const asks = (language: string) => [{ id: 'language:response_language', args: { language } }];

  it('is refused when tasks are loaded', () => {
    expect(() => checkInstructions(asks('de'))).not.toThrow();
    for (const code of ['sw', 'ne', 'xx']) {
      expect(() => checkInstructions(asks(code))).toThrow(`the language detector does not know "${code}"`);
    }
    expect(() => checkInstructions([{ id: 'keywords:none' }])).toThrow('no instruction is named');
    expect(() => checkInstructions([null as never])).toThrow('checkInstructions');
    expect(() => checkInstructions([{} as never])).toThrow('id must be text, got undefined');
    expect(() => checkInstructions([{ id: 'keywords:existence', args: {} }])).toThrow('keywords: ');
    expect(() => checkInstructions(asks('sw'), { languages: ['sw'] })).not.toThrow();
  });

  it('is not scored 0', async () => {
    const reward = instructionFollowing<{ language: string }>({
      instructions: ({ language }) => asks(language),
    });
    const trajectory = answering('Habari ya asubuhi, rafiki yangu.', { language: 'sw' });
    const { signal } = new AbortController();
    await expect(async () => reward(trajectory, { signal })).rejects.toThrow('"sw"');
    const known = instructionFollowing<{ language: string }>({
      instructions: ({ language }) => asks(language),
      language: () => 'sw',
    });
    expect(await known(trajectory, { signal })).toBe(1);
  });

  it('is detected in every language of the list', async () => {
    const { eld } = await import('eld/small');
    const { Languages } = eld.info() as unknown as { readonly Languages: Readonly<Record<string, string>> };
    expect([...detectableLanguages]).toEqual(Object.values(Languages));
  });
});

it('finds no keyword in a comment', () => {
  const instruction = { id: 'keywords:existence', args: { keywords: ['sea'] } };
  const [hidden, said] = ['<!-- sea --> hello', 'the sea <!-- note -->'];
  expect([hidden, said].map((text) => followsInstruction(text, instruction))).toEqual([false, true]);
});

it('finds a forbidden word behind invisible characters and letters of another script', () => {
  const instruction = { id: 'keywords:forbidden_words', args: { forbidden_words: ['secret'] } };
  for (const response of [
    'a se\u200bcret',
    'a s\u00ade\u2060cret',
    'a ѕecret',
    'a \uff53\uff45\uff43\uff52\uff45\uff54',
    'a s-e-c-r-e-t',
    'a s e c r e t plan',
  ]) {
    expect(followsInstruction(response, instruction)).toBe(false);
  }
  expect(followsInstruction('a secretary', instruction)).toBe(true);
});
