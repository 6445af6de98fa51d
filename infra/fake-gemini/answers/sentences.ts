/** Ends of sentences: CJK marks end at once, Latin ones only before white space (3.14, a.ts). */
const sentenceEnd = /(?<=[。！？])|(?<=[.!?]["'”’)\]]?)\s+/u;

/** The sentences of a text, in order, trimmed, marks of lists and quotes taken off; empty ones are left out. */
export function splitSentences(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.replace(/^[\s>]*(?:[-*•]\s+)?/u, '').split(sentenceEnd))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** The first `count` code points of a text: never half a surrogate pair. */
export function firstCodePoints(text: string, count: number): string {
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}
