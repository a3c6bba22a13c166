/** Recorded traffic of language models as trajectories: chat and Responses logs, OpenTelemetry spans, the AI SDK. Runs anywhere. */

export { type RecordedExchange, recordedExchanges, type TrafficFormat } from './traffic/record.ts';
export {
  type TrafficMetadata,
  type TrafficOptions,
  trajectoriesFromTraffic,
  trajectoryOfExchange,
} from './traffic/trajectories-from-traffic.ts';
