/** What of a growing text is to be said, and how far that goes. */
interface Said {
  sentences: string[];
  /** Characters that have been said. */
  length: number;
}

/**
 * The sentences that a text has gained behind `length` characters; the last one only when nothing follows. A
 * screen reader is told of whole sentences, not of every piece that arrives.
 */
export function newSentences(
  text: string,
  input: { length: number; isWhole: boolean; language: string },
): Said {
  const rest = text.slice(input.length);
  if (rest.trim() === '') return { sentences: [], length: input.length };
  const segmenter = new Intl.Segmenter(input.language, { granularity: 'sentence' });
  const segments = Array.from(segmenter.segment(rest), ({ segment }) => segment);
  const finished = input.isWhole ? segments : segments.slice(0, -1);
  return {
    sentences: finished.map((sentence) => sentence.trim()).filter((sentence) => sentence !== ''),
    length: input.length + finished.join('').length,
  };
}
