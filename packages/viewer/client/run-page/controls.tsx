/** How curves are drawn. */
export interface Settings {
  readonly axis: 'step' | 'tokens' | 'seconds';
  /** Weight of the values before, from 0 to below 1. */
  readonly smoothing: number;
  /** Whether seeds of one configuration are one band. */
  readonly bands: boolean;
  /** Text in the names of the metrics that are shown. */
  readonly wanted: string;
}

/** What the curves are drawn over. */
export const axes = { step: 'iterations', tokens: 'tokens trained on', seconds: 'seconds' } as const;

/** How curves are drawn, to choose. */
export function Controls({
  settings: { axis, smoothing, bands, wanted },
  change,
}: {
  readonly settings: Settings;
  readonly change: (part: Partial<Settings>) => void;
}) {
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Metrics</span>
        <input
          type="search"
          id="wanted"
          placeholder="name contains"
          value={wanted}
          onInput={(event) => change({ wanted: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>Over</span>
        <select
          id="axis"
          value={axis}
          onChange={(event) => change({ axis: event.currentTarget.value as Settings['axis'] })}
        >
          {Object.entries(axes).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Smoothing {smoothing.toFixed(2)}</span>
        <input
          type="range"
          id="smoothing"
          min="0"
          max="0.99"
          step="0.01"
          value={smoothing}
          onInput={(event) => change({ smoothing: event.currentTarget.valueAsNumber })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={bands}
          onChange={(event) => change({ bands: event.currentTarget.checked })}
        />
        <span>Seeds as bands</span>
      </label>
    </form>
  );
}
