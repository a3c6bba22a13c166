import { readFile } from 'node:fs/promises';
import { ArgumentError, lostCharacters, type Message } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import type { GenerateOptions } from '@rlp/inference';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { countOf, given, threadsOf } from './numbers.ts';
import { type LoadedPolicy, loadPolicy, type OpenPolicy, startPolicy } from './open-policy.ts';
import { samplingArgs, samplingOf } from './sampling-flags.ts';
import { UsageError } from './usage-error.ts';

/** `rlp generate`. */
export const generateCommand = defineCommand({
  meta: { name: 'generate', description: 'Complete prompts with a model, and stream the text' },
  args: {
    model: { type: 'positional', description: 'Model folder, or folder of a run', required: true },
    prompt: {
      type: 'positional',
      description: 'Text of the prompt. Default: read from --prompts or stdin',
      required: false,
    },
    prompts: {
      type: 'string',
      description: 'File with a prompt per line, or JSON Lines with "prompt"',
      valueHint: 'FILE',
    },
    system: { type: 'string', description: 'System message, for chat models', valueHint: 'TEXT' },
    raw: { type: 'boolean', description: 'Do not apply the chat template' },
    count: { type: 'string', description: 'Responses per prompt. Default 1', valueHint: 'N' },
    ...samplingArgs,
    json: { type: 'boolean', description: 'Print a JSON object per response' },
  },
  async run({ args, data }) {
    const context = data as CliContext;
    const options = {
      ...samplingOf(args),
      ...given({ count: countOf('count', args.count), seed: args.seed }),
    };
    const threads = threadsOf(args.threads);
    const texts = await promptsOf(args, context);
    const loaded = await loadPolicy(args.model);
    const prompts = texts.map((text) => promptOf(text, loaded, args));
    const asked = prompts.map((prompt, at) => ({ id: String(at), prompt, metadata: undefined }));
    const { note } = lostCharacters(asked, loaded.model.tokenizer);
    if (note !== undefined) context.printError(`rlp generate: ${note}`);
    const isOne = texts.length === 1 && (options.count ?? 1) === 1;
    const sequences = isOne ? 1 : undefined;
    await using policy = await startPolicy(loaded, { threads, engine: context.engine, sequences });
    if (isOne && !args.json && context.write !== undefined) {
      await streamed(prompts[0]!, policy, { ...options, signal: context.signal }, context.write);
      return;
    }
    const responses = await policy.inference.generate(prompts, { ...options, signal: context.signal });
    for (const { text, prompt, member, tokens, stopReason } of responses) {
      const line = { prompt: texts[prompt], member, text, tokens: tokens.length, stopReason };
      context.print(args.json ? JSON.stringify(line) : text);
    }
  },
});

async function streamed(
  prompt: string | readonly Message[],
  { inference }: OpenPolicy,
  { count: _one, ...options }: GenerateOptions,
  write: (text: string) => void,
): Promise<void> {
  for await (const text of inference.stream(prompt, options)) write(text);
  write('\n');
}

async function promptsOf(
  { prompt, prompts }: { readonly prompt?: string | undefined; readonly prompts?: string | undefined },
  { input }: CliContext,
): Promise<string[]> {
  if (prompt !== undefined && prompts !== undefined) {
    throw new UsageError('rlp generate: give a prompt or --prompts, not both');
  }
  if (prompt !== undefined) return [prompt];
  if (prompts === undefined) return [await textOf(input)];
  const text = await readFile(prompts, 'utf8');
  if (!/\.jsonl?$/i.test(prompts))
    return nonEmpty(
      text.split('\n').filter((line) => line.trim() !== ''),
      prompts,
    );
  const rows = parseJsonLines(text, { source: prompts, expected: 'one JSON object per line' });
  return nonEmpty(
    Array.from(rows, ({ number, value }) => {
      const { prompt } = (value ?? {}) as { readonly prompt?: unknown };
      if (typeof prompt === 'string') return prompt;
      throw new ArgumentError(`${prompts}, line ${number}: expected "prompt" with text`);
    }),
    prompts,
  );
}

function nonEmpty(texts: string[], file: string): string[] {
  if (texts.length > 0) return texts;
  throw new ArgumentError(`${file} holds no prompt; write one per line`);
}

async function textOf(input: AsyncIterable<string> | undefined): Promise<string> {
  let text = '';
  for await (const piece of input ?? []) text += piece;
  if (text.trim() !== '') return text.replace(/\r?\n$/, '');
  throw new UsageError('rlp generate: no prompt; give it as an argument, with --prompts FILE or on stdin');
}

/** The text, or a conversation if the model has a chat template. */
function promptOf(
  text: string,
  { model, folder }: LoadedPolicy,
  { raw, system }: { readonly raw?: boolean | undefined; readonly system?: string | undefined },
): string | readonly Message[] {
  if (model.chat !== undefined && raw !== true) {
    return [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content: text },
    ];
  }
  if (system === undefined) return text;
  throw new ArgumentError(
    raw === true
      ? 'rlp generate: --system needs the chat template; leave out --raw'
      : `${folder} has no chat template; put the system message into the prompt`,
  );
}
