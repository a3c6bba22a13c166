import { FormatError, type Message } from '@rlp/core';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { threadsOf } from './numbers.ts';
import { loadPolicy, type OpenPolicy, startPolicy } from './open-policy.ts';
import { samplingArgs, samplingOf } from './sampling-flags.ts';

/** `rlp chat`. */
export const chatCommand = defineCommand({
  meta: { name: 'chat', description: 'Talk to a model. /reset forgets the conversation, /exit ends it' },
  args: {
    model: { type: 'positional', description: 'Model folder, or folder of a run', required: true },
    system: { type: 'string', description: 'System message', valueHint: 'TEXT' },
    ...samplingArgs,
    json: { type: 'boolean', description: 'Print each message as JSON' },
  },
  async run({ args, data }) {
    const context = data as CliContext;
    const sampling = samplingOf(args);
    const loaded = await loadPolicy(args.model);
    if (loaded.model.chat === undefined) {
      throw new FormatError(`${loaded.folder} has no chat template; use rlp generate`);
    }
    const threads = threadsOf(args.threads);
    await using policy = await startPolicy(loaded, {
      ...{ threads, engine: context.engine, sequences: 1 },
      earlier: 'used',
    });
    const opening: Message[] = args.system === undefined ? [] : [{ role: 'system', content: args.system }];
    let messages = opening;
    let turn = 0;
    context.printError('Type a message. /reset forgets the conversation, /exit ends it.');
    for await (const line of linesOf(context.input)) {
      if (line === '/exit') break;
      if (line === '/reset') messages = opening;
      if (line.trim() === '' || line === '/reset') continue;
      const seed = `${args.seed ?? 'chat'}/${turn++}`;
      messages = [...messages, { role: 'user', content: line }];
      const answer = await answered(
        messages,
        policy,
        { ...sampling, seed },
        { ...context, isJson: args.json === true },
      );
      messages = [...messages, { role: 'assistant', content: answer }];
    }
  },
});

/** Streams the answer, or prints it as a JSON object. */
async function answered(
  messages: readonly Message[],
  { inference }: OpenPolicy,
  options: ReturnType<typeof samplingOf> & { readonly seed: string },
  { write, print, signal, isJson }: CliContext & { readonly isJson: boolean },
): Promise<string> {
  const isStreamed = write !== undefined && !isJson;
  let answer = '';
  for await (const text of inference.stream(messages, {
    maxTokens: 512,
    ...options,
    ...(signal && { signal }),
  })) {
    answer += text;
    if (isStreamed) write(text);
  }
  if (isStreamed) write('\n');
  else print(isJson ? JSON.stringify({ role: 'assistant', content: answer }) : answer);
  return answer;
}

/** Lines of a text that comes in pieces. */
async function* linesOf(input: AsyncIterable<string> | undefined): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const piece of input ?? []) {
    const lines = (rest + piece).split(/\r?\n/);
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
