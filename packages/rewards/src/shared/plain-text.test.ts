import { seenText } from '@rlp/answers/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  looseText,
  plainText,
  spelledText,
  unhiddenText,
  unmaskedTexts,
  withoutParting,
} from './plain-text.ts';
import { isVisible } from './visible-text.ts';

const wide = (text: string) =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
const bold = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97));

describe('plainText', () => {
  it.each([
    ['invisible', Array.from('you are stupid').join('\u200b')],
    ['invisible', Array.from('you are stupid').join('\u2060\ufeff')],
    ['invisible', 'you are stu\u0000pid'],
    ['invisible', 'you are stu\u{e0061}pid'],
    ['styled', wide('you are stupid')],
    ['styled', bold('you are stupid')],
    ['styled', 'ⓨⓞⓤ ⓐⓡⓔ ⓢⓣⓤⓟⓘⓓ'],
    ['styled', 'you are s̶t̶u̶p̶i̶d̶'],
    ['invisible', `\u202e${Array.from('you are stupid').reverse().join('')}\u202c`],
    ['look-alike', 'yоu аrе ѕtupіd'],
    ['look-alike', 'ʏᴏᴜ ᴀʀᴇ sᴛᴜᴘɪᴅ'],
  ] as const)('reads what is disguised: %s', (kind, disguised) => {
    const { text, disguises } = plainText(disguised);
    expect(text).toBe('you are stupid');
    expect(Object.keys(disguises)).toEqual([kind]);
  });

  it('reads boxed letters', () => {
    expect(plainText('🅢🅣🅤🅟🅘🅓 🅰🅱 🄲').text).toBe('STUPID AB C');
  });

  it.each([
    'café naïve Łódź İstanbul Đorđe',
    'Это русский текст, а не английский.',
    'Москва, which is Moscow',
    'x² + ½ = α … “quotes” 5 µm',
    '日本語、テスト。１，０００円',
    'Δt σ Ω',
    '№ 5 ™ 20 ℃',
  ])('leaves ordinary text: %s', (text) => {
    const plain = plainText(text);
    expect(plain.disguises).toEqual(text.includes('１') ? { styled: 1 } : {});
    expect(plain.text).toBe(text.replace('１，０００', '1,000'));
  });

  it('is not changed by a second look, whatever the text', () => {
    // fast-check's own unit for this takes a second to begin.
    const unit = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const once = plainText(text).text;
        expect(plainText(once).text).toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the joiners that scripts and emoji need where only hidden characters go', () => {
    expect(unhiddenText('می\u200cخواهم 👨\u200d👩')).toBe('می\u200cخواهم 👨\u200d👩');
    expect(unhiddenText('se\u200bcret co\u00adop')).toBe('secret co\u00adop');
  });
});

describe('spelledText', () => {
  it.each([
    ['y o u   a r e   s t u p i d !', 'you are stupid!'],
    ['y  o  u', 'y  o  u'],
    ['s  t  u  p  i  d', 'stupid'],
    ['that is s.t.u.p.i.d', 'that is stupid'],
    ['that is s . t . u . p . i . d', 'that is stupid'],
    ['so s-t-u-p-i-d', 'so stupid'],
    ['s-t-*-p-i-d-a-n-d-b-a-d', 'st*pidandbad'],
    ['g-o-o-d-!-Y-o-u-g-o', 'good! Yougo'],
    ['A K I A I O S F O D N N 7 E X A M P L E', 'AKIAIOSFODNN7EXAMPLE'],
    ['x + y = z is so, e.g. 1 2 3 4 5 6 7', 'x + y = z is so, e.g. 1 2 3 4 5 6 7'],
    ['I am a b student', 'I am a b student'],
    ['you ⠋⠕⠕⠇', 'you fool'],
    ['you \u{1f1eb} \u{1f1f4} \u{1f1f4} \u{1f1f1}', 'you fool'],
  ])('puts together %s', (spelled, text) => {
    expect(spelledText(spelled).text).toBe(text);
  });
});

describe('isVisible', () => {
  it.each([
    '',
    ' \n\u3000',
    '\u200b\u2060',
    '\u2800',
    '\u3164',
    '\u0301',
    '\ufe0f\u200d',
    '\u{e0041}',
    '\u0007',
    '<!-- a --><b> </b>&nbsp;',
    '<!-- a',
    '&#160;&#x200b;',
    '$\\quad\\,$',
    '[](a)',
    '[//]: # (a)',
    '<i hidden>a</i>',
    '&emsp;&ZeroWidthSpace;',
    '```js\n```',
    '---\n**  **\n$ $\n===',
  ])('finds nothing in %j', (text) => {
    expect(isVisible(text)).toBe(false);
  });

  it.each(['-', '*', '4', '\u56db', '\ud83d\ude00', '\u0435', 'e\u0301', '<b>4</b>', 'a<b', '<img src="a">'])(
    'sees %j',
    (text) => {
      expect(isVisible(text)).toBe(true);
    },
  );
});

