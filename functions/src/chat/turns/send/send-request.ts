import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { ClientContext } from '#shared/conversation/documents/client-context.ts';
import type { Content, Part } from '#shared/models/content.ts';
import type { OnBusy } from '#shared/conversation/documents/conversation.ts';
import { answerId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { type AnswerOptions, decodeAnswerOptions } from '#shared/models/answer-options.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { FinishedTurn } from '../live-turn.ts';

/** What a new turn replaces: an edited message, or an answer that is made anew. */
export interface Replacing {
  kind: 'edit' | 'regenerate';
  /** The client's id of a user message, or `m_<seq>` of an answer. */
  messageId: string;
}

/** What BeforeTurn hooks give to a turn that begins. */
export interface AddedToTurn {
  /** As the model is told. */
  context?: string | undefined;
  /** Answers in place of the conversation's. */
  model?: string | undefined;
  /** Names of the app's tools that the model may call; undefined: all. */
  tools?: string[] | undefined;
}

/** A message as the route hands it over: valid, and the caller proven. */
export interface SendRequest {
  caller: Caller;
  conversationId: string;
  /** A regeneration has no parts of its own: its text is that of the turn it replaces. */
  message: { id: string; parts: Part[]; retention?: 'keep' | 'normal' | 'drop' };
  /** BCP 47; language of the messages about compaction. */
  locale?: string;
  /** What to do while another message is being answered; absent: as the conversation is set. */
  onBusy?: OnBusy;
  replacing?: Replacing;
  /** How the message is to be answered; absent: as the conversation says. */
  options?: AnswerOptions | undefined;
  /** At most this much of folded turns is brought back for the message; absent: as the conversation is set. */
  recallTokens?: number;
  /** What the model is to know of the moment; a retry may bring another one, which counts for nothing. */
  clientContext?: ClientContext;
  /** What BeforeTurn hooks give to its turn. */
  added?: AddedToTurn;
  /** Id of the last frame that the caller has of this message's answer. */
  cursor?: number | undefined;
  /** Made from the turn as it is stored: goes on with it, and never begins another one. */
  isStored?: true;
  /** The caller only reads: an ended turn is replayed, a retryable failure too. */
  isReader?: true;
}

/** A turn on its way or already answered. */
export interface SendHandle {
  turnId: string;
  conversationId: string;
  generation: number;
  replayed: boolean;
  /** From the first frame on, then live; ends after the finish frame, or when the reader has `left`. */
  frames(left?: AbortSignal): AsyncIterable<StreamFrame>;
  /** Counts a connection that waits for the answer, as stream or JSON, until it closes (`left`). */
  subscribe(left: AbortSignal): void;
  /** The finished turn; rejects with AppError when it failed. */
  result: Promise<FinishedTurn>;
}

/** How a message is sent: the use case that routes are given. */
export type SendMessage = (
  dependencies: ChatDependencies,
  request: SendRequest,
) => Promise<SendHandle>;

export const userContent = (request: SendRequest): Content => ({
  role: 'user',
  parts: request.message.parts,
});

/** Who goes on with a stored turn. */
interface StoredSender {
  caller: Caller;
  conversationId: string;
  locale: string | undefined;
  cursor: number | undefined;
  isReader?: true;
}

/**
 * The message of a stored turn, to be sent again by one who has only the turn: that takes an abandoned turn over, joins
 * a running one, or replays an ended one. Nothing of it changes while the turn stands.
 */
export function storedRequest({ locale, ...sender }: StoredSender, turn: Turn): SendRequest {
  const { messageId, user, retention, replaces, regenerates, options } = turn;
  const kind = regenerates === undefined ? 'edit' : 'regenerate';
  return {
    ...sender,
    message: { id: messageId, parts: user.parts, ...(retention && { retention }) },
    ...(options !== undefined && { options: decodeAnswerOptions(options) }),
    ...(locale !== undefined && { locale }),
    ...(replaces !== undefined && { replacing: { kind, messageId: answerId(replaces) } }),
    isStored: true,
  };
}
