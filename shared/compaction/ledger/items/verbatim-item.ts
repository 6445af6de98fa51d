import type { Item } from '#shared/conversation/documents/snapshot.ts';
import type { Speaker } from '#shared/conversation/utterances.ts';
import { oneLine } from '#shared/text/one-line.ts';

/** Words that stand in a turn, exactly. */
export interface VerbatimSentence {
  seq: number;
  speaker: Speaker;
  text: string;
  /** Words of somebody else that the user shows. */
  isShown?: boolean | undefined;
  /** The day on which it was said, where that is known. */
  day?: string | undefined;
}

const speakerLabels: Readonly<Record<Speaker, string>> = {
  user: 'User',
  model: 'Assistant',
  call: 'Tool call',
  tool: 'Tool',
};

/** A letter that the user pastes does not say what he wants. */
const SHOWN_LABEL = 'Shown by the user';

/** What its label tells of a sentence. */
export type SpokenSentence = Pick<VerbatimSentence, 'speaker' | 'text' | 'isShown'>;

/** Who said it, in the words in which it was said: `User: "I land at 14:30."`. */
export const verbatimText = ({ speaker, text, isShown }: SpokenSentence) =>
  `${isShown === true ? SHOWN_LABEL : speakerLabels[speaker]}: "${oneLine(text)}"`;

/** The fields of an item that code makes of one sentence: its words, its turn and its day. */
export const verbatimFields = (sentence: VerbatimSentence) => ({
  text: verbatimText(sentence),
  sources: [sentence.seq],
  quote: sentence.text,
  ...(sentence.day === undefined ? {} : { at: sentence.day }),
  by: 'code' as const satisfies Item['by'],
});
