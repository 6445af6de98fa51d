import { setTimeout as delay } from 'node:timers/promises';

/** Asks again until `look` gives something, at most `deadlineMs`. Throws Error that names what was awaited. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  deadlineMs = 60_000,
): Promise<T> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await delay(50);
  }
}
