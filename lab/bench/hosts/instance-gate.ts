import { setTimeout as delay } from 'node:timers/promises';

/** Lets requests in as an instance of Cloud Run does that cannot be joined by another one. */
interface InstanceGate {
  /** Resolves to what has to be called at the end, or to undefined where no place became free in time. */
  enter(): Promise<(() => void) | undefined>;
}

/** `atOnce` are served; others wait for `waitMs` at most, who came first comes first. */
export function createInstanceGate({
  atOnce,
  waitMs,
}: {
  atOnce: number;
  waitMs: number;
}): InstanceGate {
  const waiting = new Set<() => void>();
  let served = 0;
  const leave = () => {
    const [next] = waiting;
    if (!next) served -= 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    enter: async () => {
      if (served < atOnce) {
        served += 1;
        return leave;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const begin = () => resolve(true);
      waiting.add(begin);
      const timer = new AbortController();
      const late = delay(waitMs, false, { signal: timer.signal }).catch(() => true);
      const isServed = await Promise.race([promise, late]);
      timer.abort();
      if (isServed) return leave;
      waiting.delete(begin);
      return undefined;
    },
  };
}
