import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import { messageGuardPath, seqOfId, turnId } from '#shared/conversation/documents/paths.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import {
  firstTailSeq,
  readTurnRange,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import { REPLACED_MAX } from '#shared/conversation/decisions/start-decision.ts';
import { AppError } from '#shared/errors.ts';
import { toInputParts, type AiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import {
  decideHistory,
  type HistoryClaim,
  type HistoryDecision,
  type KnownTurn,
  type SentMessage,
} from './history-decision.ts';
import { toMessageId } from './user-message.ts';

interface Asked {
  conversationId: string;
  conversation: Conversation;
  body: AiSdkChatBody;
}

/** What is compared of a text: its parts of text, joined. */
const textOf = (parts: unknown) =>
  toInputParts(parts)
    .map((part) =>
      typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : '',
    )
    .join('');

function namesOf(
  dependencies: Pick<RouteDependencies, 'sha256'>,
  { role, id }: AiSdkChatBody['messages'][number],
): SentMessage['names'] {
  if (typeof id !== 'string') return undefined;
  if (role === 'user') return { messageId: toMessageId(dependencies, id) };
  const seq = role === 'assistant' ? seqOfId(id, 'm') : undefined;
  return seq === undefined ? undefined : { answerOf: seq };
}

/** What stands before the last message of the user. */
function messagesBefore(
  dependencies: Pick<RouteDependencies, 'sha256'>,
  { messages }: AiSdkChatBody,
): SentMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(0, Math.max(0, last)).map((message, index) => ({
    index,
    names: namesOf(dependencies, message),
    text: message.role === 'user' ? textOf(message['parts']) : '',
  }));
}

/** assistant-ui’s transport sends its tools with each request, also where there are none; it edits by leaving out. */
const claimOf = ({ history, tools }: AiSdkChatBody): HistoryClaim =>
  history ?? (tools === undefined ? undefined : 'whole');

/** What the user has typed: of a text file, its text is not. */
const typedText = ({ role, parts }: Content) =>
  contentText({ role, parts: parts.filter(({ upload }) => upload === undefined) });

const toKnown = (turn: Turn): KnownTurn => ({
  seq: turn.seq,
  messageId: turn.messageId,
  text: typedText(turn.user),
  replaces: turn.replaces,
  replacedBy: Object.keys(turn.replacedBy ?? {})
    .flatMap((id) => seqOfId(id, 't') ?? [])
    .toSorted((a, b) => a - b),
  isErased: turn.eraseTime !== undefined,
  counts: turn.inContext || !isTerminal(turn.state),
});

/** From which turn on the history is compared: those of the context, and all behind the newest answer that it names. */
function firstCompared(
  { conversation }: Asked,
  { before, claim }: { before: readonly SentMessage[]; claim: HistoryClaim },
): number {
  const { lastSeq } = conversation;
  const answers = before.flatMap(({ names }) =>
    names && 'answerOf' in names ? names.answerOf : [],
  );
  const newest =
    answers.filter((seq) => seq <= lastSeq).at(-1) ?? (claim === 'whole' ? 1 : lastSeq);
  const oldest = Math.max(1, lastSeq - REPLACED_MAX);
  return Math.min(newest, Math.max(oldest, firstTailSeq(conversation)));
}

/** The turns of the user’s messages behind the newest answer, where they are not among those that are read anyway. */
async function readNamed(
  { store }: Pick<RouteDependencies, 'store'>,
  { conversationId, conversation }: Asked,
  { before, turns }: { before: readonly SentMessage[]; turns: readonly Turn[] },
): Promise<Turn[]> {
  const newest = before.findLastIndex(({ names }) => names && 'answerOf' in names);
  const known = new Set(turns.map(({ messageId }) => messageId));
  const ids = before
    .slice(newest + 1)
    .flatMap(({ names }) => (names && 'messageId' in names ? names.messageId : []))
    .filter((id) => !known.has(id))
    // Each is read, and no edit goes farther back.
    .slice(-REPLACED_MAX);
  if (ids.length === 0) return [];
  const guards = await store.get(ids.map((id) => messageGuardPath(conversationId, id)));
  const seqs = guards
    .flatMap((guard) => (guard ? decodeMessageGuard(guard).seq : []))
    .filter((seq) => seq <= conversation.lastSeq);
  return (await readTurns(store, conversationId, seqs)).map(({ value }) => value);
}

type Refused = Exclude<HistoryDecision, { kind: 'append' | 'edit' }>;

function refusalOf({ kind, index, seq }: Refused): AppError {
  const place = `messages[${index}]`;
  const told = {
    replaced: `\`${place}\` belongs to a branch that an edit has ended: another message stands in its place. Load the messages again, or fork the conversation there.`,
    changed: `\`${place}\` has another text than the server has under its id. Send the message itself again with \`sendMessage({ text, messageId })\`.`,
    gap: `Before \`${place}\` the history lacks ${turnId(seq)}, which is in the context. Delete that message on the server, load the messages again, or send \`history: "window"\`.`,
  };
  const isReplaced = kind === 'replaced';
  return new AppError({
    status: isReplaced ? 'FAILED_PRECONDITION' : 'INVALID_ARGUMENT',
    reason: isReplaced ? 'MESSAGE_REPLACED' : 'BAD_FIELD',
    message: `the history of a UI message was refused: ${kind} at ${index}, turn ${seq}`,
    publicMessage: told[kind],
    metadata: { field: place, turnId: turnId(seq) },
  });
}

/**
 * Id of the message in whose place a new one is said, by the history that the client sends with it; undefined where it
 * comes after all. Throws MESSAGE_REPLACED, BAD_FIELD for a history that no context can be made of.
 */
export async function editedMessage(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<string | undefined> {
  const { conversationId, conversation, body } = asked;
  const before = messagesBefore(dependencies, body);
  const claim = claimOf(body);
  if (before.length === 0 && claim !== 'whole') return undefined;
  const fromSeq = firstCompared(asked, { before, claim });
  // No edit goes farther back: of a longer way its first turn tells.
  const toSeq = Math.min(conversation.lastSeq, fromSeq + REPLACED_MAX);
  const range = { conversationId, conversation, fromSeq, toSeq };
  const turns = await readTurnRange(dependencies, range);
  const named = await readNamed(dependencies, asked, { before, turns });
  const all = [...named.filter(({ seq }) => seq < fromSeq), ...turns].toSorted(
    (a, b) => a.seq - b.seq,
  );
  const decision = decideHistory({ before, turns: all.map(toKnown), claim });
  switch (decision.kind) {
    case 'append':
      return undefined;
    case 'edit':
      return all.find(({ seq }) => seq === decision.seq)?.messageId;
    case 'replaced':
    case 'changed':
    case 'gap':
      throw refusalOf(decision);
  }
}
