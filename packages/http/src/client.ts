/** A JSON client: time limits, retries, a circuit breaker, no secrets in messages. Runs wherever `fetch` does. */
export * from './client/circuit.ts';
export * from './client/failure-sentence.ts';
export * from './client/fetch.ts';
export * from './client/json-client.ts';
export * from './client/post.ts';
export * from './client/repeated.ts';
export * from './client/request-error.ts';
export * from './client/request-options.ts';
