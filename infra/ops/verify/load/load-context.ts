import { memoryForPrompt, readNotes } from '#functions/memory/prompt-memory.ts';
import { viewNow } from '#functions/chat/context/view-now.ts';
import type { Config } from '#functions/config.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { noCache, readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { Sha256, Signer } from '#shared/ports/ports.ts';
import type { ReadStore } from '#infra/ops/pages.ts';
import type { LoadedContext } from './loaded.ts';

/** Asks somebody what `/context` shows; undefined: nobody can be asked. */
export type AskContext = (target: {
  conversationId: string;
  uid: string;
}) => Promise<LoadedContext['shown']>;

export interface ContextReading {
  store: ReadStore;
  config: Config;
  sha256: Sha256;
  /** As the service has it: what does not verify is left out of contexts. */
  signer: Pick<Signer, 'isValid'>;
  askContext?: AskContext | undefined;
}

const silent = { log: () => undefined };

/** What the documents of a live conversation make, and what is shown of it. Throws what cannot be read. */
export async function loadContext(
  reading: ContextReading,
  conversationId: string,
  conversation: Conversation,
): Promise<LoadedContext> {
  const { store, config, sha256, signer, askContext } = reading;
  const source = { store, cache: noCache, signer, logger: silent };
  const uid = conversation.ownerUid;
  const [{ history, turns, open }, notes, shown] = await Promise.all([
    readContextParts(source, { conversationId, conversation }),
    readNotes(reading, uid),
    askContext?.({ conversationId, uid }),
  ]);
  const memory = memoryForPrompt(config, {
    conversation,
    notes,
    ...(open && { message: open.user }),
  });
  const context = { ...conversation, history, turns, memory: memory.standing };
  const openNow = open && { turn: open, said: memory.said };
  return {
    history,
    turns,
    items: assembleContext(context),
    expected: viewNow({ config, sha256 }, context, openNow).items,
    shown,
  };
}
