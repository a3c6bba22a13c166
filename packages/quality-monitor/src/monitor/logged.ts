import { type Finding, type Metrics, type MonitorBatch, promptText, severities } from '@rlp/core';
import { samplesKept } from '../assessor/assessor.ts';
import { sharedPhrases } from './shared-phrases.ts';

const namespace = 'reward_quality/';

/** Puts metrics under the namespace of the monitor, `reward_quality/`. */
export function namespaced(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${namespace}${name}`, value]));
}

/** Names without the monitor's namespace, as in log files. */
export function withoutNamespace(metrics: Metrics): Metrics {
  const inFile = (name: string) => (name.startsWith(namespace) ? name.slice(namespace.length) : name);
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [inFile(name), value]));
}

/** Counts of the reported alerts, by severity and rule. */
export function alertMetrics(reported: readonly Finding[], held: number): Metrics {
  const metrics: Record<string, number> = { alerts_this_batch: reported.length, alerts_held: held };
  for (const severity of severities) metrics[`alerts_${severity}`] = 0;
  for (const { severity, rule } of reported) {
    metrics[`alerts_${severity}`]! += 1;
    metrics[`pathology_${rule}`] = 1;
  }
  return metrics;
}

/** Adds to a detector's finding some of its responses, those with its phrases first, and the phrases that only they share. */
export function withSamples(
  finding: Finding,
  { trajectories }: MonitorBatch,
  responsesSeen: number,
): Finding {
  const ids = new Set(finding.trajectories);
  const suspects = trajectories.filter(({ trajectory }) => ids.has(trajectory.id));
  const others = trajectories.filter(({ trajectory }) => !ids.has(trajectory.id));
  const textsOf = (some: typeof suspects) => some.map(({ trajectory }) => trajectory.response);
  const phrases = sharedPhrases(textsOf(suspects), textsOf(others));
  const found = ({ trajectory }: (typeof suspects)[number]) =>
    phrases.filter((phrase) => trajectory.response.toLowerCase().includes(phrase)).length;
  const quoted = suspects.toSorted((a, b) => found(b) - found(a)).slice(0, samplesKept);
  const shared = phrases.map((phrase) => JSON.stringify(phrase)).join(', ');
  return {
    samples: textsOf(quoted),
    examples: quoted.map(({ trajectory: { response, task }, reward, components }) => ({
      ...{ response, prompt: promptText(task.prompt), components },
      reward: Number.isFinite(reward) ? reward : null,
    })),
    ...{ phrases, responsesSeen },
    ...finding,
    message: `${finding.message}${shared === '' ? '' : `. Only they share ${shared}`}`,
  };
}
