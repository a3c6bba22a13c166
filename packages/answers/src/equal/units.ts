const spellings =
  'mm millimeter millimetre|cm centimeter centimetre|m meter metre|km kilometer kilometre|in inch inche|ft foot feet|yd yard|mi mile|' +
  'mg milligram|g gram|kg kilogram|lb pound|oz ounce|s sec second|min minute|h hr hour|l liter litre|ml milliliter millilitre|' +
  'dollar usd|€ euro eur|£ gbp|¥ yen jpy|₹ rupee inr rs|¢ cent|kj kilojoule|kw kilowatt|kpa kilopascal|khz kilohertz|' +
  'n newton|j joule|w watt|v volt|pa pascal|hz hertz|k kelvin|mol mole|rad radian|degree deg °|°c celsius|°f fahrenheit|% percent percentage|mi/h mph mi/hr|km/h kph kmh';

const names = new Map(
  spellings.split('|').flatMap((line) => line.split(' ').map((word, _, all) => [word, all[0]!] as const)),
);

const factors: Readonly<Record<string, number>> = {
  dozen: 12,
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

/** Words that count nothing by themselves. */
const empty = /^(?:units?|squares|of|the|a|an|total|each|old)$/;
const powers: Readonly<Record<string, string>> = {
  ...{ square: '^2', sq: '^2', squared: '^2' },
  ...{ cubic: '^3', cu: '^3', cubed: '^3' },
};
const negative =
  /^(?:not|no|nor|never|wrong|incorrect|if|unless|maybe|is|isn|times|least|most|more|less|fewer|than|plus)$/;

/**
 * A unit under one name, and the factor of number words before it: `thousand dollars` is 1,000 of `dollar`. "Square" and
 * "cubed" are exponents: `cm^2`. A phrase that negates has the name `?`, which no other unit has.
 */
export function unitOf(written: string): { readonly name: string; readonly factor: number } {
  const words = written
    .toLowerCase()
    .replaceAll(/\s*(?:\/|\bper\b)\s*/g, ' / ')
    .split(/\s+/);
  let factor = 1;
  const kept: string[] = [];
  let power = '';
  for (const word of words) {
    const [base, exponent] = word.split('^') as [string, string?];
    if (negative.test(word)) return { name: '?', factor: 1 };
    if (kept.length === 0 && Object.hasOwn(factors, word)) factor *= factors[word]!;
    else if (/d$/.test(word) && Object.hasOwn(powers, word)) kept.push(`${kept.pop() ?? ''}${powers[word]}`);
    else if (Object.hasOwn(powers, word)) power = powers[word]!;
    else if (!empty.test(base) && base !== '') {
      kept.push(
        `${singular(base)}${exponent === undefined ? power : exponent === '1' ? '' : `^${exponent}`}`,
      );
      power = '';
    }
  }
  const counted = kept.length > 1 ? kept.filter((word) => word !== 'in') : kept;
  const joined = counted.join(' ').replaceAll(' / ', '/').trim();
  return { name: names.get(joined) ?? joined, factor };
}

/** Whether a word is a unit of measurement or a currency. */
export function isUnit(word: string): boolean {
  return names.has(singular(word.toLowerCase()));
}

function singular(word: string): string {
  const found = names.get(word);
  if (found !== undefined) return found;
  const bare = word.length > 2 ? word.replace(/s$/, '') : word;
  return names.get(bare) ?? bare;
}
