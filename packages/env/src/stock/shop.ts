import { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { between, pick, scaled } from '../draws.ts';
import { type Game, gameTasks, type Refusal } from './game.ts';

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  /** Names the random stream that the catalogue is drawn from. */
  catalogue: z.string(),
  /** Products in the catalogue. */
  products: z.int().min(1).max(1000),
  /** What to buy. */
  wish: z.strictObject({
    kind: z.string().min(1),
    /** Words that the product's title must have. */
    attributes: z.array(z.string()).readonly(),
    /** Options to choose, by name. */
    choices: z.record(z.string(), z.string()).readonly(),
    maxPrice: z.number().positive(),
  }),
});

/** A wish and a catalogue. */
export interface ShopSetup extends z.output<typeof setupSchema> {}

/** A product of the catalogue. */
interface ShopProduct {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly attributes: readonly string[];
  readonly price: number;
  /** Values to choose from, by option. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/** What the policy sees of the shop, and what it bought. */
export interface ShopPosition extends Omit<ShopSetup, 'maxTurns'> {
  /** Ids that the last search found. */
  readonly found: readonly string[];
  /** Id of the open product. */
  readonly open?: string;
  readonly chosen: Readonly<Record<string, string>>;
  readonly isBought: boolean;
}

/**
 * Search a catalogue, open a product, choose its options, buy it. In the manner of WebShop.
 *
 * Difficulty: from 10 products to 100, from 1 wished attribute to 3. Score, when something was bought: the share of wishes that it meets, counting
 * each attribute, each option, the price and the kind, and at most 0.1 for another kind. The solver searches for the wish and buys the first
 * product that meets it.
 */
export const shop: Game<ShopSetup, ShopPosition> = {
  name: 'shop',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('shop', options, (random, difficulty) => {
      const products = scaled(difficulty, 10, 100);
      const catalogue = `catalogue-${random.integer(8)}`;
      const product = pick(random, productsOf(catalogue, products));
      const wish = {
        kind: product.kind,
        attributes: random.shuffle(product.attributes).slice(0, scaled(difficulty, 1, 3)),
        choices: Object.fromEntries(
          Object.entries(product.options).map(([name, values]) => [name, pick(random, values)]),
        ),
        maxPrice: Math.ceil(product.price) + between(random, 0, 10),
      };
      return { prompt: instructions(wish), setup: { maxTurns: 15, catalogue, products, wish } };
    }),
  start: ({ catalogue, products, wish }) => ({
    catalogue,
    products,
    wish,
    found: [],
    chosen: {},
    isBought: false,
  }),
  play: (position, text) => {
    const [, verb, argument = ''] = /^(search|open|choose|buy|back)\s*(?:\[(.*)\])?$/is.exec(text) ?? [];
    if (verb === undefined)
      return {
        refusal:
          'I could not read that. Expected search[words], open[id], choose[option=value], back or buy.',
      };
    return acted(position, verb.toLowerCase(), argument.trim().toLowerCase());
  },
  view: viewed,
  isOver: ({ isBought }) => isBought,
  score: (position) => (position.isBought ? worth(position) : 0),
  key: ({ found, open = '', chosen, isBought }) => JSON.stringify([found, open, chosen, isBought]),
  solve: (position) => nextCommand(position),
};

function instructions({ kind, attributes, choices, maxPrice }: ShopSetup['wish']): string {
  const options = Object.entries(choices).map(([name, value]) => `, ${name} ${value}`);
  return (
    `Buy this: ${[...attributes, kind].join(' ')}${options.join('')}, for at most $${maxPrice}. Commands: search[words], open[id], ` +
    'choose[option=value], back (to the results), buy. Answer with one command.'
  );
}

const kinds: Readonly<Record<string, { readonly from: number; readonly options: ShopProduct['options'] }>> = {
  shirt: {
    from: 15,
    options: { size: ['small', 'medium', 'large'], color: ['red', 'blue', 'white', 'green'] },
  },
  jacket: { from: 60, options: { size: ['small', 'medium', 'large'], color: ['black', 'brown', 'blue'] } },
  mug: { from: 6, options: { color: ['white', 'black', 'yellow'] } },
  lamp: { from: 25, options: { power: ['5 watt', '9 watt'] } },
  backpack: { from: 40, options: { size: ['20 liters', '30 liters'], color: ['black', 'red', 'grey'] } },
  chair: { from: 70, options: { material: ['oak', 'pine', 'steel'] } },
  headphones: { from: 35, options: { color: ['black', 'white'] } },
};
const adjectives = [
  'light',
  'waterproof',
  'vintage',
  'organic',
  'foldable',
  'handmade',
  'durable',
  'slim',
  'soft',
  'recycled',
];

/** Catalogues that were drawn already. They are functions of their names, so keeping them changes nothing. */
const drawn = new Map<string, readonly ShopProduct[]>();

function productsOf(catalogue: string, count: number): readonly ShopProduct[] {
  const name = JSON.stringify([catalogue, count]);
  const known = drawn.get(name);
  if (known !== undefined) return known;
  const products = Array.from({ length: count }, (_, index) =>
    drawProduct(RandomStream.named('shop', catalogue, index), index),
  );
  if (drawn.size >= 32) drawn.clear();
  drawn.set(name, products);
  return products;
}

function drawProduct(random: RandomStream, index: number): ShopProduct {
  const kind = pick(random, Object.keys(kinds));
  const { from, options } = kinds[kind]!;
  const attributes = random.shuffle(adjectives).slice(0, 3);
  const price = Math.round(from * (100 + 150 * random.uniform())) / 100;
  return { id: `p${index + 1}`, title: `${attributes.join(' ')} ${kind}`, kind, attributes, price, options };
}

function productOf({ catalogue, products, open }: ShopPosition): ShopProduct | undefined {
  return productsOf(catalogue, products).find(({ id }) => id === open);
}

function acted(position: ShopPosition, verb: string, argument: string): ShopPosition | Refusal {
  const { open: _, ...closed } = position;
  const product = productOf(position);
  if (verb === 'search') return { ...closed, found: search(position, argument), chosen: {} };
  if (verb === 'back') return { ...closed, chosen: {} };
  if (verb === 'open') {
    if (!position.found.includes(argument)) return { refusal: 'Open one of the ids that the search found.' };
    return { ...closed, open: argument, chosen: {} };
  }
  if (product === undefined) return { refusal: 'Open a product first.' };
  if (verb === 'buy') return { ...position, isBought: true };
  const [name = '', value = ''] = argument.split('=').map((part) => part.trim());
  const values = Object.hasOwn(product.options, name) ? product.options[name]! : [];
  if (!values.includes(value)) return { refusal: `Expected one of ${optionsText(product)}.` };
  return { ...position, chosen: { ...position.chosen, [name]: value } };
}

/** Ids of at most ten products, those with most of the words first. */
function search({ catalogue, products }: ShopPosition, query: string): string[] {
  const words = query.split(/\W+/).filter(Boolean).slice(0, 20);
  return productsOf(catalogue, products)
    .map(({ id, title }) => ({ id, hits: words.filter((word) => title.split(' ').includes(word)).length }))
    .filter(({ hits }) => hits > 0)
    .toSorted((a, b) => b.hits - a.hits)
    .slice(0, 10)
    .map(({ id }) => id);
}

function optionsText({ options }: ShopProduct): string {
  return Object.entries(options)
    .map(([name, values]) => `${name}: ${values.join(', ')}`)
    .join('; ');
}

function viewed(position: ShopPosition): string {
  const product = productOf(position);
  if (position.isBought) return `You bought ${product?.title}.`;
  if (product === undefined) {
    const { found, catalogue, products } = position;
    if (found.length === 0) return 'The shop is open. No results.';
    const known = productsOf(catalogue, products);
    return found
      .map((id) => known.find((one) => one.id === id)!)
      .map(({ id, title, price }) => `[${id}] ${title} $${price}`)
      .join('\n');
  }
  const chosen = Object.entries(position.chosen).map(([name, value]) => `${name}=${value}`);
  return `[${product.id}] ${product.title} $${product.price}\n${optionsText(product)}\nChosen: ${chosen.join(', ') || 'nothing'}`;
}

/** Share of the wishes that the open product with its choices meets. */
function worth(position: ShopPosition): number {
  const product = productOf(position);
  if (product === undefined) return 0;
  const { kind, attributes, choices, maxPrice } = position.wish;
  const met = [
    product.kind === kind,
    product.price <= maxPrice,
    ...attributes.map((attribute) => product.attributes.includes(attribute)),
    ...Object.entries(choices).map(([name, value]) => position.chosen[name] === value),
  ];
  const share = met.filter(Boolean).length / met.length;
  return product.kind === kind ? share : Math.min(0.1, share);
}

function nextCommand(position: ShopPosition): string {
  const { wish, catalogue, products, found, open, chosen } = position;
  const isFit = ({ kind, price, attributes }: ShopProduct) =>
    kind === wish.kind &&
    price <= wish.maxPrice &&
    wish.attributes.every((wanted) => attributes.includes(wanted));
  const fit = productsOf(catalogue, products).find((product) => found.includes(product.id) && isFit(product));
  if (fit === undefined) return `search[${[...wish.attributes, wish.kind].join(' ')}]`;
  if (open !== fit.id) return `open[${fit.id}]`;
  const missing = Object.entries(wish.choices).find(([name, value]) => chosen[name] !== value);
  return missing ? `choose[${missing[0]}=${missing[1]}]` : 'buy';
}
