import { freemem } from 'node:os';
import { estimateMemory } from '@rlp/backprop';
import { messageOf, plural } from '@rlp/core';
import { type ChatTemplateDescription, describeChatTemplate, type LanguageModel } from '@rlp/models';
import type { CliContext } from '../context.ts';
import { loadPolicy, type OpenPolicy, startPolicy } from '../open-policy.ts';
import { bytes, type Finding } from './finding.ts';

/** Shape of a training step. */
export interface StepShape {
  readonly rows: number;
  readonly length: number;
}

/** Whether a model loads, what its template can do, whether a training step fits, and how fast it samples. */
export async function checkModel(
  path: string,
  shape: StepShape,
  { signal, engine }: Pick<CliContext, 'signal' | 'engine'>,
): Promise<Finding[]> {
  let policy: OpenPolicy;
  try {
    policy = await startPolicy(await loadPolicy(path), { engine, sequences: shape.rows });
  } catch (error) {
    return [{ name: 'model', state: 'problem', text: messageOf(error) }];
  }
  try {
    const { model } = policy;
    return [
      {
        name: 'model',
        state: 'fine',
        text: `${policy.folder}: ${plural(model.config.layers, 'layer')}, ${plural(model.config.vocabularySize, 'token')}`,
      },
      tokenizerFinding(model),
      templateFinding(model),
      memoryFinding(model, shape),
      await speedFinding(policy, shape, signal),
    ];
  } finally {
    await policy[Symbol.asyncDispose]();
  }
}

/** Whether the tokenizer gives text back and can end a response. */
function tokenizerFinding({ tokenizer }: LanguageModel): Finding {
  const sample = 'The answer is 42, is it not?';
  const decoded = tokenizer.decode(tokenizer.encode(sample));
  if (tokenizer.eosIds.length === 0) {
    return {
      name: 'tokenizer',
      state: 'problem',
      text: 'no token ends a response; set eos_token_id in generation_config.json',
    };
  }
  if (decoded.trim() !== sample) {
    return {
      name: 'tokenizer',
      state: 'note',
      text: `does not give text back: ${JSON.stringify(sample)} became ${JSON.stringify(decoded)}`,
    };
  }
  return {
    name: 'tokenizer',
    state: 'fine',
    text: `${plural(tokenizer.vocabularySize, 'token')}, ends with ${tokenizer.eosIds.join(', ')}`,
  };
}

function templateFinding({ chat, tokenizer }: LanguageModel): Finding {
  if (chat === undefined)
    return { name: 'template', state: 'note', text: 'none: use prompts of text, not messages' };
  let description: ChatTemplateDescription;
  try {
    description = describeChatTemplate(chat);
  } catch (error) {
    return { name: 'template', state: 'problem', text: messageOf(error) };
  }
  const { generationPrompt, system, tools, history, turnEnd } = description;
  if (generationPrompt === '') {
    return {
      name: 'template',
      state: 'problem',
      text: 'ignores add_generation_prompt, so responses would begin in the user turn',
    };
  }
  const ends = turnEnd.trim() === '' ? [] : tokenizer.encode(turnEnd.trim(), { specialTokens: 'none' });
  const isEnding = ends.length === 0 || ends.some((token) => tokenizer.eosIds.includes(token));
  const text = `system ${system}, tools ${tools}, dialogue ${history.dialogue.sampled}, reasoning ${history.reasoning.sampled}`;
  if (isEnding) return { name: 'template', state: 'fine', text };
  return {
    name: 'template',
    state: 'note',
    text: `${text}; turns end with ${JSON.stringify(turnEnd)}, which is not an end token`,
  };
}

function memoryFinding({ config }: LanguageModel, { rows, length }: StepShape): Finding {
  const question = { config, rows, length, reference: 'none' } as const;
  const { total } = estimateMemory(question);
  const least = estimateMemory({ ...question, lora: { base: 'int8' } });
  const lower = Math.max(least.loading, least.total - least.model);
  const free = process.availableMemory?.() ?? freemem();
  const text = `a step of ${rows} × ${length} tokens needs about ${bytes(total)}, or ${bytes(lower)} with lora: { base: 'int8' }; ${bytes(free)} are free`;
  return {
    name: 'memory of a training step',
    state: total > free ? 'problem' : 'fine',
    text,
    values: { needed: total, leastNeeded: lower, free },
  };
}

/** Samples and scores one small batch, and says what an iteration would take. */
async function speedFinding(
  { inference }: OpenPolicy,
  { rows, length }: StepShape,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const tokens = Math.max(1, Math.min(length, inference.contextLength) - 8);
  const prompt = inference.tokenizer.encode('The').slice(0, 8);
  const timed = async (maxTokens: number) => {
    const begun = performance.now();
    const responses = await inference.sample({
      prompt,
      count: rows,
      maxTokens,
      seed: 'doctor',
      ...(signal && { signal }),
    });
    const sampled = responses.reduce((sum, each) => sum + each.tokens.length, 0);
    return { sampled, seconds: (performance.now() - begun) / 1000 };
  };
  try {
    await timed(2); // The first request builds the session.
    const { sampled, seconds } = await timed(Math.min(tokens, 64));
    const perSecond = sampled / seconds;
    const iteration = (rows * tokens) / perSecond;
    const text = `${perSecond.toFixed(0)} tokens per second; sampling ${rows} × ${tokens} tokens takes about ${iteration.toPrecision(2)} s, a training step on them often as long again`;
    return {
      name: 'speed',
      state: 'fine',
      text,
      values: { tokensPerSecond: perSecond, samplingSeconds: iteration },
    };
  } catch (error) {
    signal?.throwIfAborted();
    return { name: 'speed', state: 'problem', text: messageOf(error) };
  }
}
