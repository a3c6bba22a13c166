/**
 * Score the logs of a chatbot
 *
 * Reads conversations of an airline agent in OpenAI's format, one JSON object per line. Scores the tool calls against the expected
 * ones, verifies the last answer and writes a table. Nothing is trained, and nothing native is installed. Outside
 * a clone run `npm install obscenity` first.
 *
 * ```sh
 * pnpm recipe examples/score-logs.ts
 * pnpm recipe examples/score-logs.ts --logs my-logs.jsonl --out runs/my-scores.jsonl
 * ```
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { trajectoryFromMessages } from '@rlp/core';
import { rewardFunctions } from '@rlp/rewards';
import { toolCalls } from '@rlp/rewards/stock';
import { createCustomVerifierPipeline } from '@rlp/rewards/verification';

/** A line of the log. */
interface Line {
  readonly id: string;
  readonly messages: readonly unknown[];
  readonly expected_actions: readonly { readonly name: string; readonly kwargs: unknown }[];
}

interface Expected {
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

const rewards = rewardFunctions<Expected>({
  // Share of the expected calls that were made with the expected arguments. The agent may look things up besides.
  calls: toolCalls({ expected: ({ calls }) => calls, extra: 'allowed', grading: 'share' }),
  // Shorter dialogues are better: 1 for one answer, 0.5 for eleven.
  brevity: {
    reward: ({ messages }) =>
      1 / (1 + 0.1 * (messages.filter(({ role }) => role === 'assistant').length - 1)),
    weight: 0.1,
  },
});
const verifier = createCustomVerifierPipeline([{ type: 'toxicity' }, { type: 'safety-pattern' }]);

/** A conversation with its scores. */
export interface Score {
  readonly id: string;
  readonly reward: number | null;
  readonly components: Readonly<Record<string, number | null>>;
  readonly verdict: string;
  readonly reason: string;
}

/** Scores every conversation of a log. */
export async function scoreLogs(text: string): Promise<Score[]> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const trajectories = lines.map((line) => {
    const { id, messages, expected_actions } = JSON.parse(line) as Line;
    const calls = expected_actions.map(({ name, kwargs }) => ({ name, arguments: kwargs }));
    return trajectoryFromMessages<Expected>({ id, messages, metadata: { calls } });
  });
  const scored = await Promise.all(
    trajectories.map((one) => rewards.computeRewards({ id: one.id, task: one.task, trajectories: [one] })),
  );
  const reports = await verifier.verifyBatch(trajectories.map(({ response }) => ({ prompt: '', response })));
  return scored.flat().map(({ trajectory, reward, components }, index) => ({
    id: trajectory.id,
    reward,
    components,
    verdict: reports[index]!.result,
    reason: reports[index]!.message,
  }));
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      logs: { type: 'string', default: join(import.meta.dirname, 'data/airline-logs.jsonl') },
      out: { type: 'string', default: 'runs/scores.jsonl' },
    },
  });
  const scores = await scoreLogs(await readFile(values.logs, 'utf8'));
  const rounded = (value: number | null) => value && Number(value.toFixed(4));
  console.table(
    scores.map(({ id, reward, components, verdict }) => {
      const parts = Object.entries(components).map(([name, value]) => [name, rounded(value)]);
      return { id, reward: rounded(reward), ...Object.fromEntries(parts), verdict };
    }),
  );
  await mkdir(dirname(values.out), { recursive: true });
  await writeFile(values.out, scores.map((score) => `${JSON.stringify(score)}\n`).join(''));
  console.log(`${scores.length} conversations scored: ${values.out}`);
}
