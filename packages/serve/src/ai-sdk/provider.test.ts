import { generateText, stepCountIs, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { rlpProvider } from '../ai-sdk.ts';
import { captureRollouts } from '../capture.ts';
import { calling, scriptedPolicy } from '../served.fixture.ts';

const tools = {
  weather: tool({
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => ({ [city]: 'sunny' }),
  }),
};
const policy = () =>
  scriptedPolicy(({ text }) =>
    text.includes('|tool|>{"Rom') ? 'Sonne in Röm.' : calling('Rom', 'Ich sehe nach.'),
  );
const asking = { prompt: 'Wie ist das Wetter?', tools, stopWhen: stepCountIs(3), maxRetries: 0 };

describe('rlpProvider', () => {
  it('generates and calls tools', async () => {
    const { text, steps, usage } = await generateText({ model: rlpProvider(policy())('p'), ...asking });
    expect(text).toBe('Sonne in Röm.');
    expect(steps[0]).toMatchObject({ text: 'Ich sehe nach.', finishReason: 'tool-calls' });
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it('streams the same', async () => {
    const { textStream, steps } = streamText({ model: rlpProvider(policy()).languageModel(), ...asking });
    const texts: string[] = [];
    for await (const text of textStream) texts.push(text);
    expect(texts.join('')).toBe('Ich sehe nach.Sonne in Röm.');
    expect(texts.length).toBeGreaterThan(5);
    expect((await steps).at(-1)!.finishReason).toBe('stop');
  });

  it('stops sampling with its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const model = rlpProvider(policy())();
    await expect(generateText({ model, ...asking, abortSignal: signal })).rejects.toThrow('enough');
  });

  it('records as a capture does', async () => {
    const rollouts = captureRollouts({
      ...{ policy: policy(), groupSize: 1, transport: 'fetch' },
      run: async (_, connection) =>
        (await generateText({ model: rlpProvider(connection)(), ...asking })).text,
    });
    for await (const { trajectories } of rollouts.collectGroups([{ id: 'a', prompt: '', metadata: null }])) {
      expect(trajectories[0]).toMatchObject({
        ...{ status: 'completed', outcome: 'Sonne in Röm.' },
        metrics: { 'capture/requests': 2, 'capture/conversations': 1, 'capture/splits': 0 },
      });
    }
  });

  it('refuses what is neither a policy nor a connection, and files', async () => {
    expect(() => rlpProvider({} as never)).toThrow('expected a policy that can sample');
    const content = [{ type: 'file' as const, data: 'aGk=', mediaType: 'image/png' }];
    const model = rlpProvider(policy())();
    const asked = generateText({ model, messages: [{ role: 'user', content }], maxRetries: 0 });
    await expect(asked).rejects.toThrow('got a file of type image/png');
  });
});
