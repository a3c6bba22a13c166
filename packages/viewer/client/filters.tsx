import { everything, type Query, sortKeys } from '../src/rows.ts';
import type { Parts } from './parts.ts';

const sortNames: Readonly<Record<Query['sort'], string>> = {
  order: 'order of the file',
  reward: 'reward',
  tokens: 'tokens',
  steps: 'steps',
  calls: 'tool calls',
  iteration: 'iteration',
};

const onlyNames: Readonly<Record<Query['only'], string>> = {
  any: 'all',
  alerts: 'with alerts',
  tools: 'with tool calls',
  unscored: 'without a reward',
};

/** The field to search in, the filters and the order of the list. */
export function Filters({
  payload: { rows },
  route: { query },
  change,
  shown,
  share,
}: Parts & { readonly shown: number; readonly share: number }) {
  const ask = (part: Partial<Query>) => change({ query: { ...query, ...part } });
  const statuses = [...new Set(rows.map(({ status }) => status))];
  const iterations = [...new Set(rows.map(({ iteration }) => iteration))].filter(
    (each) => each !== undefined,
  );
  const isFiltered = Object.keys(everything).some(
    (name) => query[name as keyof Query] !== everything[name as keyof Query],
  );
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <input
        id="search"
        type="search"
        aria-label="Search in all messages"
        placeholder="Search in all messages"
        value={query.text}
        onInput={(event) => ask({ text: event.currentTarget.value })}
      />
      <div class="choices">
        <Choice
          label="Status"
          value={query.status}
          options={['any', ...statuses]}
          pick={(status) => ask({ status: status as Query['status'] })}
        />
        <Choice
          label="Show"
          value={query.only}
          options={Object.keys(onlyNames)}
          names={onlyNames}
          pick={(only) => ask({ only: only as Query['only'] })}
        />
        {iterations.length > 1 && (
          <Choice
            label="Iteration"
            value={query.iteration === undefined ? 'any' : String(query.iteration)}
            options={['any', ...iterations.map(String)]}
            pick={(iteration) => ask({ iteration: iteration === 'any' ? undefined : Number(iteration) })}
          />
        )}
        <Choice
          label="Sort by"
          value={query.sort}
          options={sortKeys}
          names={sortNames}
          pick={(sort) => ask({ sort: sort as Query['sort'], direction: sort === 'order' ? 'up' : 'down' })}
        />
        <button
          type="button"
          class="turn"
          aria-label={query.direction === 'up' ? 'Smallest first. Turn around' : 'Largest first. Turn around'}
          onClick={() => ask({ direction: query.direction === 'up' ? 'down' : 'up' })}
        >
          {query.direction === 'up' ? '↑' : '↓'}
        </button>
      </div>
      <p class="count" role="status">
        {shown === rows.length ? `${rows.length} trajectories` : `${shown} of ${rows.length} trajectories`}
        {share < 1 && `, searched ${Math.round(share * 100)} %`}
        {isFiltered && (
          <button type="button" class="plain" onClick={() => change({ query: everything })}>
            show all
          </button>
        )}
      </p>
    </form>
  );
}

function Choice({
  label,
  value,
  options,
  names = {},
  pick,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly pick: (value: string) => void;
}) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => pick(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {names[option] ?? option}
          </option>
        ))}
      </select>
    </label>
  );
}
