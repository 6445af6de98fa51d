import { signal, type ReadonlySignal } from '@preact/signals';
import type { WireEvent } from '../api/requester.ts';
import { emptyWireLog, recordWire, type WireLog } from './wire-log.ts';

/** What goes over the wire between the page and the service. */
export interface Wire {
  log: ReadonlySignal<WireLog>;
  observe: (event: WireEvent) => void;
  /** Tells of everything from now on, until the returned function is called. */
  watch: (listener: (event: WireEvent) => void) => () => void;
}

export function createWire(): Wire {
  const log = signal(emptyWireLog);
  const listeners = new Set<(event: WireEvent) => void>();
  return {
    log,
    observe: (event) => {
      log.value = recordWire(log.peek(), event);
      for (const listener of listeners) listener(event);
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
