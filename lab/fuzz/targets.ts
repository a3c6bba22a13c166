import { resolveRlOptions } from '@rlp/algorithms';
import { gae, gigpoAdvantages, groupRelativeAdvantages } from '@rlp/algorithms/advantage';
import { policyLoss } from '@rlp/algorithms/loss';
import { parseOptions, parseToolCalls, taskDefinitionSchema } from '@rlp/core';
import { datasetOfText, tasksFrom } from '@rlp/data';
import { SimpleTextEnvironment } from '@rlp/env';
import {
  byteTokenizer,
  characterTokenizer,
  chatRenderer,
  describeChatTemplate,
  parseModelConfig,
  textTokenizer,
} from '@rlp/models';
import { parseSafetensorsHeader } from '@rlp/models/safetensors';
import { RewardQualityAssessor, RewardQualityMonitor } from '@rlp/quality-monitor';

/** A function that reads what others wrote, with input that it takes. */
export interface FuzzTarget {
  readonly name: string;
  /** Plain data or a text. It is mutated. */
  readonly input: unknown;
  readonly run: (input: never) => unknown;
}

const target = <Input>(name: string, input: Input, run: (input: Input) => unknown): FuzzTarget => ({
  name,
  input,
  run,
});

const letters = characterTokenizer('abc ', { end: '.' });
const chatTemplate =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m.content | trim }}{% if not loop.last %}<|im_end|>{% endif %}{% endfor %}" +
  '{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{% if add_generation_prompt %}A{% endif %}';
const messages = [
  { role: 'user', content: 'abc' },
  { role: 'assistant', content: 'cab' },
] as const;

const config = {
  model_type: 'llama',
  vocab_size: 16,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  max_position_embeddings: 32,
  rope_scaling: { rope_type: 'linear', factor: 2 },
  eos_token_id: [1, 2],
};

const split = {
  type: 'Split',
  pattern: { Regex: '\\p{L}+|\\d{1,3}|\\s+(?!\\S)|\\s+' },
  behavior: 'Isolated',
  invert: false,
};
const tokenizerFile = {
  ...byteTokenizer({ begin: '<s>', end: '</s>' }).files.tokenizer,
  normalizer: { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
  pre_tokenizer: { type: 'Sequence', pretokenizers: [split, { type: 'ByteLevel', add_prefix_space: false }] },
};

const unigram = {
  added_tokens: [{ id: 3, content: '<x>' }],
  normalizer: null,
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  post_processor: null,
  decoder: null,
  model: {
    type: 'Unigram',
    unk_id: 0,
    vocab: [
      ['<unk>', 0],
      ['▁a', -1],
      ['b', -2],
    ],
  },
};

const header = {
  __metadata__: { format: 'pt' },
  a: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] },
  b: { dtype: 'BF16', shape: [3], data_offsets: [16, 22] },
};

const encodeWith = (tokenizer: unknown) => {
  const made = textTokenizer({ tokenizer: tokenizer as Record<string, unknown>, config: {} }, 'folder');
  return made.decode(made.encode('Hello 123  a b <x>'));
};

const steps = {
  groups: ['g', 'g'],
  trajectories: ['a', 'b'],
  anchors: [0, 0],
  stepRewards: [0, 1],
  episodeScores: [0, 1],
};

/** What is fuzzed. */
export const targets: readonly FuzzTarget[] = [
  target('config.json', config, (json) => parseModelConfig(json)),
  target('tokenizer.json, BPE', tokenizerFile, encodeWith),
  target('tokenizer.json, Unigram', unigram, encodeWith),
  target(
    'tokenizer_config.json',
    { bos_token: '<s>', eos_token: { content: '</s>' }, chat_template: 'x' },
    (json) => textTokenizer({ tokenizer: unigram, config: json }, 'folder'),
  ),
  target('characterTokenizer', { begin: '<s>', end: '</s>', others: ['<x>'] }, (specials) =>
    characterTokenizer('abc', specials).encode('abc<x>'),
  ),
  target('chat template', chatTemplate, (template) => chatRenderer(letters, template).renderText(messages)),
  target('description of a chat template', chatTemplate, (template) => describeChatTemplate(template)),
  target('header of safetensors', header, (json) => {
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    return parseSafetensorsHeader(bytes, 8 + bytes.length + 22, 'x.safetensors');
  }),
  target('text of a header', JSON.stringify(header), (text) => {
    const bytes = new TextEncoder().encode(text);
    return parseSafetensorsHeader(bytes, 8 + bytes.length + 22, 'x.safetensors');
  }),
  target('tasks of JSONL', '{"id":"1","prompt":"a","metadata":{"n":1}}\n{"id":"2","prompt":"b"}\n', (text) =>
    tasksFrom(datasetOfText(text)),
  ),
  target(
    'tool calls',
    'a <tool_call>\n{"name": "f", "arguments": {"x": [1, null]}}\n</tool_call> b',
    (text) => parseToolCalls(text),
  ),
  target(
    'task definition',
    {
      name: 'a',
      resourceType: 'r',
      baseResourceConfig: {},
      rewardFunctionPath: 'p',
      initialUserPrompt: 'x',
      terminationPattern: 'a+',
    },
    (definition) => parseOptions('task', taskDefinitionSchema, definition),
  ),
  target('environment', { prompts: ['a', 'b'] }, (options) => new SimpleTextEnvironment(options)),
  target('options of advantages', { scale: 'advantage-std', epsilon: 0, baseline: 'mean' }, (options) =>
    groupRelativeAdvantages([[1, 0, null], [0.5]], options as never),
  ),
  target('options of gae', { lambda: 0.9, discount: 1, maskedTokens: 'end' }, (options) =>
    gae({ rewards: [[0, 1]], values: [[0.5, 0.2]] }, options as never),
  ),
  target('options of gigpo', { scale: 'std', joint: 'mix', weight: 0.5 }, (options) =>
    gigpoAdvantages(steps, options as never),
  ),
  target(
    'options of the loop',
    { epochs: 2, loss: { klCoefficient: 0.1 }, rewardClip: { low: 0, high: 1 } },
    (options) => resolveRlOptions(options as never),
  ),
  target(
    'options of the loss',
    { surrogate: 'sapo', temperaturePositive: 1, klCoefficient: 0.1, klWeight: 'ratio' },
    (options) => policyLoss(options as never),
  ),
  target('state of the assessor', new RewardQualityAssessor().saveState(), (state) =>
    new RewardQualityAssessor().loadState(state),
  ),
  target('state of the monitor', new RewardQualityMonitor().saveState(), (state) =>
    new RewardQualityMonitor().loadState(state as never),
  ),
];
