import type { ChatDependencies } from '../chat-dependencies.ts';
import { readAllNotes } from '../features/memories.ts';
import { allUploads } from '../features/uploads.ts';
import { notFoundError } from '../not-found.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import {
  type Conversation,
  decodeConversation,
  unreadableConversationText,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError, AppError } from '#shared/lib/errors.ts';
import { openedRange, type FoldedRange } from '#shared/hooks/folded-turns.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { conversationView } from '#shared/wire/resources/conversations.ts';
import {
  exportMessages,
  markdownMessage,
  markdownTitle,
  type ExportedMessage,
  type ExportLine,
} from '#shared/wire/resources/export.ts';
import { noteView } from '#shared/wire/resources/memories.ts';
import { pinView } from '#shared/wire/resources/pins.ts';
import { uploadView } from '#shared/wire/resources/uploads.ts';
import { readOwnConversation, ownConversations } from './own-conversation.ts';

/** Turns of one read; what a slow client has not taken yet is not read. */
const TURNS_PER_READ = 10;

type StoreOnly = Pick<ChatDependencies, 'store'>;

interface Exported {
  conversationId: string;
  conversation: Conversation;
}

/** Turns of a conversation, the first and the last included. */
interface TurnRange {
  conversationId: string;
  from: number;
  upTo: number;
}

const allTurns = ({ conversationId, conversation }: Exported): TurnRange => ({
  conversationId,
  from: 1,
  upTo: conversation.lastSeq,
});

/** All turns of a range in order. A turn that is missing was erased meanwhile: the export breaks off. */
async function* turnsOf(
  { store }: StoreOnly,
  { conversationId, from, upTo }: TurnRange,
): AsyncGenerator<Turn> {
  for (let first = from; first <= upTo; first += TURNS_PER_READ) {
    const length = Math.min(TURNS_PER_READ, upTo - first + 1);
    const seqs = Array.from({ length }, (_, i) => first + i);
    const turns = await readTurns(store, conversationId, seqs);
    if (turns.length < length)
      throw new StoreUnavailableError({ operation: `export of ${conversationId}` });
    for (const { value } of turns) yield value;
  }
}

async function* messagesOf(
  dependencies: StoreOnly,
  range: TurnRange,
): AsyncGenerator<ExportedMessage> {
  for await (const turn of turnsOf(dependencies, range)) yield* exportMessages(turn);
}

const line = (exported: ExportLine) => `${singleLineJson(exported)}\n`;

/** The messages of a range of turns, a line of JSON each. What throws breaks the text off. */
async function* messageLines(dependencies: StoreOnly, range: TurnRange): AsyncGenerator<string> {
  const { conversationId } = range;
  for await (const { message, fate } of messagesOf(dependencies, range))
    yield line({ type: 'message', conversationId, fate, ...message });
}

async function* linesOf(dependencies: StoreOnly, exported: Exported): AsyncGenerator<string> {
  const { conversationId, conversation } = exported;
  const pins = conversation.pins.length > 0 && { pins: conversation.pins.map(pinView) };
  yield line({ type: 'conversation', ...conversationView(conversationId, conversation), ...pins });
  yield* messageLines(dependencies, allTurns(exported));
}

async function* markdownOf(dependencies: StoreOnly, exported: Exported): AsyncGenerator<string> {
  yield markdownTitle(conversationView(exported.conversationId, exported.conversation));
  for await (const message of messagesOf(dependencies, allTurns(exported)))
    yield markdownMessage(message);
}

/**
 * The full transcript of a caller's conversation as text, read while it is taken: replaced, failed and
 * deleted turns are in it and say so. Throws NOT_FOUND before the first byte; what throws later breaks
 * the text off.
 */
export async function exportConversation(
  dependencies: StoreOnly,
  target: { caller: Caller; conversationId: string; format: 'jsonl' | 'markdown' },
): Promise<AsyncGenerator<string>> {
  const { conversationId, format } = target;
  const { conversation } = await readOwnConversation(dependencies, target);
  const exported = { conversationId, conversation: conversation.value };
  return format === 'jsonl' ? linesOf(dependencies, exported) : markdownOf(dependencies, exported);
}

/** What is remembered about a caller, their uploads, and all conversations, as JSON lines, those in the bin included. */
export async function* exportUser(
  dependencies: Pick<ChatDependencies, 'store' | 'files'>,
  caller: Caller,
): AsyncGenerator<string> {
  const { notes } = await readAllNotes(dependencies, caller.uid);
  for (const note of notes) yield line({ type: 'memory', ...noteView(note) });
  for await (const { upload, request } of allUploads(dependencies, caller))
    yield line({ type: 'upload', ...uploadView(upload, request) });
  for await (const { conversationId, conversation } of ownConversations(dependencies, caller)) {
    const { state } = conversation.value;
    if (state !== 'live' && state !== 'deleted') continue;
    // How many turns there are is not known of a conversation document that cannot be read: nothing of them is
    // told as if it were all.
    if (unreadableConversationText(conversation.problems) !== undefined)
      yield line({ type: 'unreadable', conversationId });
    else yield* linesOf(dependencies, { conversationId, conversation: conversation.value });
  }
}

/** The conversation is still the one that was compacted, at most by the swap itself or one other change further. */
const isOpen = (conversation: Conversation, { epoch, generation }: FoldedRange) =>
  conversation.state === 'live' &&
  conversation.epoch === epoch &&
  conversation.generation >= generation &&
  conversation.generation <= generation + 1;

/**
 * The turns that a compaction folds, as lines of an export, for the hook that was given a token to read them with. What
 * their user has deleted meanwhile says so. Throws READ_TOKEN_INVALID, and NOT_FOUND once the conversation is deleted or two generations
 * further; what throws later breaks the text off.
 */
export async function readFoldedTurns(
  dependencies: Pick<ChatDependencies, 'store' | 'signer' | 'clock' | 'logger'>,
  { conversationId, token }: { conversationId: string; token: string | undefined },
): Promise<AsyncGenerator<string>> {
  const { store, signer, clock, logger } = dependencies;
  const asked = { conversationId, token: token ?? '' };
  const range = signer && openedRange(signer, asked, clock.now());
  if (!range)
    throw new AppError({
      reason: 'READ_TOKEN_INVALID',
      publicMessage:
        'Send the `token` of a preCompact call in the header `X-Recap-Read-Token`, before its `expireTime`, to the `path` beside it.',
    });
  const [document] = await store.get([conversationPath(conversationId)]);
  if (!document || !isOpen(decodeConversation(document).value, range)) throw notFoundError();
  const { generation, from, upTo } = range;
  logger.log('INFO', 'folded_turns_read', { conversationId, generation, from, upTo });
  return messageLines(dependencies, { conversationId, from, upTo });
}
