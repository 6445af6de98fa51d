import type { ExportedMessage, Fate } from './export-messages.ts';
import type { ConversationView } from '../resources/conversations.ts';
import type { MessageView } from '../resources/messages.ts';

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

/** What is said of a message whose stored turn cannot be read any more. */
const UNREADABLE = 'cannot be read any more';

/** One message as Markdown: who, when, what became of it, and its parts as they were written. */
export function markdownMessage({ message, fate }: ExportedMessage): string {
  const who = message.role === 'user' ? 'User' : 'Assistant';
  const note = message.unreadable === undefined ? NOTES[fate] : UNREADABLE;
  const heading = `## ${who}, ${message.createTime}${note === '' ? '' : ` (${note})`}`;
  const parts = message.parts.map((part) => `${partText(part)}\n\n`).join('');
  return `${heading}\n\n${parts}`;
}
