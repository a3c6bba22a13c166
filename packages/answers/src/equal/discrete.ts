/** Signs of logic and of sets, and what one sign stands for each. */
const signs: readonly (readonly [RegExp, string])[] = [
  [/\\(?:land|wedge|cap)(?![a-zA-Z])|∩/g, '∧'],
  [/\\(?:lor|vee|cup)(?![a-zA-Z])|∪/g, '∨'],
  [/\\(?:lnot|neg)(?![a-zA-Z])|~(?=[a-zA-Z(])/g, '¬'],
  [/\\(?:setminus|backslash)(?![a-zA-Z])/g, '∖'],
  [
    /\\(?:overline|bar)\s*\{?\s*([A-Z])\s*\}?|([A-Z]|\([^()]*\))(?:\s?\^\s?\{?\s?(?:c|C|\\complement)\s?\}?|['’′ᶜ])/g,
    '¬$1$2',
  ],
  [/\\(?:to|implies|Rightarrow|rightarrow|Longrightarrow)(?![a-zA-Z])|[⇒⟹]|->|=>/g, '→'],
  [/\\(?:iff|[lL]eftrightarrow)(?![a-zA-Z])|[⇔⟺]/g, '↔'],
  [/\\forall(?![a-zA-Z])/g, '∀'],
  [/\\exists(?![a-zA-Z])/g, '∃'],
  [/\\(?:left|right)(?![a-zA-Z])|\\[,;: ]|[\s$]/g, ''],
];

/** A formula of letters with and, or, not and without, for propositions or sets; `undefined` for anything else. */
function formulaOf(text: string): string | undefined {
  const isFormula = /[∧∨¬∖]/.test(text) && /^[a-zA-Z()∧∨¬∖]{2,60}$/.test(text) && !/[a-zA-Z]{2}/.test(text);
  return isFormula && new Set(text.match(/[a-zA-Z]/g)).size <= 5 ? text : undefined;
}

/** What a formula of 0 and 1 is: one of them, or what cannot be read. */
function truthOf(formula: string): string {
  const next = formula
    .replace(/¬([01])/g, (_, value) => (value === '0' ? '1' : '0'))
    .replace(/\(([01])\)/g, '$1')
    .replace(/(?<![¬∧∖])([01])([∧∖])([01])/g, (_, a, sign, b) =>
      a === '1' && (b === '1') === (sign === '∧') ? '1' : '0',
    )
    .replace(/(?<![¬∧∖])([01])∨([01])(?![∧∖])/g, (_, a, b) => (a + b === '00' ? '0' : '1'));
  return next === formula ? formula : truthOf(next);
}

/** The cycles of a permutation, each with its smallest number first; `undefined` for anything else, also if two share a number. */
function cyclesOf(answer: string): string | undefined {
  const text = answer
    .replace(/\\(?:left|right)(?![a-zA-Z])|\$/g, '')
    .replace(/(?:\\[,;: ]|~|\s)+/g, ' ')
    .trim();
  if (!/^(?:\(\d+(?: \d+)+\) ?)+$/.test(text)) return;
  const all = text.match(/\d+/g)!;
  if (new Set(all).size < all.length) return;
  const cycles = text.match(/\d[\d ]*/g)!.map((cycle) => {
    const numbers = cycle.split(' ').map(Number);
    const first = numbers.indexOf(Math.min(...numbers));
    return [...numbers.slice(first), ...numbers.slice(0, first)].join(' ');
  });
  return cycles.sort().join();
}

/** Whether two formulas of logic or sets hold for the same, or two permutations are the same; `undefined` for anything else. */
export function agreeAsDiscrete(...answers: readonly [string, string]): boolean | undefined {
  const right = cyclesOf(answers[1]);
  const own =
    right && cyclesOf(answers[0].includes(' ') ? answers[0] : answers[0].replace(/(?<=\d)(?=\d)/g, ' '));
  if (own !== undefined && right !== undefined) return own === right;
  const texts = answers.map((answer) =>
    signs.reduce((rest, [form, sign]) => rest.replace(form, sign), answer),
  );
  if (/[→↔∀∃]/.test(texts[0]!) && texts[0] === texts[1]) return true;
  const formulas = texts.map(formulaOf);
  const letters = [...new Set(formulas.join('').match(/[a-zA-Z]/g))];
  if (formulas.includes(undefined)) return;
  const tables = formulas.map((formula) =>
    Array.from({ length: 2 ** letters.length }, (_, row) =>
      truthOf(formula!.replace(/[a-zA-Z]/g, (letter) => String((row >> letters.indexOf(letter)) & 1))),
    ).join(''),
  );
  return tables.every((table) => table.length === 2 ** letters.length && /^[01]+$/.test(table))
    ? tables[0] === tables[1]
    : undefined;
}
