import type { Part } from '#shared/conversation/documents/content.ts';
import { createRepetitionDetector } from '#shared/loops/repetition-detector.ts';
import { cutHead } from '#shared/text/cut.ts';

/** What an answer says, on its way to its readers. */
interface RepetitionFilter {
  /** What of the text may be shown now; what repeats itself waits. `isRepetition`: nothing more will be shown. */
  pass(text: string): { shown: string; isRepetition: boolean };
  /** What still waits: to be shown at the end of an answer that is none, to be cut off one that is. */
  held(): string;
}

/**
 * Holds back what repeats itself until it is clear whether the model repeats itself, so that repetitions are neither shown
 * nor stored. What is held back is bounded by the window of the detector.
 */
export function createRepetitionFilter(answer: { isJson: boolean }): RepetitionFilter {
  const detector = createRepetitionDetector(answer);
  let waiting = '';
  return {
    pass(text) {
      const isRepetition = detector.see(text);
      waiting += text;
      const shown = cutHead(waiting, waiting.length - detector.heldCharacters());
      waiting = waiting.slice(shown.length);
      return { shown, isRepetition };
    },
    held: () => waiting,
  };
}

/** Lets everything through, where nobody looks for loops. */
export const passEverything = (): RepetitionFilter => ({
  pass: (text) => ({ shown: text, isRepetition: false }),
  held: () => '',
});

const shownLength = ({ text = '', thought }: Part): number => (thought === true ? 0 : text.length);

/**
 * An answer without the last `characters` UTF-16 units of what it shows, and without what stands between and
 * behind them: calls that came with a repetition are none.
 */
export function withoutEnd(parts: readonly Part[], characters: number): Part[] {
  const kept = [...parts];
  for (let left = characters; left > 0;) {
    const last = kept.pop();
    if (last === undefined) break;
    const length = shownLength(last);
    if (length > left) kept.push({ ...last, text: last.text?.slice(0, length - left) ?? '' });
    left -= Math.min(left, length);
  }
  return kept;
}
