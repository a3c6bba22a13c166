import {
  ArgumentError,
  type Environment,
  type Message,
  parseOptions,
  promptMessages,
  requireFields,
  type State,
} from '@rlp/core';
import * as z from 'zod';
import { environmentMethods, lift } from '../lift.ts';
import { type Tool, type ToolContext, tool } from '../tools/tool.ts';
import { ToolLayer, toolLayerSchema } from '../tools/tool-layer.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import { type Keyed, opened } from './layer.ts';

const schema = z.strictObject({
  /** Characters that the notebook holds. A note that does not fit is refused. Default 2000. */
  maxCharacters: z.int().min(1).default(2_000),
  /**
   * Turns of the conversation that the policy still sees. Older ones are dropped from the prompt, and the notebook is shown instead.
   * The record of the episode has all of them. By default all turns stay.
   */
  keepTurns: z.int().min(1).optional(),
});

/** Options of {@link withMemory}. */
export interface MemoryOptions extends z.input<typeof schema> {}

/** A notebook of the policy. */
export interface Notebook {
  readonly text: string;
  /** Messages before the policy's first response. They are never dropped. */
  readonly opening: number;
  /** Turns that the prompt keeps. Absent if it keeps all. */
  readonly keepTurns?: number | undefined;
}

/** State of an environment with a notebook: the notes, and the calls that wrote them. */
export type WithMemory<S extends State> = Keyed<Keyed<S, 'notebook', Notebook>, 'memory', ToolUse>;

/**
 * The same environment, in which the policy has a notebook. It writes by the tool `write_notes`, and reads by `read_notes` or in
 * the prompt, once old turns were dropped.
 *
 * Put it outside of all other layers, so that old turns are dropped with their tool results. Tools rather than tags, because the
 * policy reads why a note was refused, and calls are counted in the record. Metrics: `memory/characters`, `memory/calls`, `memory/errors`
 * and `memory/spent`.
 *
 * With `keepTurns`, prompts after the first dropped turn do not continue earlier ones. Each such turn is a separate training row.
 *
 * @throws OptionsError naming every problem at once.
 */
export function withMemory<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  options: MemoryOptions = {},
): Environment<WithMemory<S>, Metadata, Outcome> {
  requireFields('withMemory', environmentMethods, environment);
  const { keepTurns, maxCharacters } = parseOptions('withMemory', schema, options, 'MemoryOptions');
  const settings = {
    ...toolLayerSchema.parse({ maxCalls: Number.MAX_SAFE_INTEGER, maxCallsPerTurn: 1 }),
    owner: 'withMemory',
    key: 'memory' as const,
    order: 'in-order' as const,
  };
  const tools = notebookTools<Keyed<S, 'notebook', Notebook>>(maxCharacters);
  const layered = new ToolLayer(withNotebook(environment, keepTurns), tools, settings).environment();
  if (keepTurns === undefined) return layered;
  const whole = (state: WithMemory<S>) => promptMessages(layered.buildPrompt(state));
  return {
    ...layered,
    buildPrompt: (state) => remembered(whole(state), state.notebook, keepTurns),
    transcript: layered.transcript ?? whole,
  };
}

/** An environment with an empty notebook in its state. */
function withNotebook<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  keepTurns: number | undefined,
): Environment<Keyed<S, 'notebook', Notebook>, Metadata, Outcome> {
  type Outer = Keyed<S, 'notebook', Notebook>;
  const inner = ({ notebook: _, ...state }: Outer) => state as unknown as S;
  return {
    ...lift(environment, inner),
    reset: async (task, seed, context) => {
      const state = await environment.reset(task, seed, context);
      const opening = promptMessages(environment.buildPrompt(state)).length;
      return opened('withMemory', state, 'notebook', { text: '', opening, ...(keepTurns && { keepTurns }) });
    },
    updateState: async (state, response, context) => {
      const next = await environment.updateState(inner(state), response, context);
      return { ...next, notebook: state.notebook } as Outer;
    },
    metrics: (state) => ({
      ...environment.metrics?.(inner(state)),
      'memory/characters': state.notebook.text.length,
    }),
  };
}

function notebookTools<S extends Keyed<State, 'notebook', Notebook>>(
  maxCharacters: number,
): readonly Tool<S>[] {
  const write = tool({
    name: 'write_notes',
    description: `Writes into your notebook, which holds ${maxCharacters} characters. Old turns may be dropped; your notes stay.`,
    parameters: z.object({ text: z.string(), mode: z.enum(['append', 'replace']).default('append') }),
    cost: 0,
    execute: ({ text, mode }, { state, update }: ToolContext<S>) => {
      const before = mode === 'replace' || state.notebook.text === '' ? '' : `${state.notebook.text}\n`;
      const after = before + text;
      if (after.length > maxCharacters) {
        throw new ArgumentError(
          `the notebook holds ${maxCharacters} characters and this would make ${after.length}: replace it by a shorter text`,
        );
      }
      update((now) => ({ ...now, notebook: { ...now.notebook, text: after } }));
      return shown(after);
    },
  });
  const read = tool({
    name: 'read_notes',
    description: 'Reads your notebook.',
    parameters: z.object({}),
    cost: 0,
    execute: (_, { state }: ToolContext<S>) => shown(state.notebook.text),
  });
  return [write, read];
}

function shown(text: string): string {
  return `Your notebook:\n${text || '(empty)'}`;
}

/** The prompt without old turns. The notebook then stands at the end of what the policy was first told. */
function remembered(
  messages: readonly Message[],
  { text, opening }: Notebook,
  keepTurns: number,
): readonly Message[] {
  const turns = messages.flatMap(({ role }, place) =>
    role === 'assistant' && place >= opening ? [place] : [],
  );
  const from = turns.at(-keepTurns);
  if (turns.length <= keepTurns || from === undefined) return messages;
  const first = messages.slice(0, opening);
  const last = first.at(-1);
  const kept = messages.slice(from);
  if (last === undefined) return [{ role: 'user', content: shown(text) }, ...kept];
  return [...first.slice(0, -1), { ...last, content: `${last.content}\n\n${shown(text)}` }, ...kept];
}
