/** A small HTTP server: loopback by default, a token, limits, graceful close. Needs Node. */
export { Refusal } from './refusal.ts';
export {
  type HttpExchange,
  type HttpHandler,
  type HttpServer,
  type ServeHttpOptions,
  serveHttp,
} from './serve-http.ts';
