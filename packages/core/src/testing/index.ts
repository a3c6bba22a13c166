export * from './environment.ts';
export * from './metrics-logger.ts';
export * from './monitor.ts';
export * from './reward-computer.ts';
export * from './task-source.ts';
export * from './tensor-ops.ts';
export * from './training-backend.ts';
export * from './verifier.ts';
