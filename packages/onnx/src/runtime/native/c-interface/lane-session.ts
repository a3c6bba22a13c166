import type { Tensor } from 'onnxruntime-common';
import type { Tensors } from '../../protocol.ts';
import type { NativeSession } from '../native.ts';
import { boundOutputs, namesOf, type SessionParts } from './bound-session.ts';
import type { Pointer } from './interface.ts';

/** What one run at a time reads and writes. What was bound last stays bound. */
interface Lane {
  readonly binding: Pointer;
  /** Tensors that inputs and outputs are bound to, so that their memory lives. Outputs that ONNX Runtime allocates have none. */
  readonly inputs: Map<string, Tensor>;
  readonly outputs: Map<string, Tensor | undefined>;
}

/** A session on the processor whose runs leave the thread, so that several may be under way. */
export class LaneSession implements NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #parts: SessionParts;
  readonly #lanes: Lane[] = [];
  /** Lanes without a run, the last used one last. */
  readonly #free: Lane[] = [];
  /** Runs under way. */
  readonly #runs = new Set<Promise<Tensors>>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.inputNames = namesOf(parts, 'Input');
    this.outputNames = namesOf(parts, 'Output');
  }

  async run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    const run = this.#compute(feeds, fetch, into);
    this.#runs.add(run);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  endProfiling(): void {
    const { ort, session, allocator } = this.#parts;
    ort.call('AllocatorFree', allocator, ort.make('SessionEndProfiling', session, allocator));
  }

  /** Waits for runs under way, which read the session. */
  async release(): Promise<void> {
    const { ort, session } = this.#parts;
    await Promise.allSettled(this.#runs);
    for (const { binding } of this.#lanes) ort.call('ReleaseIoBinding', binding);
    ort.call('ReleaseSession', session);
  }

  async #compute(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    const { ort, session } = this.#parts;
    const lane = this.#free.pop() ?? this.#open();
    try {
      for (const name of this.inputNames) this.#bindInput(lane, name, feeds[name]);
      this.#bindOutputs(lane, fetch, into);
      await ort.callBeside('RunWithBinding', session, null, lane.binding);
      return this.#results(lane, fetch, into);
    } finally {
      this.#free.push(lane);
    }
  }

  #open(): Lane {
    const { ort, session } = this.#parts;
    const lane = { binding: ort.make('CreateIoBinding', session), inputs: new Map(), outputs: new Map() };
    this.#lanes.push(lane);
    return lane;
  }

  #bindInput({ binding, inputs }: Lane, name: string, tensor: Tensor | undefined): void {
    const { ort, values } = this.#parts;
    if (tensor === undefined) throw new TypeError(`input "${name}" is missing from the feeds`);
    if (inputs.get(name) === tensor && tensor.location === 'cpu') return;
    values.during(tensor, (value) => ort.call('BindInput', binding, name, value));
    inputs.set(name, tensor);
  }

  #bindOutputs({ binding, outputs }: Lane, fetch: readonly string[], into: Tensors): void {
    const { ort, values, memories } = this.#parts;
    if (outputs.size !== fetch.length || fetch.some((name) => !outputs.has(name))) {
      ort.call('ClearBoundOutputs', binding);
      outputs.clear();
    }
    for (const name of fetch) {
      const given = into[name];
      if (given === undefined) ort.call('BindOutputToDevice', binding, name, memories.host);
      else if (outputs.get(name) !== given)
        values.during(given, (value) => ort.call('BindOutput', binding, name, value));
      outputs.set(name, given);
    }
  }

  #results({ binding, outputs }: Lane, fetch: readonly string[], into: Tensors): Tensors {
    if (fetch.every((name) => into[name] !== undefined)) return into;
    const { values } = this.#parts;
    const made: Record<string, Tensor> = {};
    const pointers = boundOutputs(this.#parts, binding);
    for (const [index, name] of [...outputs.keys()].entries()) {
      made[name] = into[name] ?? values.hostTensor(pointers[index]!);
      values.release(pointers[index]!);
    }
    return Object.fromEntries(fetch.map((name) => [name, made[name]!]));
  }
}
