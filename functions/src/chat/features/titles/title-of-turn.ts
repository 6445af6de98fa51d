import { wantsTitle } from '#shared/titles/title-decision.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { addAfterwork } from '#functions/chat/afterwork.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { BegunTurn } from '#functions/chat/turns/start/begun-turn.ts';
import { askForTitle } from './ask-for-title.ts';
import { storeTitle } from './store-title.ts';

/**
 * UTF-16 units of an answer from which on its title is made while it goes on, so that most streams are
 * still open when it comes.
 */
const TITLE_FROM_CHARACTERS = 400;

/** The title of a conversation, made beside the answer of a turn. */
export interface TitleOfTurn {
  /** What the stream of the answer shows. */
  see(chunk: StreamChunk): void;
  /** From here on nothing is added to the stream. */
  close(): void;
  /** The turn is answered and stored, and stands in the context. */
  answered(text: string): void;
}

const noTitle: TitleOfTurn = {
  see: () => undefined,
  close: () => undefined,
  answered: () => undefined,
};

/**
 * Makes a title where one is wanted, once a turn: as soon as the answer shows what the talk is about, or
 * when it has ended. No answer waits for it: it is noted in `afterwork`. `emit` gets it if the stream is
 * still open when it stands in the store.
 */
export function titleOfTurn(
  dependencies: ChatDependencies,
  begun: BegunTurn,
  emit: (chunk: StreamChunk) => unknown,
): TitleOfTurn {
  const { config } = dependencies;
  const { conversationId, seq } = begun.attempt;
  const { conversation, turns: before } = begun.context;
  if (config.TITLES === 'off' || !wantsTitle(conversation, seq)) return noTitle;
  let said = '';
  let isBegun = false;
  let isOpen = true;

  const make = async (text: string) => {
    const answer = {
      user: begun.turn.user,
      contents: [{ role: 'model' as const, parts: [{ text }] }],
    };
    const turns = [...before.filter(({ inContext }) => inContext), answer];
    const named = { conversationId, ownerUid: conversation.ownerUid, throughSeq: seq, turns };
    const title = await askForTitle(dependencies, named);
    if (title === undefined) return;
    const made = { conversationId, title, throughSeq: seq, madeFrom: conversation };
    const isStored = await storeTitle(dependencies, made);
    if (isStored && isOpen)
      emit({ type: 'data-title', id: 'title', transient: true, data: { title } });
  };
  const begin = (text: string) => {
    if (isBegun) return;
    isBegun = true;
    addAfterwork(dependencies, make(text));
  };

  return {
    see: (chunk) => {
      if (isBegun || chunk.type !== 'text-delta') return;
      said += chunk.delta;
      if (said.length >= TITLE_FROM_CHARACTERS) begin(said);
    },
    close: () => {
      isOpen = false;
    },
    answered: begin,
  };
}
