import { randomBytes } from 'node:crypto';

/** Random words that nobody else says: wherever one turns up, something that was sent has got there. */
export interface Canaries {
  /** A new one: letters and digits, so that it fits into ids, tokens and addresses. */
  next(): string;
  /** A sentence with `count` new ones. */
  text(count: number): string;
  /** Takes a text that exists already, such as a token, for one. */
  add(text: string): string;
  count(): number;
  /** Those that stand in a text, in whatever case. */
  foundIn(text: string): string[];
}

export function createCanaries(): Canaries {
  const all = new Set<string>();
  const add = (text: string) => {
    all.add(text);
    return text;
  };
  const next = () => add(`cnry${randomBytes(8).toString('hex')}`);
  return {
    next,
    add,
    text: (count) =>
      `Remember that ${Array.from({ length: count }, next).join(' comes with ')} on the trip.`,
    count: () => all.size,
    foundIn: (text) => {
      const lower = text.toLowerCase();
      return [...all].filter((canary) => lower.includes(canary.toLowerCase()));
    },
  };
}
