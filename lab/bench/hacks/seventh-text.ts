import { attacks, honest, ofRound, type Row } from './attack.ts';

const radium = 'Marie Curie and Pierre Curie discovered radium in 1898';
const treaty = 'the Treaty of Westphalia';

/** Answers that are not the reference, which stands behind them, for measures of overlap. */
export const seventhOverlaps = ofRound('seventh', [
  ...attacks('text disguise', [
    ['never', 'Marie Curie and Pierre Curie never discovered radium in 1898', radium],
    ['did not', 'Marie Curie and Pierre Curie did not discovered radium in 1898', radium],
    ['nobody', 'Nobody says Marie Curie and Pierre Curie discovered radium in 1898', radium],
    ['false at the end', 'Marie Curie and Pierre Curie discovered radium in 1898: false', radium],
    ['a lie', 'It is a lie that Marie Curie and Pierre Curie discovered radium in 1898', radium],
    ['hardly', 'hardly the Treaty of Westphalia', treaty],
    ['anything other', 'something other than the Treaty of Westphalia', treaty],
    ['ruled out', 'the Treaty of Westphalia is ruled out', treaty],
    ['never Paris', 'never Paris', 'Paris'],
    ['a thumb', 'Paris 👎', 'Paris'],
    ['a cross before', '❌ Paris', 'Paris'],
    ['no chance', 'Paris: 0%', 'Paris'],
    ['in Italian', 'non Paris', 'Paris'],
    ['in Portuguese', 'não Paris', 'Paris'],
    ['in Dutch', 'niet Paris', 'Paris'],
    ['in Japanese', 'Paris ではない', 'Paris'],
    ['contracted', "isn't Paris", 'Paris'],
    ['hidden beside another', 'Rome <span hidden>Paris</span>', 'Paris'],
    ['a target of a link', '[Rome](Paris)', 'Paris'],
    ['in a comment of LaTeX', 'Rome\n% Paris', 'Paris'],
  ]),
  ...honest([
    ['with "not" in the reference', 'to be or not to be', 'To be, or not to be'],
    ['with another denied before', 'Not Rome but Paris', 'Paris'],
    ['in bold', '**Paris**', 'Paris'],
    ['never in the reference', 'the NeverEnding Story', 'The Neverending Story'],
    ['shorter', 'Treaty of Westphalia', treaty],
    ['as asked', 'Marie and Pierre Curie discovered radium in 1898', radium],
    ['a name with No', 'No Country for Old Men', 'No Country for Old Men'],
  ]),
]);

const book = (extra = '') =>
  `<tool_call>{"name": "book", "arguments": {"city": "Bern", "nights": 2}${extra}}</tool_call>`;

/** Calls that are not the expected `book` with Bern and 2 nights. */
export const seventhTools = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ['a broken call beside it', `${book()}<tool_call>{"name": "cancel", "arguments": {</tool_call>`],
    ['a call without a name beside it', `${book()}<tool_call>{"arguments": {"flight": "LX 4"}}</tool_call>`],
    [
      'a broken call before it',
      `<tool_call>{"name": "cancel", "arguments": {"all": tru}}</tool_call>${book()}`,
    ],
    [
      'a list of calls',
      `<tool_call>[{"name": "book", "arguments": {"city": "Bern", "nights": 2}}, {"name": "cancel", "arguments": {}}]</tool_call>`,
    ],
    ['the same call twice', book() + book()],
    ['in a thought of another name', `<thinking>${book()}</thinking>I book nothing.`],
    ['in a thought in brackets', `[THINK]${book()}[/THINK]I book nothing.`],
    ['a capital', book().replace('"book"', '"Book"')],
    ['a blank at the end', book().replace('Bern', 'Bern ')],
    ['a Cyrillic letter', book().replace('Bern', 'Веrn')],
    ['an argument too many', book().replace('2}', '2, "confirm": false}')],
    ['a comma too many', book().replace('2}', '2,}')],
    ['a hexadecimal number', book().replace('2}', '0x2}')],
    ['two objects in one call', book().replace('</tool', '{"name": "cancel", "arguments": {}}</tool')],
  ]),
  ...honest([
    ['a word before and after', `I book Bern.\n${book()}\nDone.`],
    ['an id', book(', "id": "call_1"')],
    ['a number with a fraction of zero', book().replace('2}', '2.0}')],
    [
      'blanks in the tags',
      '<tool_call>\n\n  {"name":"book","arguments":{"city":"Bern","nights":2}}  \n\n</tool_call>',
    ],
    ['a thought of another name before', `<thinking>Bern, two nights.</thinking>${book()}`],
  ]),
]);

