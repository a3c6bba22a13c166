/** A small HTTP server: loopback by default, a token, limits, graceful close. Needs Node. */
export { readBody } from './read-body.ts';
export { Refusal } from './refusal.ts';
export { type HttpHandler, type HttpServer, type ServeHttpOptions, serveHttp } from './serve-http.ts';
