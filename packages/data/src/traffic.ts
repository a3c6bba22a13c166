/** Recorded traffic of language models as trajectories: chat, Responses and Messages logs, OpenTelemetry spans, the AI SDK. Runs anywhere. */

export { recordedExchanges } from './traffic/record.ts';
export type { RecordedExchange, TrafficFormat } from './traffic/recorded-exchange.ts';
export {
  type TrafficMetadata,
  type TrafficOptions,
  trajectoriesFromTraffic,
  trajectoryOfExchange,
} from './traffic/trajectories-from-traffic.ts';
