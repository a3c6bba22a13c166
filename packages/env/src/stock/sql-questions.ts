import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { between, pick, scaled } from '../draws.ts';
import { bare, type Game, gameTasks } from './game.ts';

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  /** Statements that make the database. */
  sql: z.string().min(1),
  question: z.string().min(1),
  /** The right answer, computed without SQL. */
  answer: z.string().min(1),
  /** A query that gives the answer. */
  query: z.string().min(1),
});

/** A database and a question about it. */
export interface SqlQuestionsSetup extends z.output<typeof setupSchema> {}

/** The question, and what was answered. */
export interface SqlQuestionsPosition extends Omit<SqlQuestionsSetup, 'maxTurns' | 'sql'> {
  readonly given?: string;
}

/**
 * Answer a question about a database of a shop. Give the policy the database with `withWorld` and `createSqlWorld`, which opens `metadata.sql`.
 *
 * Difficulty: from 10 orders to 80, from counts to groups over two tables. The first answer without a call counts.
 * `withWorld` limits the calls. Score: 1 for the right answer. The solver has the answer, and `metadata.query` has the query.
 */
export const sqlQuestions: Game<SqlQuestionsSetup, SqlQuestionsPosition> = {
  name: 'sql-questions',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('sql-questions', options, (random, difficulty) => {
      const shop = drawShop(random, scaled(difficulty, 10, 80));
      const kinds = questions.slice(0, scaled(difficulty, 2, questions.length));
      return {
        prompt: instructions,
        setup: { maxTurns: 1, sql: statements(shop), ...pick(random, kinds)(random, shop) },
      };
    }),
  start: ({ question, answer, query }) => ({ question, answer, query }),
  play: (position, text) =>
    text === '' ? { refusal: 'Expected an answer.' } : { ...position, given: bare(text) },
  view: ({ question }) => question,
  news: ({ given }) => `You answered ${given}.`,
  isOver: ({ given }) => given !== undefined,
  score: ({ given, answer }) => (given === answer.toLowerCase() ? 1 : 0),
  solve: ({ answer }) => answer,
};

const instructions =
  'A shop has an SQLite database: customers(id, name, city), orders(id, customer_id, product, quantity, price), where price is of one ' +
  'piece in whole dollars. Query it, then answer with one number or name alone.';

interface Customer {
  readonly id: number;
  readonly name: string;
  readonly city: string;
}

interface Order {
  readonly id: number;
  readonly customer: number;
  readonly product: string;
  readonly quantity: number;
  readonly price: number;
}

interface Shop {
  readonly customers: readonly Customer[];
  readonly orders: readonly Order[];
}

const names = ['Ada', 'Boris', 'Chen', 'Dina', 'Elif', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas'];
const cities = ['Bern', 'Lima', 'Oslo', 'Porto'];
const products = ['lamp', 'chair', 'mug', 'rug', 'clock'];

function drawShop(random: RandomStream, count: number): Shop {
  const customers = names.map((name, index) => ({ id: index + 1, name, city: pick(random, cities) }));
  const orders = Array.from({ length: count }, (_, index) => ({
    ...{ id: index + 1, customer: between(random, 1, customers.length), product: pick(random, products) },
    ...{ quantity: between(random, 1, 9), price: between(random, 3, 60) },
  }));
  return { customers, orders };
}

function statements({ customers, orders }: Shop): string {
  const rows = (items: readonly (readonly (string | number)[])[]) =>
    items
      .map(
        (item) => `(${item.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ')})`,
      )
      .join(',\n');
  return (
    'CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);\n' +
    'CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), product TEXT, quantity INTEGER, price INTEGER);\n' +
    `INSERT INTO customers VALUES ${rows(customers.map(({ id, name, city }) => [id, name, city]))};\n` +
    `INSERT INTO orders VALUES ${rows(orders.map(({ id, customer, product, quantity, price }) => [id, customer, product, quantity, price]))};`
  );
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

type Question = Pick<SqlQuestionsSetup, 'question' | 'answer' | 'query'>;
const join = 'FROM orders JOIN customers ON customers.id = customer_id';

/** Questions with their answers and queries, the easier ones first. */
const questions: readonly ((random: RandomStream, shop: Shop) => Question)[] = [
  (random, { orders }) => {
    const product = pick(random, products);
    return {
      question: `How many orders are for the product ${product}?`,
      answer: String(orders.filter((order) => order.product === product).length),
      query: `SELECT COUNT(*) FROM orders WHERE product = '${product}'`,
    };
  },
  (random, { orders }) => {
    const bound = between(random, 10, 50);
    return {
      question: `What is the sum of the quantities of all orders with a price above ${bound}?`,
      answer: String(total(orders.filter(({ price }) => price > bound).map(({ quantity }) => quantity))),
      query: `SELECT COALESCE(SUM(quantity), 0) FROM orders WHERE price > ${bound}`,
    };
  },
  (random, { customers, orders }) => {
    const city = pick(random, cities);
    const there = new Set(customers.filter((customer) => customer.city === city).map(({ id }) => id));
    return {
      question: `How many dollars did the customers from ${city} spend in all?`,
      answer: String(
        total(
          orders.filter(({ customer }) => there.has(customer)).map(({ quantity, price }) => quantity * price),
        ),
      ),
      query: `SELECT COALESCE(SUM(quantity * price), 0) ${join} WHERE city = '${city}'`,
    };
  },
  (_, { customers, orders }) => {
    const without = customers.filter(({ id }) => !orders.some(({ customer }) => customer === id));
    return {
      question: 'How many customers have no order?',
      answer: String(without.length),
      query: 'SELECT COUNT(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)',
    };
  },
  (_, { customers, orders }) => {
    const spent = customers.map(({ id, name }) => ({
      name,
      dollars: total(
        orders.filter(({ customer }) => customer === id).map(({ quantity, price }) => quantity * price),
      ),
    }));
    return {
      question: 'Which customer spent most? If several did, the first by name.',
      answer: spent.toSorted((a, b) => b.dollars - a.dollars || (a.name < b.name ? -1 : 1))[0]!.name,
      query: `SELECT name ${join} GROUP BY customers.id ORDER BY SUM(quantity * price) DESC, name LIMIT 1`,
    };
  },
  (random, { customers, orders }) => {
    const product = pick(random, products);
    const buyers = new Set(
      orders.filter((order) => order.product === product).map(({ customer }) => customer),
    );
    return {
      question: `From how many different cities are the customers who ordered the product ${product}?`,
      answer: String(new Set(customers.filter(({ id }) => buyers.has(id)).map(({ city }) => city)).size),
      query: `SELECT COUNT(DISTINCT city) ${join} WHERE product = '${product}'`,
    };
  },
];
