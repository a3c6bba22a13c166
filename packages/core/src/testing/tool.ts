import type { State } from '../environment.ts';
import type { ToolSchema } from '../tool-schema.ts';
import { describe, expect, it } from './vitest.ts';

/** The parts of a tool that the suite calls. */
export interface ToolUnderTest {
  readonly schema: ToolSchema;
  readonly cost: number;
  readonly timeoutMs: number;
  run(args: Readonly<Record<string, unknown>>, context: never): unknown;
}

/** What the suite needs from a tool. */
export interface ToolSubject<S extends State> {
  readonly create: () => ToolUnderTest;
  /** State in which the tool is called. */
  readonly state: S;
  /** Arguments that it accepts in this state. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Arguments that it has to refuse. Default: none are tried. */
  readonly wrongArgs?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Contract of tools that a policy calls, as `tool` of `@rlp/env` makes them. Run it on every tool of yours.
 *
 * @param name - Names the tool in the report.
 */
export function describeTool<S extends State>(
  name: string,
  { create, state, args, wrongArgs }: ToolSubject<S>,
): void {
  const call = async (given: Readonly<Record<string, unknown>>) => {
    const changes: ((state: S) => S)[] = [];
    const frozen = freeze(structuredClone(state));
    const context = {
      state: frozen,
      update: (change: (state: S) => S) => changes.push(change),
      signal: new AbortController().signal,
      callId: 'call00000',
    };
    const work = async () => create().run(freeze(structuredClone(given)), context as never);
    const result = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    return { changes, frozen, ...result };
  };

  describe(`${name} is a tool`, () => {
    it('tells the policy its name, what it does and the object that it takes', () => {
      const { type, function: told } = create().schema;
      expect([type, told.parameters?.type]).toEqual(['function', 'object']);
      expect(told.name).toMatch(/^[\w.-]{1,64}$/);
      expect(told.description).toMatch(/\S/);
      expect(JSON.parse(JSON.stringify(told))).toEqual(told);
    });

    it('has limits', () => {
      const { cost, timeoutMs } = create();
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(timeoutMs).toBeGreaterThan(0);
      expect([cost, timeoutMs].every(Number.isFinite)).toBe(true);
    });

    it('answers with text or JSON, and changes neither state nor arguments in place', async () => {
      const result = await call(args);
      expect(result).not.toHaveProperty('error');
      const value = 'value' in result ? (result.value ?? null) : undefined;
      expect(JSON.stringify(value)).toBeTypeOf('string');
      expect(result.frozen).toEqual(state);
    });

    it('changes the state to a value that can be copied', async () => {
      const { changes, frozen } = await call(args);
      const changed = changes.reduce((now, change) => change(now), frozen);
      expect(structuredClone(changed)).toEqual(changed);
    });

    it('can be called twice at once', async () => {
      const results = await Promise.all([call(args), call(args)]);
      for (const result of results) expect(result).not.toHaveProperty('error');
    });

    it('refuses wrong arguments with a message, and then changes nothing', async () => {
      if (wrongArgs === undefined) return;
      const result = await call(wrongArgs);
      expect(result).toHaveProperty('error.message', expect.stringMatching(/\S/));
      expect(result.changes).toEqual([]);
    });
  });
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
