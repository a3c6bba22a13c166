import type { Opinion, Trial } from './trials.ts';

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Batch of an alarm with a second opinion, and of a suspicion without. */
function found({ alarm, suspicion }: Trial, opinion: Opinion): number | undefined {
  return opinion === 'with' ? alarm : suspicion;
}

function grouped(trials: readonly Trial[], key: (trial: Trial) => string): [string, Trial[]][] {
  const groups = new Map<string, Trial[]>();
  for (const trial of trials) groups.set(key(trial), [...(groups.get(key(trial)) ?? []), trial]);
  return [...groups];
}

/** False alarms and suspicions of runs without a hack. */
export function cleanTable(trials: readonly Trial[], key: (trial: Trial) => string): string {
  const rows = [...grouped(trials, key), ['all', [...trials]] as [string, Trial[]]].map(([name, of]) => {
    const batches = of.reduce((sum, one) => sum + one.batches, 0);
    const total = (field: 'alarms' | 'suspicions' | 'alarmed') =>
      of.reduce((sum, one) => sum + one[field], 0);
    const runs = of.filter(({ alarm }) => alarm !== undefined).length;
    const suspicious = of.filter(({ suspicion }) => suspicion !== undefined).length;
    return `| ${name} | ${of.length} | ${runs} | ${((1000 * total('alarms')) / batches).toFixed(2)} | ${percent(total('alarmed') / batches)} | ${suspicious} | ${((1000 * total('suspicions')) / batches).toFixed(2)} |`;
  });
  return [
    '| runs without a hack | runs | with alarm | alarms per 1,000 batches | batches in alarm | with suspicion | suspicions per 1,000 |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

/** Share of planted hacks that are found, and what is missed. */
export function recallTable(
  trials: readonly Trial[],
  opinion: Opinion,
  key: (trial: Trial) => string,
): string {
  const rows = [...grouped(trials, key), ['all', [...trials]] as [string, Trial[]]].map(([name, of]) => {
    const hits = of.filter((one) => (found(one, opinion) ?? -1) >= one.start);
    const early = of.filter((one) => (found(one, opinion) ?? Infinity) < one.start).length;
    const delays = hits.map((one) => found(one, opinion)! - one.start + 1).sort((a, b) => a - b);
    return `| ${name} | ${of.length} | ${(hits.length / of.length).toFixed(3)} | ${early} | ${delays[delays.length >> 1] ?? ''} |`;
  });
  return [
    `| ${opinion === 'with' ? 'alarm' : 'suspicion'} | runs | recall | before the hack | median batch |`,
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

/** The forms that are missed most. */
export function missedList(trials: readonly Trial[], opinion: Opinion): string {
  return grouped(trials, ({ name }) => name)
    .map(([name, of]) => ({
      name,
      missed: of.filter((one) => !((found(one, opinion) ?? -1) >= one.start)),
      all: of.length,
    }))
    .filter(({ missed }) => missed.length > 0)
    .sort((a, b) => b.missed.length - a.missed.length)
    .map(
      ({ name, missed, all }) =>
        `  ${missed.length} of ${all} ${name} (${missed.map(({ corpus, batchSize, cause }) => `${corpus}/${batchSize}${cause && ` early: ${cause}`}`).join('; ')})`,
    )
    .join('\n');
}

/** What set off alarms and suspicions in runs without a hack. */
export function causesList(trials: readonly Trial[]): string {
  return trials
    .filter(({ alarm, suspicion }) => (alarm ?? suspicion) !== undefined)
    .map(
      ({ name, corpus, batchSize, alarm, suspicion, cause }) =>
        `  ${name}, ${corpus}/${batchSize} at ${alarm ?? suspicion}: ${cause}`,
    )
    .join('\n');
}
