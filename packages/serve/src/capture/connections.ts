import { ArgumentError } from '@rlp/core';
import type { Answerer } from '../answer/answerer.ts';
import type { AgentConnection } from './capture-options.ts';

const answerers = new WeakMap<AgentConnection, Answerer>();

/** Remembers what answers the requests of a connection. */
export function connect(connection: AgentConnection, answerer: Answerer): AgentConnection {
  answerers.set(connection, answerer);
  return connection;
}

/**
 * What answers the requests of a connection.
 *
 * @throws ArgumentError for anything but the very object that an agent was given.
 */
export function answererOf(connection: AgentConnection): Answerer {
  const answerer = answerers.get(connection);
  if (answerer !== undefined) return answerer;
  throw new ArgumentError(
    'rlpProvider: expected a policy that can sample, or the connection that captureRollouts passed to the agent, got something else',
  );
}
