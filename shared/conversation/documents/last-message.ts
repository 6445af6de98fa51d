import { contentText, type Content } from '#shared/models/content.ts';
import { cutHead, oneLine } from '#shared/text/cut.ts';
import { z } from 'zod';

/* What a conversation document says of the newest messages: enough for a line of a list. */

/** Of a question or an answer in the inbox: two lines of a phone. */
const PREVIEW_MAX_CHARACTERS = 120;
/** Turns of erased messages that are kept; a device that has missed more reads all messages again. */
const ERASED_TURNS_MAX = 20;

/** One end of a conversation: its last question, or its last answer. */
export const lastMessageSchema = z.object({
  seq: z.number().int().positive(),
  time: z.date(),
  /** How it begins; absent: it says nothing in words, or was erased. */
  preview: z.string().optional(),
  isErased: z.boolean().optional(),
});
export type LastMessage = z.infer<typeof lastMessageSchema>;

export const lastAnswerSchema = lastMessageSchema.extend({
  state: z.enum(['done', 'failed', 'cancelled']),
});
export type LastAnswer = z.infer<typeof lastAnswerSchema>;

/** The turns of which something was erased: how many in all, and which ones last, the newest at the end. */
export const erasedTurnsSchema = z.object({
  count: z.number().int().nonnegative(),
  seqs: z.array(z.number().int()),
});
type ErasedTurns = z.infer<typeof erasedTurnsSchema>;

export const withErasedTurns = (
  { count, seqs }: ErasedTurns = { count: 0, seqs: [] },
  more: readonly number[],
): ErasedTurns => ({
  count: count + more.length,
  seqs: [...seqs, ...more].slice(-ERASED_TURNS_MAX),
});

/** How a message begins, on one line; undefined: it has no words. */
function previewOf({ role, parts }: Content): string | undefined {
  // Of a text file the model reads the words; the user did not say them.
  const said = contentText({ role, parts: parts.filter(({ upload }) => upload === undefined) });
  // Far more than a preview has, so that long messages are not read whole.
  const text = oneLine(said.slice(0, 10 * PREVIEW_MAX_CHARACTERS)).trim();
  return text === '' ? undefined : cutHead(text, PREVIEW_MAX_CHARACTERS);
}

/** What the conversation document says of a question. */
export const lastQuestion = (seq: number, user: Content, time: Date): LastMessage => ({
  seq,
  time,
  preview: previewOf(user),
});

/** What the conversation document says of a turn that has ended, or was closed. */
export const lastAnswer = (
  { seq, state }: Pick<LastAnswer, 'seq' | 'state'>,
  contents: readonly Content[],
  time: Date,
): LastAnswer => ({
  seq,
  state,
  time,
  preview: previewOf({
    role: 'model',
    parts: contents.flatMap(({ role, parts }) => (role === 'model' ? parts : [])),
  }),
});

/** The last one as the messages stand: an answer that comes again for an earlier turn is not. */
export const newestAnswer = (before: LastAnswer | undefined, answered: LastAnswer): LastAnswer =>
  before && before.seq > answered.seq ? before : answered;

/** Tells nothing of a message any more. */
export const withoutPreview = <Message extends LastMessage>(message: Message): Message => ({
  ...message,
  preview: undefined,
  isErased: true,
});
