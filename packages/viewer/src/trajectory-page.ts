import {
  ArgumentError,
  type Finding,
  isRecord,
  parseOptions,
  type RecordedTrajectory,
  type TokenId,
  type Trajectory,
  withTokenTexts,
} from '@rlp/core';
import { html, renderPage } from '@rlp/page';
import * as z from 'zod';
import { digest, packed } from './blocks.ts';
import { type Alert, type Body, type Details, type Payload, type Row, shownOf } from './payload.ts';
import { viewerStyle } from './style.ts';

const schema = z.strictObject({
  /** Title of the page. Default `'Trajectories'`. */
  title: z.string().default('Trajectories'),
  /** Findings of a monitor. They mark the trajectories that they name or quote. Default none. */
  findings: z.array(z.custom<Finding>()).readonly().default([]),
  /** Text of each token of a step, to colour tokens of records without texts. Default: such steps are shown as text only. */
  tokenTexts: z.custom<(tokens: readonly TokenId[]) => readonly string[]>().optional(),
});

/** Options of {@link trajectoryPage}. */
export interface TrajectoryPageOptions extends z.input<typeof schema> {}

/** Trajectories, compressed. Messages are apart from the rest, so that a search does not unpack their tokens. */
interface Block {
  readonly messages: string;
  readonly details: string;
}

/** Trajectories that are compressed together: few enough to open one at once. */
const blockSize = 50;

/**
 * A page that shows trajectories, as HTML that stands alone: it works from a file, offline, on a phone and in print.
 *
 * It has a list with filters, sorting and search, each trajectory as a conversation with tool calls, tokens coloured by logprob,
 * advantage, ratio, entropy or mask, rewards of steps, states that GiGPO compares, and the members of a group side by side. Each
 * trajectory has its own address. What a model wrote is shown as text and never run.
 *
 * @param records - Trajectories, or scored ones with what a run knew of them.
 * @throws OptionsError for wrong options, ArgumentError without a trajectory.
 */
export async function trajectoryPage(
  records: Iterable<RecordedTrajectory | Trajectory> | AsyncIterable<RecordedTrajectory | Trajectory>,
  options: TrajectoryPageOptions = {},
): Promise<string> {
  const { title, findings, tokenTexts } = parseOptions(
    'trajectoryPage',
    schema,
    options,
    'TrajectoryPageOptions',
  );
  const alerts = findings.map(({ rule, severity, message, iteration }): Alert => {
    return { rule, severity, message, iteration };
  });
  const rows: Row[] = [];
  const blocks: Block[] = [];
  let waiting: Body[] = [];
  const flush = async () => {
    const details = waiting.map(({ messages: _, ...rest }): Details => rest);
    blocks.push({
      messages: await packed(JSON.stringify(waiting.map(({ messages }) => messages))),
      details: await packed(JSON.stringify(details)),
    });
    waiting = [];
  };
  for await (const record of records) {
    requireTrajectory(record, rows.length);
    const isScored = 'trajectory' in record;
    const whole = isScored ? record : { trajectory: record, reward: null, components: {} };
    const known = tokenTexts === undefined ? whole : withTokenTexts(whole, tokenTexts);
    const { row, body } = shownOf(known, { isScored, alerts: alertsOf(known, findings) });
    rows.push(row);
    waiting.push(body);
    if (waiting.length === blockSize) await flush();
  }
  if (rows.length === 0)
    throw new ArgumentError('trajectoryPage: expected at least one trajectory, got none');
  if (waiting.length > 0) await flush();
  const payload: Payload = { rows, alerts, blockSize };
  return page(title, await packed(JSON.stringify(payload)), blocks);
}

/** @throws ArgumentError for anything but a trajectory, or a scored one. */
function requireTrajectory(record: unknown, place: number): void {
  const given = isRecord(record) && isRecord(record.trajectory) ? record.trajectory : record;
  if (isRecord(given) && isRecord(given.task) && Array.isArray(given.steps)) return;
  throw new ArgumentError(
    `trajectoryPage: record ${place} is not a trajectory; expected what a RolloutManager collects or recordTrajectories writes`,
  );
}

/** Places of the findings of its iteration that name the trajectory or quote its response. */
function alertsOf(
  { trajectory, iteration }: RecordedTrajectory,
  findings: readonly Finding[],
): readonly number[] {
  return findings.flatMap(({ trajectories = [], samples = [], iteration: found }, place) => {
    const isOfBatch = iteration === undefined || iteration === found;
    const isNamed = trajectories.includes(trajectory.id) || samples.includes(trajectory.response);
    return isOfBatch && isNamed ? [place] : [];
  });
}

async function page(title: string, index: string, blocks: readonly Block[]): Promise<string> {
  // Loaded where it is needed, because it is the largest part.
  const { clientCode } = await import('#client');
  const data = blocks.map(
    ({ messages, details }, at) => html`<script type="text/plain" id="messages-${at}">${messages}</script>
<script type="text/plain" id="details-${at}">${details}</script>\n`,
  );
  const body = html`<style>${{ html: viewerStyle }}</style>
<div id="viewer"><noscript>This page needs JavaScript. It runs only what it came with.</noscript></div>
<script type="text/plain" id="index">${index}</script>
${data}`;
  return renderPage({
    title,
    body,
    script: { code: clientCode, nonce: await digest(index), asks: 'nothing' },
  });
}
