import { inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { type ChatDependencies, addAfterwork } from '../chat-dependencies.ts';
import type { BegunTurn } from '../turns/start/begun-turn.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { retry } from '#functions/lib/retry.ts';
import { answeringModel } from '#functions/models/models-in-use.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnId, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { mayStoreTitle, wantsTitle, titlePrompt, titleIn } from '#shared/conversation/title.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { callAuxiliaryModel } from './auxiliary-model-call.ts';

/** A title that takes longer is not waited for, ms. */
const TITLE_TIMEOUT_MS = 5_000;

/** A title has a dozen tokens; some models think before. */
const TITLE_MAX_TOKENS = 256;
/** What is read of an answer that does not end, UTF-16 units. */
const ANSWER_CHARACTERS = 2_000;

/** Turns to be named, of a conversation and its owner. */
interface ToBeNamed {
  conversationId: string;
  ownerUid: string;
  throughSeq: number;
  turns: readonly Pick<Turn, 'user' | 'contents'>[];
}

/**
 * Asks a cheap model for a title, for 5 s at most. Undefined when there was none that can be shown. Never
 * throws; the log says why there is none, and never what was said.
 */
async function askForTitle(
  dependencies: ChatDependencies,
  named: ToBeNamed,
): Promise<string | undefined> {
  const { config, logger, shutdown } = dependencies;
  const { conversationId, ownerUid, throughSeq } = named;
  const model = answeringModel(config, config.QUICK_MODEL);
  const request: ModelRequest = {
    ...titlePrompt(model, named.turns),
    maxOutputTokens: TITLE_MAX_TOKENS,
    role: 'utility_title',
    promptId: `${turnId(throughSeq)}-title`,
  };
  const timeout = timeoutAfter(dependencies, TITLE_TIMEOUT_MS);
  const fields = { conversationId, throughSeq, model };
  try {
    const asked = await callAuxiliaryModel(dependencies, {
      work: 'titles',
      conversationId,
      ownerUid,
      request,
      maximumCharacters: ANSWER_CHARACTERS,
      signal: AbortSignal.any([timeout.signal, shutdown]),
    });
    const title = asked.finishReason === 'STOP' ? titleIn(asked.text) : undefined;
    const { usage, costMicros } = asked;
    await asked.settled;
    logger.log('INFO', title === undefined ? 'title_refused' : 'title_made', {
      ...fields,
      promptTokens: usage?.promptTokens,
      outputTokens: usage?.outputTokens,
      costMicros,
    });
    return title;
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'title_failed', {
      ...fields,
      reason: timeout.signal.aborted ? 'TIMEOUT' : reason,
    });
    return undefined;
  } finally {
    timeout.stop();
  }
}

/** A title is not worth a fight for the conversation document: who loses its guard this often gives up. */
const STORE_TRIES = 10;
const STORE_RETRY_MS = 20;

interface MadeTitle {
  conversationId: string;
  title: string;
  throughSeq: number;
  /** The conversation document as the turn began. */
  madeFrom: Pick<Conversation, 'epoch' | 'changedIn'>;
}

/**
 * Stores a title that a model made, unless the user has set one meanwhile, or the turns that it was made of
 * have changed. Resolves to whether it stands. Never throws.
 */
async function storeTitle(
  { store, clock, logger }: Pick<ChatDependencies, 'store' | 'clock' | 'logger'>,
  made: MadeTitle,
): Promise<boolean> {
  const { conversationId, title, throughSeq } = made;
  const attempt = async () => {
    const conversation = await readConversation(store, conversationId);
    if (!conversation || !mayStoreTitle(conversation.value, made)) return false;
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { title, autoTitle: { throughSeq } },
        guard: { updateTime: conversation.updateTime },
      },
      ...inboxWrites(conversationId, { ...conversation.value, title }, { now: clock.now() }),
    ]);
    return true;
  };
  try {
    return await retry(attempt, {
      mostTries: STORE_TRIES,
      beforeNext: (tries) => clock.wait(STORE_RETRY_MS * tries),
    });
  } catch (error) {
    if (error instanceof GuardLostError) return false;
    const reason = failureReason(error);
    logger.log('WARNING', 'title_not_stored', { conversationId, throughSeq, reason });
    return false;
  }
}

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