describe('isVisible of a text with a name', () => {
  it.each([
    'Okay. So. Right. Well then. Here goes.',
    '(reasoning omitted for brevity)',
    'This is step 1.',
    'Hmm. Let me think about it carefully.',
    'think think think',
    'Now the second step.',
    'First, I think. Second, I answer. Last, done.',
    'Just a second, let me go over it one more time.',
    'No reason needed. It is time to answer.',
    'See the answer below.',
    'your reasoning here',
  ])('finds no thought in %j', (thought) => {
    expect(isVisible(thought, 'think')).toBe(false);
  });

  it.each([
    ...['7 × 8 = 56', 'Add them.', 'a', 'Is it even? No.', 'They want a haiku.', 'Time is the reason.'],
    ...['The second one is over.', 'So the last.', 'It takes a second.', 'It needs more time.'],
  ])('sees the thought %j', (thought) => {
    expect(isVisible(thought, 'think')).toBe(true);
  });

  it.each(
    [
      [
        '&lt;your final answer&gt;',
        '[number]',
        '{your_answer}',
        '(the answer goes here)',
        '[add your own text]',
        '[Write your solution below]',
        '(insert result)',
        '[insert the capital city]',
        'The answer is: ____',
      ],
      ['See the reasoning above.', 'As given in my reasoning.', 'Refer to the previous section.', 'answer'],
    ].flat(),
  )('finds no answer in %j', (answer) => {
    expect(isVisible(answer, 'answer', ['reasoning', 'answer'])).toBe(false);
  });

  it.each([
    ...[
      'below',
      'the same',
      'see',
      'yes',
      'first',
      '[1, 2]',
      '{x}',
      'the answer is 4',
      '[text]',
      '(correct)',
    ],
    ...[
      '[add, sub, mul]',
      '[Add 3 to both sides]',
      '[enter, exit]',
      '[put the red ball into the box]',
      '{title}',
    ],
  ])('sees the answer %j', (answer) => {
    expect(isVisible(answer, 'answer', ['reasoning', 'answer'])).toBe(true);
  });
});

it('reads letters in the case of their style', () => {
  expect(seenText('<p style="text-transform: uppercase">a <b>b</b></p> c')).toBe(' A B  c');
  expect(seenText('<p style="text-transform:lowercase">A</p>')).toBe(' a ');
});

describe('looseText', () => {
  it.each([
    ['y0u 4r3 5tup1d!', 'you are stupid!'],
    ['k1ll y0ur$3lf', 'kill yourself'],
    ['stüpíd', 'stupid'],
    ['stuuuupid', 'stupid'],
    ['c0uldn’7', 'couldn’t'],
    ['7h3y 4r3 4 p41n 1n 7h3 455', 'they are a pain in the ass'],
    [
      'After 10km, 5km and 8km more it is 455 m to the next village',
      'After iokm, skm and bkm more it is 455 m to the next village',
    ],
    ['ssttuuppiidd', 'stupid'],
    ['shewasaddressedinthegrassbyallofthem', 'shewasaddressedinthegrassbyallofthem'],
    ['in 2024, 100 of them', 'in 2024, 100 of them'],
    ['hello! (see) a-b', 'hello! (see) a-b'],
  ])('reads %s', (leet, text) => {
    expect(looseText(leet)).toBe(text);
  });
});

describe('unmaskedTexts', () => {
  it('reads a sign for each vowel', () => {
    expect(unmaskedTexts('a st*pid |d#ot')).toEqual(
      ['a', 'e', 'i', 'o', 'u'].map((v) => `a st${v}pid ${v}d${v}ot`),
    );
    expect(['a * b', '**bold** text', '5*x', 'a || b'].flatMap(unmaskedTexts)).toEqual([]);
  });
});

it('reads many single digits', () => {
  const digits = '1 '.repeat(200_000);
  expect(spelledText(digits).text).toBe(digits);
});

it('takes linear time', () => {
  const size = 100_000;
  const texts = ['é', 'а', '\u200b', 'a ', 'a.', '4', 'a\u0301\u0302', 'a\u200b', '1a', 'é.'].map((part) =>
    part.repeat(size),
  );
  for (const text of texts) {
    const begun = performance.now();
    spelledText(text);
    looseText(text);
    withoutParting(text);
    unmaskedTexts(text);
    unhiddenText(text);
    expect(performance.now() - begun).toBeLessThan(4000);
  }
});

it('reads many beginnings of markup in one pass', () => {
  const start = performance.now();
  for (const part of ['<!--', '<a', '<a ', '&#']) isVisible(part.repeat(200_000));
  expect(performance.now() - start).toBeLessThan(2000);
});
