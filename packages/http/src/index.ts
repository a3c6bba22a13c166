/** A small HTTP server: loopback by default, a token, limits, graceful close. Needs Node. */

export { EventStreams, type EventStreamsOptions, type ServerEvent } from './event-streams.ts';
export type { HttpExchange } from './exchange.ts';
export { Refusal } from './refusal.ts';
export {
  type HttpHandler,
  type HttpServer,
  type ServeHttpOptions,
  serveHttp,
} from './serve-http.ts';
export {
  type HtmlPage,
  htmlResponse,
  type PageSource,
  type ServedPage,
  type ServedPageOptions,
  servedPageFields,
  servePage,
} from './serve-page.ts';
