import { extractTerms } from './index-terms.ts';
import { TELLING_MIN, type Telling } from './telling.ts';

/** The terms of a text that the context says; made once for each text. */
export type KnownText = ReadonlySet<string>;

export const knownText = (text: string): KnownText => new Set(extractTerms(text).counts.keys());

/**
 * Tells whether one of the texts says what another one says, but for words that tell next to nothing, or there is nothing to
 * say: of two entries of a diary that differ in one figure neither says the other.
 */
export function saidIn(known: readonly KnownText[], telling: Telling): (text: string) => boolean {
  const textsWith = new Map<string, number[]>();
  for (const [i, terms] of known.entries())
    for (const term of terms) {
      const texts = textsWith.get(term);
      if (texts) texts.push(i);
      else textsWith.set(term, [i]);
    }
  return (text) => {
    let told = 0;
    const shared = new Map<number, number>();
    for (const term of extractTerms(text).counts.keys()) {
      const tells = telling(term);
      told += tells;
      for (const i of textsWith.get(term) ?? []) shared.set(i, (shared.get(i) ?? 0) + tells);
    }
    return told - Math.max(0, ...shared.values()) < TELLING_MIN;
  };
}
