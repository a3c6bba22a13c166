import { type Message, RandomStream, type RecordedTrajectory, type Step, type StepTrace } from '@rlp/core';

const cities = ['Bern', 'Rome', 'Oslo', 'Lima', 'Cairo', 'Kyoto'];
const words =
  'I will look at the weather first and then decide what to take along because the day is long'.split(' ');

/** Recorded trajectories of an agent that asks for the weather: groups of four, two steps each. */
export function demoRecords(count: number): RecordedTrajectory[] {
  return Array.from({ length: count }, (_, at) => demoRecord(at));
}

function demoRecord(at: number): RecordedTrajectory {
  const random = RandomStream.named('demo', String(at));
  const city = cities[Math.floor(at / 4) % cities.length]!;
  const iteration = Math.floor(at / 64);
  const groupId = `${iteration}/${city}-${Math.floor(at / 4)}`;
  const call = {
    id: 'call-1',
    type: 'function' as const,
    function: { name: 'weather', arguments: `{"city": "${city}"}` },
  };
  const thoughts = Array.from({ length: 6 + random.integer(24) }, () => words[random.integer(words.length)]!);
  const answer = random.uniform() < 0.5 ? 'umbrella' : 'hat';
  const reward = answer === 'hat' ? 1 : 0;
  const texts = [
    [
      ...thoughts.map((word) => `${word} `),
      '\n',
      '<tool_call>',
      `{"name": "weather", "arguments": {"city": "${city}"}}`,
      '</tool_call>',
    ],
    ['Take', ' a', ` ${answer}`, '.'],
  ];
  const steps = texts.map((tokenTexts, index) => demoStep(tokenTexts, { random, index, call, reward }));
  const traced = texts.map((tokenTexts, index) => demoTrace(tokenTexts, { random, index, reward, city }));
  const messages: Message[] = [
    { role: 'system', content: 'You help people pack. You may call the tool `weather`.' },
    { role: 'user', content: `What should I take along to ${city}?` },
    { role: 'assistant', content: thoughts.join(' '), tool_calls: [call] },
    {
      role: 'tool',
      content: '{"sky": "sunny", "degrees": 27, "note": "<b>not bold</b>"}',
      tool_call_id: 'call-1',
    },
    { role: 'assistant', content: texts[1]!.join('') },
  ];
  return {
    trajectory: {
      id: `${groupId}/${at % 4}`,
      task: {
        id: city,
        prompt: `What should I take along to ${city}?`,
        metadata: { weather: 'sun', answer: 'hat' },
      },
      steps,
      messages,
      response: texts[1]!.join(''),
      status: at % 17 === 5 ? 'truncated' : 'completed',
      termination: at % 17 === 5 ? { reason: 'turns' } : { reason: 'environment' },
      outcome: { packed: answer },
      metrics: { 'tools/calls': 1, 'tools/spent': 1 },
      policyVersion: iteration,
      group: { id: groupId, member: at % 4 },
    },
    reward: at % 29 === 7 ? null : reward,
    components: { rightAnswer: reward, brevity: random.uniform() },
    iteration,
    trace: traced,
  };
}

interface Making {
  readonly random: RandomStream;
  readonly index: number;
  readonly reward: number;
}

function demoStep(
  tokenTexts: readonly string[],
  { random, index, reward, call }: Making & { readonly call: NonNullable<Step['toolCalls']>[number] },
): Step {
  return {
    promptTokens: [1, 2, 3],
    tokens: tokenTexts.map((_, at) => 100 + at),
    behaviorLogprobs: tokenTexts.map(() => -(random.uniform() ** 4) * 6),
    text: tokenTexts.join(''),
    stopReason: 'stop',
    policyVersion: 3,
    timing: { sampleMs: 120, environmentMs: 15 },
    stateKey: `after ${index} calls`,
    ...(index === 0 && { toolCalls: [call] }),
    ...(index === 1 && { reward }),
  };
}

function demoTrace(
  tokenTexts: readonly string[],
  { random, index, reward, city }: Making & { readonly city: string },
): StepTrace {
  return {
    tokenTexts,
    mask: tokenTexts.map(() => 1),
    advantages: tokenTexts.map(() => reward - 0.5),
    ratios: tokenTexts.map(() => Math.exp((random.uniform() - 0.5) * 0.4)),
    entropies: tokenTexts.map(() => random.uniform() * 2),
    episodeAdvantage: reward - 0.5,
    stepAdvantage: (random.uniform() - 0.5) * 2,
    returnToGo: reward * 0.95 ** (1 - index),
    anchor: { state: `${city}, after ${index} calls`, steps: 4 },
  };
}
