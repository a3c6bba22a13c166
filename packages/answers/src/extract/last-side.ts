/** What joins the sides of a chain. */
const sign = /^(?:=|\\(?:implies|Rightarrow|Longrightarrow|iff|equiv|approx)(?![a-zA-Z])|⇒|→|≈)/;

/** A name that an equation gives its value: `x`, `a_1`, `f(x)`, `\angle ABC`. */
const name = /^\s*(?:\\[a-z]+\s*)?[a-zA-Z]{1,3}'?(?:_\{?\w+\}?)?(?:\([a-z](?:,\s?[a-z])*\))?\s*$/;

const bracketed = /\{[^{}]*\}|\([^()]*\)|\[[^[\]]*\]/g;

const words = /\\(?:text|mbox)\s*\{([^{}]*)\}/g;

/** Several values or conditions: `x = 1, y = 2`. */
const several = /[,;]\s+\S|\b(?:and|or|for|if)\b/;

/** Environments whose last row says the result. */
const rows = /^(?:align|aligned|equation|gather|gathered|eqnarray|split|multline)\*?$/;

/**
 * The result of a chain of equations, without the signs around it: `3` of `$x + 1 = 2 + 1 = 3.$`. An equation of a name stays whole, as does
 * what has several values.
 */
export function lastSide(formula: string): string {
  const bare = formula.replace(/^\s*(?:\$\$?|\\[[(])|(?:\$\$?|\\[\])])\s*$/g, '').replace(/[.,;:\s]+$/, '');
  if (several.test(bare.replace(words, ' $1 ').replace(bracketed, ''))) return formula;
  const sides = sidesOf(bare);
  if (sides.length === 1 || (sides.length === 2 && name.test(sides[0]!))) return formula;
  return sides
    .at(-1)!
    .replace(/\s*\\pmod.*$/, '')
    .trim();
}

/** Parts between the signs that stand in no braces or brackets. */
function sidesOf(formula: string): string[] {
  const sides: string[] = [];
  let [start, depth] = [0, 0];
  for (let at = 0; at < formula.length; at++) {
    const character = formula[at]!;
    if ('{(['.includes(character)) depth += 1;
    else if ('})]'.includes(character)) depth -= 1;
    const found = depth === 0 && /[=\\⇒→≈]/.test(character) ? sign.exec(formula.slice(at, at + 20)) : null;
    if (found === null || /[<>!:]/.test(formula[at - 1] ?? '')) continue;
    sides.push(formula.slice(start, at));
    start = at + found[0].length;
    at = start - 1;
  }
  return [...sides, formula.slice(start)];
}

/** The last row of a display that ends a text, or `undefined`. */
export function displayedLast(text: string): string | undefined {
  const end = text.replace(/[.\s]+$/, '');
  const environment = /\\end\{([a-z]+\*?)\}\s*(?:\$\$|\\\])?$/.exec(end.slice(-40));
  if (environment !== null && rows.test(environment[1]!)) {
    const start = end.lastIndexOf(`\\begin{${environment[1]}}`);
    const body = end.slice(start, end.lastIndexOf('\\end{')).replace(/^\\begin\{[a-z]+\*?\}/, '');
    return start < 0 ? undefined : rowsOf(body).at(-1);
  }
  for (const [opening, closing] of [
    ['$$', '$$'],
    ['\\[', '\\]'],
  ] as const) {
    if (!end.endsWith(closing)) continue;
    const start = end.lastIndexOf(opening, end.length - 3);
    const body = end.slice(start + 2, -2);
    if (start >= 0 && !body.includes('\\begin')) return rowsOf(body).at(-1);
  }
  return;
}

function rowsOf(body: string): string[] {
  return body
    .split(/\\\\(?:\[[^\]\n]{0,10}\])?/)
    .map((row) => row.replaceAll(/&|\\q?quad/g, ' ').trim())
    .filter((row) => row !== '');
}
