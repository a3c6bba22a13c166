import type { QuickJSHandle } from 'quickjs-emscripten-core';
import { peerPrelude } from './peer.ts';
import type { JobReport } from './protocol.ts';
import { passTime, Stop, type World } from './world.ts';

/** The functions of a world that the other one reaches, through text. */
interface Peer {
  readonly serve: QuickJSHandle;
  readonly settle: QuickJSHandle;
}

/**
 * A program and its tests, each in a separate engine.
 *
 * The tests find the program's functions by name and call them through text. What comes back are values of the tests' own
 * world. Only the end of the tests passes them: nothing that the program does can reach it.
 */
export class TestWorlds {
  readonly #program: World;
  readonly #tests: World;
  readonly #peers = new Map<World, Peer>();
  /** Promises that settled, by the world that is to know. */
  readonly #news: { readonly to: World; readonly text: string }[] = [];
  #broken: unknown;

  constructor(program: World, tests: World) {
    this.#program = program;
    this.#tests = tests;
  }

  run(code: string, test: string): JobReport['result'] {
    for (const [world, other] of [
      [this.#program, this.#tests],
      [this.#tests, this.#program],
    ] as const) {
      world.prepareProgram('');
      this.#peers.set(world, this.#connect(world, other));
    }
    const wait = () => passTime([this.#program, this.#tests]);
    const script = asScript(code, (source) => this.#program.compiles(source));
    this.#program.settled(this.#program.evaluate(script, 'program.js'), () => this.#deliver(), wait);
    // With an object as scope, names that the tests do not define are looked up in the program.
    const last = this.#tests.evaluate(this.#isScript(test) ? scoped(test) : awaiting(test), 'tests.js');
    this.#tests.settled(last, () => this.#deliver(), wait);
    if (this.#broken !== undefined) throw this.#broken;
    return { kind: 'value', json: 'null' };
  }

  /** Whether tests are a script. They are none if they await something at their top. */
  #isScript(test: string): boolean {
    const isFunction = (source: string) => this.#tests.compiles(source);
    return !/\bawait\b/.test(test) || isFunction(scoped(test)) || !isFunction(awaiting(test));
  }

  #connect(world: World, other: World): Peer {
    const ask = world.hostFunction('ask', (text) => {
      // An exception here reaches the tests as one that they could catch, so the end asks again.
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const answer = other.callText(this.#peers.get(other)!.serve, text);
        // The program must not catch what fails in a function of the tests.
        if (other === this.#tests && answer.startsWith('{"kind":"failed"')) {
          throw new Stop('threw', 'an assertion failed in a function that the program called');
        }
        return answer;
      } catch (error) {
        this.#broken ??= error;
        throw error;
      }
    });
    const notify = world.hostFunction('notify', (text) => {
      this.#news.push({ to: other, text });
      return '';
    });
    const [serve, settle] = world.callPair(peerPrelude, [
      ask,
      notify,
      world === this.#tests ? 'true' : 'false',
    ]);
    return { serve, settle };
  }

  /** Lets both worlds go on until nothing is left to do. Returns whether anything was. */
  #deliver(): boolean {
    let hasMoved = false;
    for (let isMoving = true; isMoving; hasMoved ||= isMoving) {
      isMoving = [this.#program, this.#tests].map((world) => world.runJobs()).some(Boolean);
      for (const { to, text } of this.#news.splice(0)) {
        isMoving = true;
        to.callText(this.#peers.get(to)!.settle, text);
      }
    }
    return hasMoved;
  }
}

const scoped = (test: string) => `with (scopeOfTests) {\n${test}\n}`;
const awaiting = (test: string) => `with (scopeOfTests) { (async () => {\n${test}\n})() }`;

/** An export at the begin of a line: before a declaration, or of names. In linear time, whatever the program is. */
const exported =
  /^export\s+(?:(?:default\s+)?(?=(?:async\s+)?function\b|class\b|const\b|let\b|var\b)|(default\s+[\w$]+|\{[\w$\s,]*\})(?:[^\S\n]*;)?[^\S\n]*$)/gm;

/**
 * A module as a script: its exports are its names, so `export default f;` and `export { f };` say nothing new. What is left of them ends
 * the statement before, as they do.
 *
 * Lines of templates, comments and strings may look like exports. The parser of the engine decides: a bracket that closes nothing spoils a
 * script, but not a text in it.
 */
function asScript(code: string, compiles: (script: string) => boolean): string {
  const places = new Set(Array.from(code.matchAll(exported), ({ index }) => index));
  const without = (exports: ReadonlySet<number>, spoilt?: number) =>
    code.replace(exported, (line, names: string | undefined, at: number) =>
      exports.has(at) ? (at === spoilt ? ')' : '') + (names === undefined ? '' : ';') : line,
    );
  if (!/[`\\\u2028\u2029]|\/\*/.test(code)) return without(places);
  return without(new Set([...places].filter((at) => !compiles(without(places, at)))));
}
