import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../src/payload.ts';
import { counted, rewardText } from './numbers.ts';
import type { Parts } from './parts.ts';

/** Height of a row in pixels, as the style sheet has it. */
const rowHeight = 62;
/** Rows that are drawn above and below what is seen. */
const margin = 8;

/** The list. Only what is seen is drawn, so it may be long. */
export function List({
  payload: { rows },
  places,
  open,
  change,
}: Pick<Parts, 'payload' | 'change'> & {
  readonly places: readonly number[];
  readonly open: number | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const look = () => {
    const { scrollTop: top, clientHeight: height } = box.current!;
    setView({ top, height });
  };
  useEffect(() => {
    // Also when the list is shown again after it was hidden on a phone.
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const at = open === undefined ? -1 : places.indexOf(open);
  useEffect(() => {
    const { scrollTop, clientHeight } = box.current!;
    if (at < 0 || (at * rowHeight >= scrollTop && (at + 1) * rowHeight <= scrollTop + clientHeight)) return;
    box.current!.scrollTop = Math.max(0, at * rowHeight - clientHeight / 2);
  }, [at]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - margin);
  const last = Math.min(places.length, Math.ceil((view.top + view.height) / rowHeight) + margin);
  return (
    <div class="list" ref={box} onScroll={look}>
      {places.length === 0 && <p class="empty">No trajectory is like this.</p>}
      <div style={{ height: `${places.length * rowHeight}px` }}>
        <ul style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {places.slice(first, last).map((place) => (
            <RowView
              key={place}
              row={rows[place]!}
              isOpen={place === open}
              pick={(id) => change({ id, view: 'trajectory' })}
            />
          ))}
        </ul>
      </div>
    </div>
  );
}

function RowView({
  row,
  isOpen,
  pick,
}: {
  readonly row: Row;
  readonly isOpen: boolean;
  readonly pick: (id: string) => void;
}) {
  const { id, task, status, reward, steps, tokens, calls, messages, labels = [], alerts, opening } = row;
  const counts = [
    ...(messages === undefined
      ? [steps === 1 ? '' : `${steps} steps`, counted(tokens, 'token')]
      : [counted(messages, 'message')]),
    calls === 0 ? '' : counted(calls, 'call'),
    status === 'completed' ? '' : status,
    ...labels,
  ];
  return (
    <li>
      <button
        type="button"
        class={isOpen ? 'row open' : 'row'}
        aria-current={isOpen}
        title={id}
        onClick={() => pick(id)}
      >
        <span class="head">
          <b>{task}</b>
          {alerts.length > 0 && (
            <span class="mark-alert" title="A monitor named it">
              ●
            </span>
          )}
          <span class="reward">{rewardText(reward)}</span>
        </span>
        <span class="opening">{opening || '(no text)'}</span>
        <span class="counts">{counts.filter(Boolean).join(' · ')}</span>
      </button>
    </li>
  );
}