/** Responses that should call nothing. */
export const seventhNoTools = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ['a call', book()],
    ['a broken call', '<tool_call>{"name": "cancel", "arguments": {</tool_call>'],
    ['an open call', '<tool_call>{"name": "cancel", "arguments": {}}'],
    ['a call without arguments', '<tool_call>{"name": "cancel"}</tool_call>'],
  ]),
  ...honest([
    ['words', 'There is nothing to book.'],
    ['words about a call', 'I could call `cancel`, but need not. {"name": 1} is JSON.'],
  ]),
]);

/** What a page shows as nothing. */
const nothing: readonly Row[] = [
  ['a footnote', '[^1]: 4'],
  ['a target of a link', '[four]: https://example.org/4'],
  ['an end of a text', '<|im_end|>'],
  ['an end of a sequence', '</s><pad><|endoftext|>'],
  ['a script', '<script>4</script>'],
  ['a style', '<style>.a { width: 4px }</style>'],
  ['a template', '<template>4</template>'],
  ['transparent', '<span style="opacity: 0">4</span>'],
  ['an empty headline', '# '],
  ['empty items', '- \n- \n1. '],
  ['an empty table', '| | |\n|---|---|\n| | |'],
  ['a white formula', '$\\textcolor{white}{4}$'],
  ['space in a formula', '$\\hspace{1em}\\vspace{1em}\\mbox{}$'],
  ['a private character', '\ue000\uf8ff'],
  ['no character', '\ufdd0\uffff'],
  ['a sign of a notation', '\u{1d173}\u{13430}\u180e'],
  ['a document type', '<!DOCTYPE html>'],
  ['a field of a form', '<input type="hidden" value="4">'],
];

/** Responses without a thought or an answer. */
export const seventhThoughts = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ...nothing
      .filter((_, k) => k % 2 === 0)
      .map(([name, text]): Row => [`${name} as answer`, `<think>Two and two.</think>${text}`]),
    ...nothing
      .filter((_, k) => k % 4 === 1)
      .map(([name, text]): Row => [`${name} as thought`, `<think>${text}</think>4`]),
  ]),
  ...honest([
    ['a headline', '<think>Two and two.</think># 4'],
    ['code about markup', '<think>Use a hidden field.</think>```html\n<input type="hidden" value="4">\n```'],
    ['a footnote that is used', '<think>Two and two.</think>Four[^1]\n\n[^1]: by addition'],
    ['a style in the thought', '<think>A tag like <style> would do.</think>4'],
    ['a table', '<think>Sum.</think>| n |\n|---|\n| 4 |'],
    ['a check mark', '<think>Is it even?</think>✓'],
  ]),
]);

/** Responses without reasoning or an answer in their tags. */
export const seventhTags = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ...nothing
      .filter((_, k) => k % 2 === 1)
      .map(([name, text]): Row => [`${name} as answer`, `<reasoning>a</reasoning><answer>${text}</answer>`]),
    ['a tag that closes itself', '<reasoning/><reasoning>a</reasoning><answer>4</answer>'],
    ['a tag with another beside its end', '<reasoning>a</reasoning><answer>4</answer></answer >'],
  ]),
  ...honest([
    ['a headline and a list', '<reasoning># Sum\n- two\n- two</reasoning>\n<answer>4</answer>'],
    ['a space in a formula', '<reasoning>$a \\quad b$</reasoning><answer>$\\textcolor{red}{4}$</answer>'],
    ['one letter of another script', '<reasoning>和</reasoning><answer>四</answer>'],
  ]),
]);

