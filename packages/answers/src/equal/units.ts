import { Fraction } from 'fraction.js';
import { isNumberWord, scaleOfWord } from './number-words.ts';

/** Names of a unit, and what one of it is. Without a definition it is a base unit. `*` takes prefixes. */
const definitions =
  'm meter metre metro*|g gram gramme gramo*|s sec second segundo seconde sekunden*|A amp ampere*|K kelvin*|mol mole*|B byte*|dB|eV*|cal calorie*|bit|atm|ton|acre|month|° deg degree|rad radian|' +
  '% percent percentage pct|$ dollar usd|€ euro eur|£ gbp|¥ yen jpy|₹ rupee inr rs|°C celsius|°F fahrenheit|' +
  'min minute minuto minuten = 60 s|h hr hour hora heure stunde stunden = 60 min|day = 24 h|wk week = 7 day|yr year = 12 month|in inch inche = 2.54 cm|ft foot feet = 12 in|' +
  'yd yard = 3 ft|mi mile = 5280 ft|lb pound = 453.59237 g|oz ounce = 0.0625 lb|tonne = 1000 kg|L l liter litre litro* = 1000 cm^3|cc = cm^3|gal gallon = 231 in^3|' +
  'qt quart = 0.25 gal|pt pint = 0.5 qt|cup = 0.5 pint|N newton* = kg m/s^2|J joule* = N m|W watt* = J/s|V volt* = W/A|S siemens* = A/V|Pa pascal* = N/m^2|' +
  'Hz hertz* = 1/s|C coulomb* = A s|F farad* = C/V|Ω ohm* = V/A|T tesla* = N/A/m|H henry* = V s/A|M molar* = mol/L|bar = 100 kPa|' +
  'mph = mi/h|ha hectare = 10000 m^2|decade = 10 yr|century centurie = 100 yr|Wh* = W h|Ah* = A h|kph kmh kmph = km/h|¢ cent = 0.01 dollar|pence = 0.01 £';

const prefixes: Readonly<Record<string, number>> = {
  ...{ n: -9, nano: -9, u: -6, µ: -6, μ: -6, micro: -6, m: -3, milli: -3, c: -2, centi: -2, d: -1, deci: -1 },
  ...{ k: 3, kilo: 3, M: 6, mega: 6, G: 9, giga: 9 },
};

/** A product of powers of base units. */
interface Unit {
  readonly factor: Fraction;
  readonly powers: ReadonlyMap<string, number>;
}

interface Definition {
  readonly name: string;
  readonly takesPrefixes: boolean;
  readonly meaning: string | undefined;
}

const table = new Map<string, Definition>();
for (const line of definitions.split('|')) {
  const [names, meaning] = line.split(' = ');
  const spellings = names!.replace('*', '').split(' ');
  const definition = { name: spellings[0]!, takesPrefixes: names!.endsWith('*'), meaning };
  for (const name of spellings) table.set(name, definition);
}
for (const [name, definition] of [...table]) {
  const lower = name.toLowerCase();
  if (name.length > 1 && !table.has(lower)) table.set(lower, definition);
}

/** The unit of a word. `mW` is not `MW`, but `Km` is `km`. */
function knownUnit(word: string): Unit | undefined {
  const lower = word.toLowerCase();
  const kilo = lower.replace(/^k[a-z]$/, (name) => `k${name[1]!.toUpperCase()}`);
  for (const name of lower.length > 1 ? [word, lower, kilo, lower.replace(/(?<=..)s$/, '')] : [word]) {
    const whole = table.get(name);
    if (whole !== undefined) return meaningOf(whole);
    const [, prefix, rest = ''] =
      /^(nano|micro|milli|centi|deci|kilo|mega|giga|[nuµμmcdkMG])(.+)$/.exec(name) ?? [];
    const base = table.get(rest);
    if (prefix === undefined || base?.takesPrefixes !== true) continue;
    const { factor, powers } = meaningOf(base);
    return { factor: factor.mul(new Fraction(10).pow(prefixes[prefix]!)!), powers };
  }
  return;
}

const units = new Map<Definition, Unit>();

/** The unit of a definition, read once. */
function meaningOf(definition: Definition): Unit {
  const known = units.get(definition) ?? readDefinition(definition);
  units.set(definition, known);
  return known;
}

function readDefinition({ name, meaning }: Definition): Unit {
  if (meaning === undefined) return { factor: new Fraction(1), powers: new Map([[name, 1]]) };
  const [, count = '1', rest] = /^([\d.]+(?= |\/))? ?(.*)$/.exec(meaning)!;
  const { factor, powers } = productOf(rest!.replaceAll('/', ' / ').trim().split(' '))!;
  return { factor: factor.mul(new Fraction(count)), powers };
}

