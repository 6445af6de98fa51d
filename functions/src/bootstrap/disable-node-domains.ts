import domain from 'node:domain';
import { EventEmitter } from 'node:events';

/** What the framework asks of a domain: it runs a request. Nothing is emitted to it. */
class RequestScope extends EventEmitter {
  run(work: () => void): void {
    work();
  }
}

/**
 * Makes requests run without `node:domain`, in which the framework wraps each of them: the first domain of a process
 * turns on hooks for every promise that it makes from then on, half of the processor time of a stream
 * (docs/decisions/chat/0008-hono-routes.md). What a handler throws is answered as before. Holds for every
 * request that comes after the call; to be called where a process begins.
 */
export function disableNodeDomains(): void {
  Object.assign(domain, { create: () => new RequestScope() });
}
