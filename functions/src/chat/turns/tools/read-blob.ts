import { z } from 'zod';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { toToolOutput } from '#shared/conversation/context/tool-calls.ts';
import { firstTailSeq, readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import { cutPage } from '#shared/text/cut.ts';
import type { ServerTool } from './toolbox.ts';

/** UTF-16 units of one call. */
const PAGE_CHARACTERS = 20_000;
const READ_TIMEOUT_MS = 20_000;
/** Without `toLocaleString`, which loads the data of languages: 40 ms of every cold start. */
const PAGE_FIGURE = String(PAGE_CHARACTERS).replace(/\d(?=(?:\d{3})+$)/g, '$&,');

const DESCRIPTION = `Reads the full text of a tool output of this conversation that was shortened: where an output says \
read_blob("…"), the name in quotes is the id. Long texts come in pages of at most ${PAGE_FIGURE} characters; \
nextCharacter says where the next one begins.`;

const parameters = z.object({
  id: z
    .string()
    .max(200)
    .describe('The name between the quotes of read_blob("…"): 64 hexadecimal digits.'),
  fromCharacter: z.number().int().min(0).default(0).describe('Where to begin, counted from 0.'),
  maxCharacters: z
    .number()
    .int()
    .min(1)
    .max(PAGE_CHARACTERS)
    .default(PAGE_CHARACTERS)
    .describe('How much to read at most.'),
});

/** A model may copy the quotes or the call along. */
const NAME = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/u;

const unknownBlob = (id: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'BLOB_NOT_FOUND',
    publicMessage: `No stored output has the id ${JSON.stringify(id.slice(0, 70))} in this conversation: copy the 64 digits that stand in read_blob("…").`,
  });

/**
 * Reads what stands behind a shortened output of the conversation that the call is made in. Pages follow one another
 * without gap or overlap and cut no character. Throws NOT_FOUND, BLOB_NOT_FOUND,
 * StoreUnavailableError.
 */
export function readBlob(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'sha256'>,
): ServerTool<typeof parameters> {
  const { store } = dependencies;
  return {
    name: 'read_blob',
    description: DESCRIPTION,
    parameters,
    timeoutMs: READ_TIMEOUT_MS,
    async run({ id, fromCharacter, maxCharacters }, { caller, conversationId, seq }) {
      const { conversation } = await readOwnConversation({ store }, { caller, conversationId });
      const name = NAME.exec(id)?.[0];
      if (name === undefined) throw unknownBlob(id);
      const whole = await findOutput(dependencies, {
        conversationId,
        conversation: conversation.value,
        seq,
        name,
      });
      if (whole === undefined) throw unknownBlob(id);
      const { text, from, next } = cutPage(whole, {
        from: fromCharacter,
        characters: maxCharacters,
      });
      return {
        text,
        fromCharacter: from,
        ...(next < whole.length && { nextCharacter: next }),
        totalCharacters: whole.length,
      };
    },
  };
}

/** Turns of one read. */
const READ_TURNS = 20;

interface Wanted {
  conversationId: string;
  conversation: Conversation;
  /** Of the turn that asks: its own outputs count. */
  seq: number;
  /** SHA-256 of the output. */
  name: string;
}

/**
 * The text of a tool output by its name, from the turns that may still stand in the context and the turn that
 * asks, the newest first; undefined where none has it. They go with their turn, and no other conversation has them.
 */
async function findOutput(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'sha256'>,
  { conversationId, conversation, seq, name }: Wanted,
): Promise<string | undefined> {
  const textIn = (turn: Turn): string | undefined => {
    if (!turn.inContext && turn.seq !== seq) return undefined;
    for (const { parts } of [turn.user, ...turn.contents])
      for (const part of parts) {
        const text = toToolOutput(part)?.text;
        if (text !== undefined && dependencies.sha256(text) === name) return text;
      }
    return undefined;
  };
  const first = firstTailSeq(conversation);
  for (let toSeq = Math.max(seq, conversation.lastSeq); toSeq >= first; toSeq -= READ_TURNS) {
    const fromSeq = Math.max(first, toSeq - READ_TURNS + 1);
    const range = { conversationId, conversation, fromSeq, toSeq };
    for (const turn of (await readTurnRange(dependencies, range)).toReversed()) {
      const text = textIn(turn);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}
