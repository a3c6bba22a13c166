/** Numbers that one step of a loop takes, two vectors of two. Buffers are padded to whole steps. */
const stepBytes = 32;

const zero = '(v128.const f64x2 0 0)';
const one = '(v128.const f64x2 1 1)';
const half = '(v128.const f64x2 0.5 0.5)';
const two = '(v128.const f64x2 2 2)';

type Operation = (a: string, b: string) => string;
type Four = [Operation, Operation, Operation, Operation];

const get = (name: string) => `(local.get $${name})`;
const splat = (name: string) => `(f64x2.splat ${get(name)})`;
const of = (operation: string) => (a: string, b: string) => `(${operation} ${a} ${b})`;
const [add, sub, mul, div] = ['add', 'sub', 'mul', 'div'].map((name) => of(`f64x2.${name}`)) as Four;
const [min, max, lt, le] = ['min', 'max', 'lt', 'le'].map((name) => of(`f64x2.${name}`)) as Four;
const [gt, ge, eq, ne] = ['gt', 'ge', 'eq', 'ne'].map((name) => of(`f64x2.${name}`)) as Four;
const [and, or] = [of('v128.and'), of('v128.or')];

interface Loop {
  /** Operands by name. Each is the vector that a step reads of it. */
  readonly reads: readonly string[];
  readonly writes: 'out' | 'into';
  /** Numbers that every step uses. */
  readonly numbers?: readonly string[];
  readonly step: (operands: Readonly<Record<string, string>>) => string;
}

/** Both operands of a forward function. */
const binary = (step: Operation): Loop => ({
  reads: ['a', 'b'],
  writes: 'out',
  step: ({ a, b }) => step(a!, b!),
});

const unary = (step: (x: string) => string): Loop => ({
  reads: ['x'],
  writes: 'out',
  step: ({ x }) => step(x!),
});

/** Adds to `into`. What the step gives is 0 wherever no gradient flows. */
const adding = (reads: readonly string[], step: Loop['step'], numbers: readonly string[] = []): Loop => ({
  reads,
  writes: 'into',
  numbers,
  step: (operands) => add(operands.into!, step(operands)),
});

/** A slope times a gradient, and 0 where the gradient is 0, whatever the slope. */
const flowing = (gradient: string, product: string) => and(product, ne(gradient, zero));

const sharing = (closer: Operation) =>
  adding(['own', 'other', 'gradient'], ({ own, other, gradient }) =>
    or(and(gradient!, closer(own!, other!)), and(mul(half, gradient!), eq(own!, other!))),
  );

const loops: Readonly<Record<string, Loop>> = {
  add: binary(add),
  sub: binary(sub),
  mul: binary(mul),
  div: binary(div),
  minimum: binary(min),
  maximum: binary(max),
  greater: binary((a, b) => and(one, gt(a, b))),
  greaterEqual: binary((a, b) => and(one, ge(a, b))),
  neg: unary((x) => `(f64x2.neg ${x})`),
  abs: unary((x) => `(f64x2.abs ${x})`),
  square: unary((x) => mul(x, x)),
  sqrt: unary((x) => `(f64x2.sqrt ${x})`),
  clip: {
    reads: ['x'],
    writes: 'out',
    numbers: ['low', 'high'],
    step: ({ x }) => min(max(x!, splat('low')), splat('high')),
  },
  select: {
    reads: ['condition', 'a', 'b'],
    writes: 'out',
    step: ({ condition, a, b }) => `(v128.bitselect ${a} ${b} ${ne(condition!, zero)})`,
  },
  addInto: adding(['gradient'], ({ gradient }) => gradient!),
  subInto: {
    reads: ['gradient'],
    writes: 'into',
    step: ({ gradient, into }) => sub(into!, gradient!),
  },
  mulInto: adding(['other', 'gradient'], ({ other, gradient }) => flowing(gradient!, mul(gradient!, other!))),
  squareInto: adding(['x', 'gradient'], ({ x, gradient }) =>
    flowing(gradient!, mul(mul(two, gradient!), x!)),
  ),
  divInto: adding(['divisor', 'gradient'], ({ divisor, gradient }) =>
    flowing(gradient!, div(gradient!, divisor!)),
  ),
  smallerInto: sharing(lt),
  largerInto: sharing(gt),
  clipInto: adding(
    ['x', 'gradient'],
    ({ x, gradient }) => and(gradient!, and(ge(x!, splat('low')), le(x!, splat('high')))),
    ['low', 'high'],
  ),
  selectInto: adding(['condition', 'gradient'], ({ condition, gradient }) =>
    and(gradient!, ne(condition!, zero)),
  ),
  rejectInto: adding(['condition', 'gradient'], ({ condition, gradient }) =>
    and(gradient!, eq(condition!, zero)),
  ),
};

/** The kernel in WebAssembly's text format, with one function per loop, over `bytes` of every operand, and the memory they work on. */
export function kernelText(): string {
  const functions = Object.entries(loops).map(([name, loop]) => functionText(name, loop));
  return `(module\n  (memory (export "memory") 256 256)\n${functions.join('\n')})\n`;
}

function functionText(name: string, { reads, writes, numbers = [], step }: Loop): string {
  const pointers = [...reads, writes];
  const at = (offset: number) =>
    step(
      Object.fromEntries(
        pointers.map((pointer) => [pointer, `(v128.load offset=${offset} ${get(pointer)})`]),
      ),
    );
  const moved = pointers.map(
    (pointer) => `(local.set $${pointer} (i32.add ${get(pointer)} (i32.const ${stepBytes})))`,
  );
  const parameters = [
    ...[...pointers, 'bytes'].map((parameter) => `(param $${parameter} i32)`),
    ...numbers.map((number) => `(param $${number} f64)`),
  ];
  return `  (func (export "${name}") ${parameters.join(' ')}
    (local $end i32)
    (local.set $end (i32.add ${get(writes)} ${get('bytes')}))
    (loop $next
      (v128.store offset=0 ${get(writes)} ${at(0)})
      (v128.store offset=16 ${get(writes)} ${at(16)})
      ${moved.join('\n      ')}
      (br_if $next (i32.lt_u ${get(writes)} ${get('end')}))))`;
}
