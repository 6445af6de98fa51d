import type { Cell, Places, Trial } from './columns.ts';

/** The library believes one thing and the server's state is another. */
class Difference extends Error {}

/** Throws what turns the cell into a difference. */
export function differ(text: string): never {
  throw new Difference(text);
}

/** Throws a difference unless both are equal as JSON. */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [have, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (have !== want) differ(`${what} is ${have}, expected ${want}`);
}

const TRIAL_MS = 40_000;
const POLL_MS = 25;

/** Waits up to `withinMs` until `look` gives something; a difference with `what` where it does not. */
export async function until<Seen>(
  what: string,
  look: () => Seen | undefined | false | Promise<Seen | undefined | false>,
  withinMs = 10_000,
): Promise<Seen> {
  for (const startedAt = Date.now(); Date.now() - startedAt < withinMs;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await pause(POLL_MS);
  }
  return differ(`after ${withinMs / 1_000} s still not: ${what}`);
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** The message in a body of an error, where the library shows the body as it is. */
function messageInJson(text: string): string | undefined {
  const start = text.indexOf('{');
  if (start === -1) return undefined;
  try {
    const { error } = JSON.parse(text.slice(start));
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}

/** The words of an error as its reader gets them. */
export function saidBy(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const inner = messageInJson(text);
  if (inner !== undefined) return `${inner} (inside JSON)`;
  return text === '' ? `an error without words (${String(error)})` : text;
}

/** Runs one trial; never throws. */
export async function observe(trial: Trial | Cell, places: Places): Promise<Cell> {
  if (typeof trial !== 'function') return trial;
  const tooLong = Promise.withResolvers<Cell>();
  const timer = setTimeout(
    () => tooLong.resolve({ kind: 'differs', text: `nothing came within ${TRIAL_MS / 1_000} s` }),
    TRIAL_MS,
  );
  try {
    return (await Promise.race([trial(places), tooLong.promise])) ?? { kind: 'works' };
  } catch (error) {
    const kind = error instanceof Difference ? 'differs' : 'says';
    return { kind, text: saidBy(error) };
  } finally {
    clearTimeout(timer);
  }
}
