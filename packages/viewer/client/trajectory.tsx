import type { Body, Row } from '../src/payload.ts';
import { knownShades, type ShadeName } from '../src/shades.ts';
import { Conversation } from './conversation.tsx';
import { rewardText, short } from './numbers.ts';
import type { Parts } from './parts.ts';
import { Legend } from './tokens.tsx';
import { useBodies } from './use-body.ts';

/** One trajectory: how it ended, what it earned, and what was said. */
export function TrajectoryView({ payload, route, change, place }: Parts & { readonly place: number }) {
  const [body] = useBodies(payload, [place]) ?? [];
  if (body === undefined) return <p class="empty">Opening…</p>;
  const row = payload.rows[place]!;
  return (
    <article>
      <header class="bar">
        <button type="button" class="back" onClick={() => change({ id: undefined })}>
          ← List
        </button>
        <h2>{row.task}</h2>
        {row.group !== undefined && (
          <button type="button" onClick={() => change({ view: 'group' })}>
            Its group
          </button>
        )}
        <Colours body={body} colour={route.colour} pick={(colour) => change({ colour })} />
      </header>
      <Facts row={row} body={body} />
      {row.alerts.map((at) => {
        const { rule, severity, message } = payload.alerts[at]!;
        return (
          <p class="alert" key={at}>
            <span class={`badge badge-${severity}`}>{severity}</span> <b>{rule}</b>: {message}
          </p>
        );
      })}
      <Legend colour={knownShades(body.steps).includes(route.colour) ? route.colour : 'nothing'} />
      <Conversation body={body} colour={route.colour} />
      <Data title="Task metadata" value={body.task.metadata} />
      <Data title="Outcome" value={body.outcome} />
    </article>
  );
}

function Colours({
  body,
  colour,
  pick,
}: {
  readonly body: Body;
  readonly colour: ShadeName;
  readonly pick: (colour: ShadeName) => void;
}) {
  const known = knownShades(body.steps);
  if (known.length < 2) return null;
  return (
    <label class="colours">
      <span>Colour tokens by</span>
      <select
        value={known.includes(colour) ? colour : 'nothing'}
        onChange={(event) => pick(event.currentTarget.value as ShadeName)}
      >
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Facts as a list of terms and values. Those without a value are left out. */
function Facts({ row, body }: { readonly row: Row; readonly body: Body }) {
  const { termination, failure, metrics = {}, components, failures = [], policyVersion } = body;
  const ending = [
    row.status,
    termination && `${termination.reason}${termination.detail ? ` (${termination.detail})` : ''}`,
  ];
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Reward', rewardText(row.reward) || undefined],
    ...Object.entries(components).map(([name, value]) => [name, rewardText(value)] as const),
    ['Ended', ending.filter(Boolean).join(', ')],
    ['Failure', failure && `${failure.boundary}: ${failure.message}`],
    ...failures.map(({ source, message }) => [`${source} failed`, message] as const),
    ['Messages', row.messages?.toString()],
    ['Steps', row.messages === undefined ? String(row.steps) : undefined],
    ['Tokens', row.messages === undefined ? String(row.tokens) : undefined],
    ...Object.entries(metrics).map(([name, value]) => [name, short(value)] as const),
    ['Iteration', row.iteration?.toString()],
    ['Policy version', String(policyVersion)],
    ['Id', row.id],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name} class={value.length > 40 ? 'wide' : undefined}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function Data({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === undefined || value === null) return null;
  return (
    <details>
      <summary>{title}</summary>
      <pre>{JSON.stringify(value, undefined, 2)}</pre>
    </details>
  );
}
