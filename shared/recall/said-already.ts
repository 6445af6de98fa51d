import { termsOf } from './index-terms.ts';

/** Share of the terms of a text that one text of the context must have, for the text to be said there already. */
const SAID_SHARE = 0.9;

/** The terms of a text that the context says; made once for each text. */
export type KnownText = ReadonlySet<string>;

export const knownText = (text: string): KnownText => new Set(termsOf(text).counts.keys());

/** Tells whether one of the texts says all but a tenth of what another one says. */
export function saidIn(known: readonly KnownText[]): (text: string) => boolean {
  const textsWith = new Map<string, number[]>();
  for (const [i, terms] of known.entries())
    for (const term of terms) {
      const texts = textsWith.get(term);
      if (texts) texts.push(i);
      else textsWith.set(term, [i]);
    }
  return (text) => {
    const terms = [...termsOf(text).counts.keys()];
    if (terms.length === 0) return true;
    const shared = new Map<number, number>();
    for (const term of terms)
      for (const i of textsWith.get(term) ?? []) shared.set(i, (shared.get(i) ?? 0) + 1);
    const most = Math.max(0, ...shared.values());
    return most >= SAID_SHARE * terms.length;
  };
}
