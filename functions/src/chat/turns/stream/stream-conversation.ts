import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { conversationFrameId, placeOfCursor } from '#shared/wire/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { SendMessage } from '../send/send-request.ts';
import { pastEndError, streamTurn, type ReadFrames } from './stream-turn.ts';

interface Asked {
  caller: Caller;
  cursor: number | undefined;
  locale: string | undefined;
  sendMessage: SendMessage;
}

interface ConversationStream {
  turn: Turn;
  frames: ReadFrames;
}

async function readTurn(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId }: OwnConversation,
  seq: number,
): Promise<Turn | undefined> {
  const [turn] = await readTurns(store, conversationId, [seq]);
  return turn?.value;
}

/** Frames with the ids that they have in the stream of the conversation. */
async function* numbered(
  frames: AsyncIterable<StreamFrame>,
  seq: number,
): AsyncGenerator<StreamFrame> {
  for await (const { id, chunk } of frames) yield { id: conversationFrameId(seq, id), chunk };
}

async function framesOfTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: Asked & { turn: Turn },
): Promise<ConversationStream | undefined> {
  const { turn } = asked;
  const showId = (id: number) => conversationFrameId(turn.seq, id);
  const frames = await streamTurn(dependencies, own, { ...asked, showId });
  return frames && { turn, frames: (reader) => numbered(frames(reader), turn.seq) };
}

/** The turn that is being answered now. */
async function activeTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
): Promise<Turn | undefined> {
  const { open } = own.conversation.value;
  const turn = open && (await readTurn(dependencies, own, open.seq));
  return turn && !isTerminal(turn.state) ? turn : undefined;
}

/**
 * The stream of a conversation, turn by turn, with ids that name the turn (CONVERSATION_IDS_PER_TURN): the
 * rest of the turn that the cursor names, or, when nothing of it is left, the turn after it from its first
 * frame. A cursor that names none counts for the turn that is being answered. `undefined` when there is
 * nothing to read. Throws BAD_FIELD for a cursor behind all that has been, STREAM_EXPIRED.
 */
export async function streamConversation(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: Asked,
): Promise<ConversationStream | undefined> {
  const { seq, id: cursor } = placeOfCursor(asked.cursor);
  if (seq === undefined) {
    const active = await activeTurn(dependencies, own);
    return active && framesOfTurn(dependencies, own, { ...asked, cursor, turn: active });
  }
  const turn = await readTurn(dependencies, own, seq);
  if (!turn) throw pastEndError(seq);
  const rest = await framesOfTurn(dependencies, own, { ...asked, cursor, turn });
  if (rest) return rest;
  const next = await readTurn(dependencies, own, seq + 1);
  return next && framesOfTurn(dependencies, own, { ...asked, cursor: undefined, turn: next });
}
