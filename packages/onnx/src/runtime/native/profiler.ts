import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError } from '@rlp/core';

import type { SessionProfiler } from '../platform.ts';
import type { OperatorTime } from '../protocol.ts';
import type { NativeSession } from './native.ts';

/** Fields of a profile event that are read. */
interface ProfileEvent {
  readonly cat?: string;
  readonly name?: string;
  readonly dur?: number;
  readonly args?: { readonly op_name?: string };
}

/** Collects session profiles and sums kernel times by operator. */
export class Profiler implements SessionProfiler {
  readonly #totals = new Map<string, { count: number; microseconds: number }>();
  #folder: string | undefined;
  #next = 0;

  prefix(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'rlp-profile-'));
    return join(this.#folder, `session-${this.#next++}-`);
  }

  collect(session: NativeSession): void {
    session.endProfiling();
    this.#readFiles();
  }

  times(): OperatorTime[] {
    return [...this.#totals]
      .map(([operator, { count, microseconds }]) => ({ operator, count, milliseconds: microseconds / 1000 }))
      .sort((a, b) => b.milliseconds - a.milliseconds);
  }

  dispose(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  /** Reads complete files. Running sessions have empty files, which stay. */
  #readFiles(): void {
    if (this.#folder === undefined) return;
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      const text = readFileSync(path, 'utf8');
      if (!text.trimEnd().endsWith(']')) continue;
      for (const event of parseProfile(path, text)) this.#add(event);
      rmSync(path);
    }
  }

  #add({ cat, name, dur = 0, args }: ProfileEvent): void {
    if (cat !== 'Node' || !name?.endsWith('_kernel_time') || args?.op_name === undefined) return;
    const total = this.#totals.get(args.op_name) ?? { count: 0, microseconds: 0 };
    total.count += 1;
    total.microseconds += dur;
    this.#totals.set(args.op_name, total);
  }
}

function parseProfile(path: string, text: string): readonly ProfileEvent[] {
  try {
    return JSON.parse(text) as readonly ProfileEvent[];
  } catch (cause) {
    throw new FormatError(`${path}: expected a profile of ONNX Runtime`, { cause });
  }
}
