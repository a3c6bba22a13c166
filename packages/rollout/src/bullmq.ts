/** Rollouts on many machines, by BullMQ on Redis. Needs Node, `bullmq` and `ioredis`. */

export { type BullRollouts, type BullRolloutsOptions, bullRollouts } from './bullmq/bull-rollouts.ts';
export { type BullWorker, type BullWorkerOptions, serveBullRollouts } from './bullmq/bull-worker.ts';
