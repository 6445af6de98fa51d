import { hasAnswer, isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { isReplaced } from '#shared/conversation/writes/replacement.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { conversationResponse, type ConversationView } from './conversations.ts';
import { memoryNoteResponse } from './memories.ts';
import { answerView, messageResponse, userMessageView, type MessageView } from './messages.ts';
import { pinResponse } from './pins.ts';
import { uploadResponse } from './uploads.ts';
import { z } from 'zod';

/**
 * A line of an export as JSON: a conversation, then its messages in order; of a user, the notes about them and
 * their uploads first.
 */
export const exportLineResponse = z.discriminatedUnion('type', [
  memoryNoteResponse.extend({ type: z.literal('memory') }),
  conversationResponse.extend({
    type: z.literal('conversation'),
    pins: z.array(pinResponse).optional(),
  }),
  messageResponse.extend({
    type: z.literal('message'),
    conversationId: z.string(),
    fate: z
      .enum([
        'answered',
        'unanswered',
        'failed',
        'cancelled',
        'filtered',
        'deleted',
        'answerDeleted',
        'replaced',
      ])
      .describe('What became of the message’s turn.'),
  }),
  uploadResponse.extend({ type: z.literal('upload') }),
  z
    .object({ type: z.literal('unreadable'), conversationId: z.string() })
    .describe('A conversation of which nothing can be read any more.'),
]);
export type ExportLine = z.infer<typeof exportLineResponse>;

/** What became of a message's turn. */
type Fate = Extract<ExportLine, { type: 'message' }>['fate'];

export interface ExportedMessage {
  message: MessageView;
  fate: Fate;
}

/** What became of a turn of which nothing was erased. */
function wholeFate(turn: Turn): Fate {
  if (isReplaced(turn)) return 'replaced';
  if (!isTerminal(turn.state)) return 'unanswered';
  if (turn.state === 'failed') return 'failed';
  if (turn.state === 'cancelled') return 'cancelled';
  if (turn.finishReason !== undefined && toFinishReason(turn.finishReason) === 'content-filter')
    return 'filtered';
  return 'answered';
}

/** What became of a user's message. Where only the answer was erased, the message still stands. */
function messageFate(turn: Turn): Fate {
  if (turn.eraseTime === undefined) return wholeFate(turn);
  if (turn.user.parts.length === 0) return 'deleted';
  return isReplaced(turn) ? 'replaced' : 'answerDeleted';
}

const answerFate = (turn: Turn): Fate =>
  turn.eraseTime === undefined ? wholeFate(turn) : 'deleted';

/** User message and answer, if there is one, of a turn. */
export const exportMessages = (turn: Turn): ExportedMessage[] => [
  { message: userMessageView(turn), fate: messageFate(turn) },
  ...(hasAnswer(turn) ? [{ message: answerView(turn), fate: answerFate(turn) }] : []),
];

const NOTES: Readonly<Record<Fate, string>> = {
  answered: '',
  unanswered: 'not answered yet',
  failed: 'failed',
  cancelled: 'cancelled',
  filtered: 'filtered',
  deleted: 'deleted',
  answerDeleted: 'its answer was deleted',
  replaced: 'replaced by a later message',
};

/** More backticks than stand in a row in the text, and three at least. */
function fence(text: string): string {
  let longest = 2;
  // One by one: a call takes no more arguments than the stack has room for.
  for (const [run] of text.matchAll(/`+/gu)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

function block(kind: string, text: string): string {
  const marks = fence(text);
  return `${marks}${kind}\n${text}\n${marks}`;
}

function partText(part: MessageView['parts'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'file':
      // The bytes of a picture are no text; the JSON export has them.
      return `[file ${[part.mediaType, part.name, part.url].filter((text) => text !== undefined).join(' ')}]`;
    case 'functionCall':
      return block(`json call ${part.name}`, JSON.stringify(part.args, null, 2));
    case 'functionResponse':
      return block(`json response ${part.name}`, JSON.stringify(part.response, null, 2));
  }
}

/** The heading of an export as Markdown. */
export const markdownTitle = ({ id, title, createTime }: ConversationView): string =>
  `# ${(title ?? id).replaceAll(/\s+/gu, ' ')}\n\nConversation ${id}, begun ${createTime}.\n\n`;

/** What Markdown would read in the words of others. */
const MARKDOWN = /[\\`*_[\]<>#|~]/gu;

/** The sources of an answer as a list of links; '' where it has none. */
function sourceLines({ sources = [] }: MessageView): string {
  if (sources.length === 0) return '';
  const lines = sources.map(
    ({ url, title = new URL(url).host }, index) =>
      `${index + 1}. [${title.replaceAll(MARKDOWN, String.raw`\$&`)}](<${url}>)\n`,
  );
  return `Sources:\n\n${lines.join('')}\n`;
}

/** What is said of a message whose stored turn cannot be read any more. */
const UNREADABLE = 'cannot be read any more';

/** One message as Markdown: who, when, what became of it, and its parts as they were written. */
export function markdownMessage({ message, fate }: ExportedMessage): string {
  const who = message.role === 'user' ? 'User' : 'Assistant';
  const note = message.unreadable === undefined ? NOTES[fate] : UNREADABLE;
  const heading = `## ${who}, ${message.createTime}${note === '' ? '' : ` (${note})`}`;
  const parts = message.parts.map((part) => `${partText(part)}\n\n`).join('');
  return `${heading}\n\n${parts}${sourceLines(message)}`;
}
