const species = String.raw`[\d(]*[A-Z][a-z]?(?:[A-Z][a-z]?|\d|[()[\]])*(?:\^?\d?[+-])?`;
const reaction = new RegExp(`^${species}(?:(?:\\+|->|\\.)${species})*$`);
/** Words of two letters, choices and numbers. None is a formula. */
const other = /^(?:no|us|ok|\([A-J]\).*|[\d.]+E[+-]?\d+)$/i;

interface Formula {
  /** Without states of matter, the species of each side in a fixed order. */
  readonly text: string;
  readonly states: string;
  /** Whether it is written as chemistry: digits behind letters, or upright type. */
  readonly isMarked: boolean;
}

/** `H2O`, `\mathrm{H_2O}`, `\ce{2H2 + O2 -> 2H2O}`; `undefined` for anything else. */
function formulaOf(answer: string): Formula | undefined {
  if (!/[A-Z]/.test(answer) || /_\{?[^\d{]/.test(answer) || answer.length > 300) return;
  const text = answer
    .replaceAll(/[⁰¹²³⁴-⁹⁺⁻]+/g, (run) => `^${run.normalize('NFKC').replace('−', '-')}`)
    .normalize('NFKC')
    .replaceAll(/\\(?:ce|mathrm|text|rm|left|right)(?![a-z])|[\s{}$_]|\\[,;: ]/g, '')
    .replaceAll(/\\(?:long)?rightarrow|\\to(?![a-z])|[→⟶⇌⇄]/g, '->')
    .replaceAll(/\\cdot|·|\\bullet/g, '.')
    .replaceAll(/\^(?=\d?[+-])/g, '');
  const bare = text.replaceAll(/\((?:s|l|g|aq)\)/g, '');
  if (!reaction.test(bare) || other.test(bare)) return;
  const sides = bare.split('->').map((side) => side.split('+').sort().join('+'));
  const isMarked = /[A-Z][a-z]?\d|[₀-₉]|\\(?:ce|mathrm|text)\s*\{[^}]*\d/.test(answer);
  return { text: sides.join('->'), states: bare === text ? '' : text, isMarked };
}

/** Whether two chemical formulas or equations are the same; `undefined` for anything that may be another product of letters. */
export function agreeAsFormulas(...answers: readonly [string, string]): boolean | undefined {
  const [given, expected] = answers.map(formulaOf);
  if (given === undefined || expected === undefined) return;
  const areOfOneState = given.states === '' || expected.states === '' || given.states === expected.states;
  if (given.text === expected.text) return areOfOneState;
  const differInCase = given.text.toLowerCase() === expected.text.toLowerCase();
  return given.isMarked || expected.isMarked || differInCase ? false : undefined;
}