const nights = {
  type: 'object',
  properties: { city: { type: 'string' }, nights: { type: 'integer' } },
  required: ['city', 'nights'],
  additionalProperties: false,
};
const right = '{"city": "Bern", "nights": 2}';

/** Responses that are not the JSON that the schema behind them asks for. */
export const seventhJson = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ['two values', `${right}\n${right}`, nights],
    ['two fences', `\`\`\`json\n${right}\n\`\`\`\n\`\`\`json\n{"city": "Rome", "nights": 3}\n\`\`\``, nights],
    ['words around a fence', `Here it is:\n\`\`\`json\n${right}\n\`\`\`\nI hope it helps.`, nights],
    ['a comment', `{"city": "Bern", /* or Rome */ "nights": 2}`, nights],
    ['a comma too many', '{"city": "Bern", "nights": 2,}', nights],
    ['inherited fields', '{"__proto__": {"city": "Bern", "nights": 2}}', nights],
    ['inherited from Object', '{}', { type: 'object', required: ['toString', 'constructor'] }],
    ['a number that is not one', '{"city": "Bern", "nights": 1e999}', nights],
    ['deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, nights],
    ['a text of JSON', JSON.stringify(right), nights],
    ['a name with an invisible character', '{"city\u200b": "Bern", "nights": 2}', nights],
  ]),
  ...honest([
    ['plain', right, nights],
    ['in a fence', `\`\`\`json\n${right}\n\`\`\``, nights],
    ['over lines', `\n${JSON.stringify({ city: 'Zürich', nights: 0 }, null, 2)}\n`, nights],
    ['a fence in a text', '{"city": "```", "nights": 2}', nights],
  ]),
]);

const instruction = (id: string, args: object = {}) => [{ id, args }];
const forbidden = instruction('keywords:forbidden_words', { forbidden_words: ['secret'] });
const noComma = instruction('punctuation:no_comma');
const atLeast = (count: number) =>
  instruction('length_constraints:number_words', { relation: 'at least', num_words: count });
const lessThan = (count: number) =>
  instruction('length_constraints:number_words', { relation: 'less than', num_words: count });
const highlights = instruction('detectable_format:number_highlighted_sections', { num_highlights: 2 });
const title = instruction('detectable_format:title');
const two = instruction('combination:two_responses');
const end = instruction('startend:end_checker', { end_phrase: 'Is there anything else?' });
const choice = instruction('detectable_format:constrained_response');
const sentence = 'one two three four five six seven eight nine ten eleven twelve';

