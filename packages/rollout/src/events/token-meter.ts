/** Length of the window, and of its parts, in milliseconds. */
const windowMs = 10_000;
const partMs = 500;

/** Counts sampled tokens over the last ten seconds. */
export class TokenMeter {
  readonly #clock: (() => number) | undefined;
  readonly #parts: { readonly atMs: number; tokens: number }[] = [];
  #beganMs: number | undefined;

  constructor(clock: (() => number) | undefined) {
    this.#clock = clock;
  }

  add(tokens: number): void {
    if (this.#clock === undefined) return;
    const now = this.#clock();
    this.#beganMs ??= now;
    const last = this.#parts.at(-1);
    if (last !== undefined && now - last.atMs < partMs) last.tokens += tokens;
    else this.#parts.push({ atMs: now, tokens });
    while (this.#parts[0]!.atMs < now - windowMs) this.#parts.shift();
  }

  /** Tokens per second. `undefined` without a clock, or before time has passed. */
  get perSecond(): number | undefined {
    if (this.#clock === undefined) return undefined;
    const now = this.#clock();
    const elapsedMs = Math.min(windowMs, now - (this.#beganMs ?? now));
    const recent = this.#parts.filter(({ atMs }) => atMs >= now - windowMs);
    const tokens = recent.reduce((sum, part) => sum + part.tokens, 0);
    return elapsedMs > 0 ? (tokens * 1000) / elapsedMs : undefined;
  }
}