/** Words that count nothing by themselves. */
const empty = /^(?:squares|of|the|a|an|total|each|old)$/;
const exponents: Readonly<Record<string, string>> = {
  ...{ square: '2', sq: '2', squared: '2', cubic: '3', cu: '3', cubed: '3' },
};
/** Words that deny, bound or change the number before them. */
const changing =
  /^(?:not|no|nor|never|wrong|incorrect|if|unless|maybe|is|isn|times|least|most|more|less|fewer|than|plus|minus|negative|below|tens|factorial|choose|remainder|halves)$/;

const isExponent = (word: string) => word === '/' || Object.hasOwn(exponents, word);

/** The product of units, with slashes before what divides; `undefined` if a word is none. */
function productOf(words: readonly string[]): Unit | undefined {
  let factor = new Fraction(1);
  const powers = new Map<string, number>();
  let [sign, pending]: [number, string | undefined] = [1, undefined];
  for (const [index, word] of words.entries()) {
    if (word === '/') {
      sign = -1;
      continue;
    }
    if (isExponent(word) && !word.endsWith('d')) {
      pending = exponents[word];
      continue;
    }
    const [base, written] = word.split('^') as [string, string?];
    if (empty.test(base) || base === '') continue;
    if (Object.hasOwn(exponents, base)) {
      if (isExponent(words[index - 1] ?? '/')) return;
      continue;
    }
    if (changing.test(base) || isNumberWord(base)) return;
    const following = words[index + 1] ?? '';
    const behind = following.endsWith('d') ? exponents[following] : undefined;
    const power = sign * Number(written || behind || pending || 1);
    const lower = base.toLowerCase();
    const unit = knownUnit(base) ?? {
      factor: new Fraction(1),
      powers: new Map([[`~${lower.length > 2 ? lower.replace(/s$/, '') : lower}`, 1]]),
    };
    if (!Number.isInteger(power) || Math.abs(power) > 9) return;
    factor = factor.mul(unit.factor.pow(power)!);
    for (const [name, exponent] of unit.powers) powers.set(name, (powers.get(name) ?? 0) + power * exponent);
    [sign, pending] = [1, undefined];
  }
  return pending === undefined ? { factor, powers } : undefined;
}

/** What the words behind a number say. */
export interface UnitOfWords {
  /** Base units in a fixed order, such as `m s^-2`. Unknown ones begin with `~`. `?` for words that cannot be a unit. */
  readonly name: string;
  /** How many of these base units one of the unit is. */
  readonly scale: Fraction;
  /** The factor of number words before the unit: `thousand dollars` is 1,000 of `$`. */
  readonly factor: number;
}

/** A unit under one name. "Square" and "cubed" are exponents. */
export function unitOf(written: string): UnitOfWords {
  if (written.startsWith('mod ')) return { name: written, scale: new Fraction(1), factor: 1 };
  const words = written
    .replaceAll(/\bdegrees? (?=celsius|fahrenheit)/gi, '')
    .replaceAll(/\bdegrees? (?=[CF]\b)/g, '°')
    .replaceAll(/\s*(?:\/|\bper\b)\s*/g, ' / ')
    .split(/\s+/);
  let [factor, at] = [1, 0];
  for (; at < words.length; at++) {
    const scale = words[at] === '' ? 1 : scaleOfWord(words[at]!.toLowerCase());
    if (scale === undefined) break;
    factor *= scale;
  }
  const rest = words.slice(at);
  const unit = productOf(rest.filter((word, index) => word !== 'in' || index === rest.length - 1));
  if (unit === undefined) return { name: '?', scale: new Fraction(1), factor: 1 };
  const name = [...unit.powers]
    .filter(([, power]) => power !== 0)
    .map(([base, power]) => (power === 1 ? base : `${base}^${power}`))
    .sort()
    .join(' ');
  // Hours a day are not hours.
  return { name: name === '' && unit.powers.size > 0 ? '1' : name, scale: unit.factor, factor };
}

/** Whether a word is a unit of measurement or a currency. */
export function isUnit(word: string): boolean {
  return knownUnit(word) !== undefined;
}

/** Whether letters are a unit made of base units that another unit's name has. */
export function isUnitOf(letters: string, name: string): boolean {
  const bases = knownUnit(letters)?.powers.keys();
  return bases !== undefined && [...bases].every((base) => name.split(/[ ^]/).includes(base));
}
