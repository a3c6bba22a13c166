/**
 * How the time of one match can grow with the text, in the worst case. `'exponential'`: text of 40 characters can take for ever.
 * `'polynomial'`: more than linear, or unknown. Each place where a match may start counts apart.
 */
export type MatchCost = 'linear' | 'polynomial' | 'exponential';

/** Code points on which two classes of characters are compared: all scripts, each more thinly than the first. */
const generalSample = [
  ...Array.from({ length: 0x250 }, (_, code) => code),
  ...Array.from({ length: 0x300 }, (_, index) => 0x250 + index * 85),
  ...Array.from({ length: 0x40 }, (_, index) => 0x10000 + index * 0x400 + 7),
  0x2028,
  0x3000,
  0xfeff,
].filter((code) => code < 0xd800 || code > 0xdfff);

/** Steps of the analysis. A pattern that needs more is not judged. */
const maxSteps = 2_000_000;

/** States of a Glushkov automaton: places of characters in a pattern, and which may follow which. */
export class Positions {
  readonly #flags: string;
  readonly #sources: string[] = [];
  /** How many ways there are from one state to another. */
  readonly #follow: Map<number, number>[] = [];
  /** For each state, the number of its class. */
  #classes: readonly number[] = [];
  #accepted: readonly Uint8Array[] = [];
  readonly #overlaps = new Map<number, boolean>();
  #steps = 0;

  constructor(flags: string) {
    this.#flags = flags.replace(/[gyd]/g, '');
  }

  get size(): number {
    return this.#sources.length;
  }

  /** Adds a place for a character of a class, in the syntax of patterns. */
  add(source: string): number {
    this.#follow.push(new Map());
    return this.#sources.push(source) - 1;
  }

  /** Lets each of `to` follow each of `from`. */
  connect(from: readonly number[], to: readonly number[]): void {
    if (from.length * to.length > 250_000) throw new RangeError('too many connections');
    for (const p of from) {
      const follow = this.#follow[p]!;
      for (const q of to) follow.set(q, (follow.get(q) ?? 0) + 1);
    }
  }

  /**
   * Worst case of a match, whose cycles through `free` states always succeed.
   *
   * @throws RangeError for a pattern that is too large to judge.
   */
  cost(free: ReadonlySet<number>): MatchCost {
    const next = this.#follow.map((follow, p) =>
      free.has(p) ? [] : [...follow.keys()].filter((q) => !free.has(q)),
    );
    const reached = next.map((_, p) => this.#reachable(next, p));
    const cyclic = next.flatMap((_, p) => (reached[p]!.has(p) ? [p] : []));
    if (cyclic.length === 0) return 'linear';
    this.#classify();
    const together = (p: number, q: number) => reached[p]!.has(q) && reached[q]!.has(p);
    for (const p of cyclic) {
      this.#spend(cyclic.length);
      const cycle = cyclic.filter((q) => together(p, q));
      if (this.#isAmbiguous(p, new Set(cycle), next)) return 'exponential';
    }
    const isDouble = cyclic.some((p) =>
      cyclic.some((q) => reached[p]!.has(q) && !together(p, q) && this.#overlap(p, q)),
    );
    return isDouble ? 'polynomial' : 'linear';
  }

  /** Whether one text leads from a state back to it along two ways. */
  #isAmbiguous(start: number, cycle: ReadonlySet<number>, next: readonly (readonly number[])[]): boolean {
    const inside = (p: number) => next[p]!.filter((q) => cycle.has(q));
    if (inside(start).some((q) => this.#follow[start]!.get(q)! > 1)) return true;
    const size = this.size;
    const edges = new Map<number, number[]>();
    const queue = [start * size + start];
    const seen = new Set(queue);
    for (const pair of queue) {
      const [p, q] = [Math.floor(pair / size), pair % size];
      const targets: number[] = [];
      const [ofP, ofQ] = [inside(p), inside(q)];
      this.#spend(ofP.length * ofQ.length);
      for (const a of ofP) {
        for (const b of ofQ) if (this.#overlap(a, b)) targets.push(a * size + b);
      }
      for (const target of targets) {
        const known = edges.get(target);
        if (known) known.push(pair);
        else edges.set(target, [pair]);
        if (seen.has(target)) continue;
        seen.add(target);
        queue.push(target);
      }
    }
    // Back from the start: another pair on the way means that two ways part and meet again.
    const back = [start * size + start];
    const leading = new Set(back);
    for (const pair of back) {
      for (const before of edges.get(pair) ?? []) {
        if (Math.floor(before / size) !== before % size) return true;
        if (leading.has(before)) continue;
        leading.add(before);
        back.push(before);
      }
    }
    return false;
  }

  /** Finds which of the sampled characters each class takes. */
  #classify(): void {
    const literal = [...new Set(this.#sources.join(''))].flatMap((character) => {
      const code = character.codePointAt(0)!;
      return [code - 1, code, code + 1];
    });
    const sample = [...new Set([...generalSample, ...literal])]
      .filter((code) => code >= 0 && (code < 0xd800 || code > 0xdfff))
      .map((code) => String.fromCodePoint(code));
    const unique = [...new Set(this.#sources)];
    this.#spend(unique.length * sample.length);
    this.#accepted = unique.map((source) => this.#acceptedBy(source, sample));
    const numbers = new Map(unique.map((source, number) => [source, number]));
    this.#classes = this.#sources.map((source) => numbers.get(source)!);
  }

  #acceptedBy(source: string, sample: readonly string[]): Uint8Array {
    const pattern = new RegExp(`^(?:${source})$`, this.#flags);
    return Uint8Array.from(sample, (character) => (pattern.test(character) ? 1 : 0));
  }

  #overlap(p: number, q: number): boolean {
    const [a, b] = [this.#classes[p]!, this.#classes[q]!];
    const key = a * this.#accepted.length + b;
    const known = this.#overlaps.get(key);
    if (known !== undefined) return known;
    const other = this.#accepted[b]!;
    const overlap = this.#accepted[a]!.some((value, index) => value + other[index]! === 2);
    this.#overlaps.set(key, overlap);
    return overlap;
  }

  /** States that can be reached in one step or more. */
  #reachable(next: readonly (readonly number[])[], start: number): Set<number> {
    const seen = new Set<number>();
    const queue = [start];
    for (const p of queue) {
      this.#spend(next[p]!.length);
      for (const q of next[p]!) {
        if (seen.has(q)) continue;
        seen.add(q);
        queue.push(q);
      }
    }
    return seen;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > maxSteps) throw new RangeError('too many steps');
  }
}