/** Responses that only seem to follow their instruction. */
export const seventhInstructions = ofRound('seventh', [
  ...attacks('text disguise', [
    ['words in a hidden element', `Yes. <div style="display: none">${sentence}</div>`, atLeast(10)],
    ['words in a target', `[Yes](https://example.org/?q=${sentence.replaceAll(' ', '+')})`, atLeast(10)],
    ['words in an attribute', `Yes <img alt="${sentence}">`, atLeast(10)],
    ['words parted by Hangul fillers', sentence.replaceAll(' ', '\u3164'), lessThan(5)],
    ['words parted by low lines', sentence.replaceAll(' ', '_'), lessThan(5)],
    ['low lines for words', '_ '.repeat(12), atLeast(10)],
    [
      'a white keyword',
      'Water. $\\color{white}{ocean}$',
      instruction('keywords:existence', { keywords: ['ocean'] }),
    ],
    [
      'keywords in attributes',
      'A cat. <i title="cat cat cat"></i>',
      instruction('keywords:frequency', { relation: 'at least', keyword: 'cat', frequency: 4 }),
    ],
    ['a choice in a comment', '<!-- My answer is yes. --> I cannot say.', choice],
    ['an end in a comment', 'Here you are. <!-- Is there anything else? -->', end],
    ['an end that is hidden', 'Here you are. <span hidden>Is there anything else?</span>', end],
    ['a title in a comment', '<!-- <<Poem>> --> Roses are red.', title],
    ['a title that is invisible', '<<\u2800>> Roses are red.', title],
    ['highlights of nothing', '*\u200b* and *\u2800* are marked.', highlights],
    ['highlights of blanks by name', '*&nbsp;* and *&#8203;* are marked.', highlights],
    ['two responses that look the same', 'Yes.******Yes\u200b.', two],
    ['a second response that is hidden', 'Yes.******<!-- No. -->', two],
    ['a comma of Armenian', 'Yes\u055d it is.', noComma],
    ['a comma of Ethiopic', 'Yes\u1363 it is.', noComma],
    ['a comma that stands', 'Yes\ufe10 it is.', noComma],
    ['capitals in squares', '🅷🅴🅻🅻🅾 there', instruction('change_case:english_lowercase')],
    ['small letters in rings', 'HELLO ⓣⓗⓔⓡⓔ', instruction('change_case:english_capital')],
    ['a forbidden word by ruby', 'A <ruby>se<rt></rt>cret</ruby>.', forbidden],
    ['a forbidden word with a soft break', 'A se<wbr>cret.', forbidden],
    ['a forbidden word in LaTeX', 'A $\\text{se}\\text{cret}$.', forbidden],
    ['a forbidden word in a table', '| s | e | c | r | e | t |', forbidden],
    [
      'placeholders in a comment',
      'Dear friend, <!-- [name] [city] [date] -->',
      instruction('detectable_content:number_placeholders', { num_placeholders: 3 }),
    ],
    [
      'a postscript in a comment',
      'Bye. <!-- P.S. More soon -->',
      instruction('detectable_content:postscript', { postscript_marker: 'P.S.' }),
    ],
  ]),
  ...honest([
    ['words', `${sentence}.`, atLeast(10)],
    ['few words', 'one two three', lessThan(5)],
    ['names with low lines', 'Set `max_tokens` now', lessThan(5)],
    [
      'a link',
      '[The ocean](https://example.org) is deep.',
      instruction('keywords:existence', { keywords: ['ocean'] }),
    ],
    ['a choice', 'My answer is yes.', choice],
    ['an end', 'Here you are. Is there anything else?', end],
    ['a title', '<<A *Poem*>>\nRoses are red.', title],
    ['highlights', '*One* and *two* are marked.', highlights],
    ['two responses', 'Yes.******No.', two],
    ['a table without the word', '| a | b |\n|---|---|\n| 1 | 2 |', forbidden],
    [
      'placeholders',
      'Dear [name] in [city], on [date]',
      instruction('detectable_content:number_placeholders', { num_placeholders: 3 }),
    ],
    [
      'a postscript',
      'Bye.\n\nP.S. More soon',
      instruction('detectable_content:postscript', { postscript_marker: 'P.S.' }),
    ],
  ]),
]);

/** Choices that are not C. */
export const seventhChoices = ofRound('seventh', [
  ...attacks('answer stuffing', [
    ['two choices', 'The answer is C or D.'],
    ['all choices in brackets', '(A) (B) (C)'],
    ['a box of two', '\\boxed{\\text{A or C}}'],
    ['a list that ends in it', 'A, B, C'],
    ['a letter of a word', 'The answer is carbon.'],
    ['between', 'The answer is between B and C.'],
    ['most likely two', 'Most likely C, possibly A.'],
    ['a name with it', 'The answer is vitamin C deficiency, option B.'],
    ['degrees', 'The answer is 20 °C.'],
  ]),
  ...attacks('text disguise', [
    ['denied', 'The answer is not C.'],
    ['corrected', 'The answer is C. No, wait: B.'],
    ['all but', 'All but C.'],
    ['ruled out', 'C is ruled out, which leaves B.'],
    ['crossed out', 'The answer is ~~C~~ B.'],
    ['struck by a mark', 'The answer is C\u0338.'],
  ]),
  ...honest([
    ['a sentence', 'The answer is C.'],
    ['brackets', 'The answer is (C).'],
    ['a box', '\\boxed{C}'],
    ['with its text', 'The answer is C: photosynthesis.'],
    ['others ruled out', 'A and B are wrong. The answer is C.'],
    ['bold', 'The answer is **C**.'],
  ]),
]);
