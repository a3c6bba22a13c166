import type { Body, Row } from '../src/payload.ts';
import { knownShades } from '../src/shades.ts';
import { Conversation } from './conversation.tsx';
import { counted, rewardText, short, signed } from './numbers.ts';
import type { Parts } from './parts.ts';
import { linkTo } from './route.ts';
import { Legend } from './tokens.tsx';
import { useBodies } from './use-body.ts';

/** The members of a group side by side, and the states that occur in several of their steps. */
export function GroupView({ payload, route, change, place }: Parts & { readonly place: number }) {
  const own = payload.rows[place]!;
  // The best first, so that what made the difference stands beside it.
  const places = payload.rows
    .flatMap((row, at) => (at === place || (own.group !== undefined && row.group === own.group) ? [at] : []))
    .sort((a, b) => (payload.rows[b]!.reward ?? -Infinity) - (payload.rows[a]!.reward ?? -Infinity) || a - b);
  const bodies = useBodies(payload, places);
  if (bodies === undefined) return <p class="empty">Opening…</p>;
  const rows = places.map((at) => payload.rows[at]!);
  return (
    <article>
      <header class="bar">
        <button type="button" class="back" onClick={() => change({ view: 'trajectory' })}>
          ← Trajectory
        </button>
        <h2>
          {own.task}: {counted(rows.length, 'member')}
        </h2>
      </header>
      <p class="spread">{spreadOf(rows)}</p>
      <Legend
        colour={
          knownShades(bodies.flatMap(({ steps }) => steps)).includes(route.colour) ? route.colour : 'nothing'
        }
      />
      <div class="members">
        {bodies.map((body, at) => {
          const row = rows[at]!;
          return (
            <section
              key={row.id}
              class={row.id === own.id ? 'member own' : 'member'}
              ref={row.id === own.id ? intoView : null}
            >
              <h3>
                <a href={linkTo(route, row.id)}>member {row.member ?? at}</a>
                <span class="reward">{rewardText(row.reward)}</span>
              </h3>
              <p class="counts">
                {row.status} · {counted(row.tokens, 'token')}
              </p>
              <Conversation body={withoutPrompt(body)} colour={route.colour} />
            </section>
          );
        })}
      </div>
      <States rows={rows} bodies={bodies} />
    </article>
  );
}

/** Scrolls to a member, sideways only. */
function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest', inline: 'center' });
}

/** The rewards of a group in a sentence. */
function spreadOf(rows: readonly Row[]): string {
  const rewards = rows.map(({ reward }) => reward).filter((reward) => typeof reward === 'number');
  if (rewards.length === 0) return 'No member has a reward.';
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const deviation = Math.sqrt(
    rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / Math.max(1, rewards.length - 1),
  );
  if (rewards.length === 1) return `Reward ${short(mean)}.`;
  return `Mean reward ${short(mean)}, standard deviation ${short(deviation)}, from ${short(Math.min(...rewards))} to ${short(Math.max(...rewards))}.`;
}

/** The conversation after the prompt, which all members share. */
function withoutPrompt(body: Body): Body {
  const answers = body.messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []));
  const first = answers[Math.max(0, answers.length - body.steps.length)] ?? 0;
  return { ...body, messages: body.messages.slice(first) };
}

interface StateUse {
  readonly member: string;
  readonly id: string;
  readonly step: number;
  readonly returnToGo: number | undefined;
  readonly advantage: number | undefined;
}

/** States from which several steps of the group went on. */
function States({ rows, bodies }: { readonly rows: readonly Row[]; readonly bodies: readonly Body[] }) {
  const uses = new Map<string, StateUse[]>();
  for (const [at, { steps }] of bodies.entries()) {
    for (const [step, { trace, stateKey }] of steps.entries()) {
      const state = trace?.anchor?.state ?? stateKey;
      if (state === undefined) continue;
      const use = {
        member: `${rows[at]!.member ?? at}`,
        id: rows[at]!.id,
        step: step + 1,
        returnToGo: trace?.returnToGo,
        advantage: trace?.stepAdvantage,
      };
      uses.set(state, [...(uses.get(state) ?? []), use]);
    }
  }
  const recurring = [...uses].filter(([, all]) => all.length > 1).sort(([, a], [, b]) => b.length - a.length);
  if (recurring.length === 0) return null;
  return (
    <>
      <h2>States that recur</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>State</th>
              <th>Steps from it</th>
            </tr>
          </thead>
          <tbody>
            {recurring.slice(0, 100).map(([state, all]) => (
              <tr key={state}>
                <td>
                  <pre>{state}</pre>
                </td>
                <td>{all.map(useText).join('; ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function useText({ member, step, returnToGo, advantage }: StateUse): string {
  const known = [
    returnToGo === undefined ? '' : `return ${short(returnToGo)}`,
    advantage === undefined ? '' : `advantage ${signed(advantage)}`,
  ].filter(Boolean);
  return `member ${member} step ${step}${known.length > 0 ? ` (${known.join(', ')})` : ''}`;
}
