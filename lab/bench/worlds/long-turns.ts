import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { indexConversation } from '#functions/recall/index-turns.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import type { Write } from '#shared/ports/ports.ts';
import { request } from '#test/support/chat/sending.ts';
import { manualRequest } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { answerText, reservationOf, userText } from './bench-conversation.ts';
import { openOnce } from './open-once.ts';
import type { StoreWork } from './counted-store.ts';
import { startEmulatedChat, type EmulatedChat } from './emulated-chat.ts';
import { randomUUID } from 'node:crypto';

/** So many turns are behind the last compaction. */
const UNCOVERED_TURNS = 40;

/**
 * Stores a conversation of user u1 with so many past turns, as they leave it: of more than 40, all but the newest are
 * folded and indexed by the real worker. Returns its id.
 */
async function buildLongConversation(world: EmulatedChat, turns: number): Promise<string> {
  const isFolded = turns > UNCOVERED_TURNS;
  const { conversationId } = await buildConversation(world.counted.store, {
    turns: Array.from({ length: turns }, (_, index) => ({
      user: userText(index + 1),
      answer: answerText(index + 1),
    })),
    conversation: {
      ...(isFolded && {
        coveredThrough: { seq: turns - UNCOVERED_TURNS, contentIndex: 0 },
        compactionRequests: manualRequest('bench'),
      }),
    },
  });
  if (!isFolded) return conversationId;
  const { signal } = new AbortController();
  await runCompaction(world.compaction, { conversationId, signal });
  await indexConversation(world.compaction, { conversationId, isBroken: false }, signal);
  return conversationId;
}

export interface TurnWork extends StoreWork {
  /** From the message to the end of its answer's stream. */
  ms: number;
  firstTextMs: number;
}

/** What every message asks for: of a long conversation a turn that is folded. */
const ASKED = `What does a night cost with the reservation ${reservationOf(7)}?`;

/** Sends one message, reads its stream to the end, and tells what that took. */
async function oneTurn(
  { chat, counted }: EmulatedChat,
  conversationId: string,
  options: { recallTokens?: number } = {},
): Promise<TurnWork> {
  counted.take();
  const startedAt = performance.now();
  const handle = await sendMessage(chat, { ...request(conversationId, ASKED), ...options });
  handle.subscribe(new AbortController().signal);
  let firstTextMs = Number.NaN;
  for await (const { chunk } of handle.frames())
    if (chunk.type === 'text-delta' && Number.isNaN(firstTextMs))
      firstTextMs = performance.now() - startedAt;
  await handle.result;
  return { ...counted.take(), ms: performance.now() - startedAt, firstTextMs };
}

export interface LongTurns {
  world: () => Promise<EmulatedChat>;
  /** One turn of the conversation with so many others, of an instance that knows it. */
  turn: (past: number, options?: { recallTokens?: number }) => Promise<TurnWork>;
  /** The first turn of that conversation, when the instance knew nothing of it. */
  coldTurn: (past: number) => Promise<TurnWork>;
  close: () => Promise<void>;
}

/** Conversations with so many past turns in one database; each is made when it is first asked for. */
export function createLongTurns(): LongTurns {
  const { open: world, close } = openOnce(startEmulatedChat);
  const made = new Map<number, Promise<{ id: string; cold: TurnWork }>>();
  const conversationOf = (past: number) => {
    const make = async () => {
      const opened = await world();
      const id = await buildLongConversation(opened, past);
      return { id, cold: await oneTurn(opened, id) };
    };
    const conversation = made.get(past) ?? make();
    made.set(past, conversation);
    return conversation;
  };
  return {
    world,
    turn: async (past, options) => {
      const { id } = await conversationOf(past);
      return oneTurn(await world(), id, options);
    },
    coldTurn: async (past) => (await conversationOf(past)).cold,
    close,
  };
}

const fieldsOf = (write: Write) => ('fields' in write ? write.fields : {});

/**
 * The least that a stored turn can cost: one read of as many documents as `turn` read, then its batches with the
 * same fields, by Google's client alone and without guards. Resolves to ms.
 */
export async function floorMs({ raw }: EmulatedChat, turn: TurnWork): Promise<number> {
  const folder = raw.collection(`floor/${randomUUID()}/documents`);
  const read = Array.from({ length: turn.reads }, (_, index) => folder.doc(`read-${index}`));
  const startedAt = performance.now();
  if (read.length > 0) await raw.getAll(...read);
  for (const writes of turn.batches) {
    const batch = raw.batch();
    for (const write of writes) batch.set(folder.doc(), fieldsOf(write));
    await batch.commit();
  }
  return performance.now() - startedAt;
}
