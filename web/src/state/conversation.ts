import { signal } from '@preact/signals';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { ConversationApi } from '../api/chat-api.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createAttempts } from './attempts.ts';
import { createContextState, watchContext } from './context-state.ts';
import { isOpen, liveSeq } from './live-turn.ts';
import {
  createTranscript,
  type ErasedTurns,
  type Transcript,
  textOfMessage,
} from './transcript.ts';

interface ConversationParts {
  id: string;
  /** Begins with its first message: there is nothing to read yet. */
  isNew: boolean;
  api: ConversationApi;
  /** Its first message is on its way. */
  onBegin: (text: string) => void;
}

type ConversationEvent = Extract<UserEvent, { type: 'conversation' }>;

/** Whether this page sees a turn, or one after it, being answered. */
const isAnswering = (answers: Answers, seq: number): boolean =>
  answers.live.value.some((turn) => isOpen(turn) && (liveSeq(turn) ?? Infinity) >= seq);

/** The transcript as far as it goes now; an answer that another device asked for is followed. */
async function showTurns(transcript: Transcript, answers: Answers, lastSeq: number): Promise<void> {
  // Its stream tells of the newest turn, which may not have its number yet.
  if (isAnswering(answers, lastSeq)) return;
  const seqs = new Set(transcript.openSeqs());
  if (lastSeq > transcript.turnCount.value) seqs.add(lastSeq);
  const turns = await Promise.all([...seqs].map(transcript.reload));
  const user = turns.find((turn) => turn?.user?.state === 'running')?.user ?? turns.at(-1)?.user;
  if (user?.state !== 'running' && user?.state !== 'queued') return;
  if (answers.live.value.some(isOpen)) return;
  const request = { kind: 'send', messageId: user.id, text: textOfMessage(user) } as const;
  answers.follow(request, user.turnId);
}

/** Begins to show a conversation, until `leave`. */
export function openConversation(parts: ConversationParts) {
  const { id, api } = parts;
  const attempts = createAttempts();
  const { attempt, left } = attempts;
  const state = createContextState(api);
  const transcript = createTranscript(api);
  let hasBegun = !parts.isNew;
  let erased: ErasedTurns | undefined;

  async function read(isAnew: boolean): Promise<void> {
    const { conversation, details } = await state.read(isAnew);
    await Promise.all([details(), showTurns(transcript, answers, conversation.lastSeq)]);
    if (erased) await transcript.readErased(erased);
  }

  let lastRead: Promise<unknown> = Promise.resolve();
  /** Reads what has changed, or all of it anew; one after the other. Throws ApiError. */
  function refresh(isAnew = false): Promise<void> {
    const done = lastRead.then(() => read(isAnew));
    lastRead = done.catch(() => undefined);
    return done;
  }

  const answers = createAnswers({
    ...parts,
    left,
    onAsk: ({ text }) => {
      if (!hasBegun) parts.onBegin(text);
      hasBegun = true;
    },
    onFrame: ({ chunk }) => {
      if (chunk.type === 'data-context') state.context.value = chunk.data;
    },
    onEnd: async (seq) => {
      const turn = await attempt(() => transcript.reload(seq));
      await attempt(() => refresh());
      return turn !== undefined;
    },
  });

  /** Looks for what has changed, unless nobody sees it. */
  const look = async (): Promise<void> => {
    if (hasBegun && !document.hidden) await attempt(() => refresh());
  };
  /** Runs a call that changes it, and reads what came of that. */
  const change = (work: () => Promise<unknown>, isAnew?: boolean): Promise<void> =>
    attempt(() => work().then(() => refresh(isAnew)));

  void look();
  watchContext({ context: state.context, look, left });

  return {
    ...state,
    ...attempts,
    id,
    api,
    transcript,
    answers,
    look,
    /** After an event: something has changed, perhaps on another device. */
    hear: (event: ConversationEvent): void => {
      erased = event.erased ?? erased;
      // An answer under way tells of itself, and of what has changed when it ends.
      if (!isAnswering(answers, event.conversation.lastSeq)) void look();
    },
    /** The turn that the transcript is to lead to; undefined: it shows what it shows. */
    target: signal<number>(),
    /** What is being written. */
    draft: {
      text: signal(''),
      /** The message that it takes the place of, and its turn; undefined: it is a new one. */
      edited: signal<{ messageId: string; seq: number }>(),
    },
    change,
    /** Keeps a text word for word in every context; the same id again is the same pin. */
    pin: (pinId: string, text: string) => change(() => api.pin(pinId, text), true),
    unpin: (pinId: string) => change(() => api.unpin(pinId), true),
  };
}

/** A conversation that is shown: signals that panes read, and what they may ask of it. */
export type OpenConversation = ReturnType<typeof openConversation>;
