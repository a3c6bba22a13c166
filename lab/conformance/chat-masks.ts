import { type MessageTokens, messageMasks, responseLength, type TrainedMessages } from '@rlp/algorithms';
import { type Adapter, type AdapterTable, type FixtureCase, unsupported } from './fixture.ts';

interface ChatMessage {
  readonly role: MessageTokens['role'];
  readonly content: string;
  readonly step_loss_mask?: number;
  readonly trainable?: boolean;
}

/** A message as text: what the files' ChatML makes of it. */
interface Rendered extends Pick<MessageTokens, 'role' | 'use'> {
  readonly header: string;
  readonly body: string;
}

const header = (role: string) => `<|im_start|>${role}\n`;
const end = '<|im_end|>\n';

const use = ({ step_loss_mask: trained, trainable }: ChatMessage) =>
  (trained ?? 1) !== 1 || trainable === false ? 'context' : 'train';

const plain = (message: ChatMessage): Rendered => ({
  role: message.role,
  header: header(message.role),
  body: message.content + end,
  use: use(message),
});

/** Results of tools that follow each other are one message of the user's; a default system message comes first. */
function qwen({ inputs, params }: FixtureCase): Rendered[] {
  const messages = inputs.messages as ChatMessage[];
  const rendered: Rendered[] = [];
  if (params.default_system !== null && messages[0]?.role !== 'system') {
    rendered.push(plain({ role: 'system', content: params.default_system }));
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') {
      rendered.push(plain(message));
      continue;
    }
    const response = `\n<tool_response>\n${message.content}\n</tool_response>`;
    const isLast = messages[index + 1]?.role !== 'tool';
    const isFirst = messages[index - 1]?.role !== 'tool';
    rendered.push({
      role: 'tool',
      header: isFirst ? '<|im_start|>user' : '',
      body: response + (isLast ? end : ''),
    });
  }
  return rendered;
}

/** What the template puts first is rendered with the first message. */
function rollouts(fixtureCase: FixtureCase): Rendered[] {
  const [first, second, ...rest] = qwen(fixtureCase);
  const hasDefault = fixtureCase.inputs.messages[0]?.role !== first?.role;
  if (!hasDefault || first === undefined || second === undefined) return qwen(fixtureCase);
  return [{ ...second, header: first.header + first.body + second.header }, ...rest];
}

/** The thinking that Qwen 3.5's own template begins belongs to the header. */
const qwenThinking = (fixtureCase: FixtureCase) =>
  qwen(fixtureCase).map((message) => {
    const thinking = '<think>\n';
    if (message.role !== 'assistant' || !message.body.startsWith(thinking)) return message;
    return { ...message, header: message.header + thinking, body: message.body.slice(thinking.length) };
  });

/** First message and answer, without what would end it. */
function distilled({ inputs, params, ...rest }: FixtureCase): Rendered[] {
  const [first] = inputs.messages as ChatMessage[];
  const last = (inputs.messages as ChatMessage[]).at(-1)!;
  return [
    ...qwen({ ...rest, inputs: { messages: [first!] }, params }),
    { ...plain({ ...last, role: 'assistant' }), body: last.content },
  ];
}

/** Masks of a rendered conversation, its tokens numbered by first use. */
function masked(
  render: (fixtureCase: FixtureCase) => readonly Rendered[],
  trainedBy: (params: FixtureCase['params']) => TrainedMessages,
): Adapter {
  return (fixtureCase) => {
    const { params } = fixtureCase;
    const vocabulary: string[] = [];
    const encode = (text: string) =>
      [...text.matchAll(new RegExp(params.tokenizer, 'gu'))].map(([piece]) => {
        const known = vocabulary.indexOf(piece);
        return known >= 0 ? known : vocabulary.push(piece) - 1;
      });
    const rendered = render(fixtureCase);
    const messages = rendered.map((message) => ({
      ...message,
      header: encode(message.header),
      body: encode(message.body),
    }));
    const { tokens, mask, spans } = messageMasks(messages, trainedBy(params));
    return {
      text: rendered.map((message) => message.header + message.body).join(''),
      tokens: tokens.map((token) => vocabulary[token]),
      mask: [...mask],
      user_spans: spans.filter((_, index) => messages[index]!.role === 'user'),
      response_length: responseLength(mask),
    };
  };
}

const trainedWhat: Readonly<Record<string, TrainedMessages>> = {
  last_assistant_message: 'last-assistant-message',
  last_assistant_turn: 'last-assistant-turn',
  all_assistant_messages: 'assistant',
  all_messages: 'messages',
  all_tokens: 'everything',
  all_user_and_system_messages: 'user-and-system',
  customized: 'messages',
};

const assistant = masked(qwen, () => 'assistant');

export const chatMasks: AdapterTable = {
  chat_loss_masks: {
    slime_qwen: assistant,
    // Its way to render message by message loses tokens where the template has a system message of its own: a defect.
    slime_qwen3: (fixtureCase) =>
      fixtureCase.params.default_system === null ? assistant(fixtureCase) : unsupported,
    slime_qwen3_5: masked(qwenThinking, () => 'assistant'),
    slime_distill_qwen: masked(distilled, () => 'assistant'),
    rollouts_user_spans: masked(rollouts, () => 'all-but-user'),
    tinker_supervised: masked(
      ({ inputs }) => (inputs.messages as ChatMessage[]).map(plain),
      ({ train_on_what: what }) => trainedWhat[what]!,
    ),
    response_lengths: ({ inputs }) => ({ lengths: (inputs.masks as number[][]).map(responseLength) }),
  },
};
