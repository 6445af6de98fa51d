import { distinctWords, shareIn, topicWords } from '#shared/text/words.ts';

/** The beginnings of all telling words of texts, which are read one by one, as far as they are asked for. */
export interface Vocabulary {
  /** Whether at least this share of some words, 0–1, is among them; false where there are none. */
  holdsShare: (words: ReadonlySet<string>, least: number) => boolean;
  /** Of every text. */
  all: () => ReadonlySet<string>;
}

/** Reads each text at most once: the first few hold most words that anybody asks for. */
export function readVocabulary(texts: Iterator<string>): Vocabulary {
  const known = new Set<string>();
  const readNext = (): boolean => {
    const { done, value } = texts.next();
    if (done === true) return false;
    for (const word of topicWords(distinctWords(value))) known.add(word);
    return true;
  };
  return {
    holdsShare: (words, least) => {
      while (shareIn(words, known) < least) if (!readNext()) return false;
      return true;
    },
    all: () => {
      while (readNext());
      return known;
    },
  };
}
