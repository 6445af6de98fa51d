import { signal, type Signal } from '@preact/signals';
import { ApiError } from '../api/api-error.ts';
import type { ConversationApi } from '../api/chat-api.ts';
import { createAnswers, type Answers } from './answer/answers.ts';
import { createContextState, type ContextState } from './context/context-state.ts';
import { isOpen } from './answer/live-turn.ts';
import { textOfMessage } from './answer/message-text.ts';
import type { Outbox } from './answer/outbox.ts';
import { createTranscript, type Transcript } from './transcript.ts';
import { watchContext } from './context/watch-context.ts';

/** A conversation that is shown: signals that panes read, and what they may ask of it. */
export interface OpenConversation extends Omit<ContextState, 'read'> {
  id: string;
  api: ConversationApi;
  transcript: Transcript;
  answers: Answers;
  /** What did not work; undefined: nothing. */
  problem: Signal<ApiError | undefined>;
  /** Reads what has changed, or all of it anew. Throws ApiError. */
  refresh(isAnew?: boolean): Promise<void>;
  /** Keeps a text word for word in every context; the same id again is the same pin. Throws ApiError. */
  pin(pinId: string, text: string): Promise<void>;
  /** Throws ApiError. */
  unpin(pinId: string): Promise<void>;
  /** Runs a call, and shows its problem instead of throwing. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  leave(): void;
  /** Fires when it is left. */
  left: AbortSignal;
}

interface ConversationParts {
  id: string;
  /** Begins with its first message: there is nothing to read yet. */
  isNew: boolean;
  api: ConversationApi;
  outbox: Outbox;
  locale: () => string;
  /** Its first message is on its way. */
  onBegin: (text: string) => void;
  /** The list of conversations has changed: a title, an order. */
  onChange: () => void;
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ code: -1, reason: 'UNKNOWN', message: String(error), cause: error });

/** What a call gives; a problem is told unless the page has left, and an outage is over with the next answer. */
async function attemptAndTell<T>(
  work: () => Promise<T>,
  problem: Signal<ApiError | undefined>,
  left: AbortSignal,
): Promise<T | undefined> {
  try {
    const found = await work();
    if (problem.value?.code === 0) problem.value = undefined;
    return found;
  } catch (error) {
    if (!left.aborted) problem.value = asApiError(error);
    return undefined;
  }
}

/** Follows the newest turn where another device asked for it and it is being answered. */
async function followOther(transcript: Transcript, answers: Answers, seq: number): Promise<void> {
  if (answers.live.value.some((turn) => isOpen(turn))) return;
  const user = (await transcript.reload(seq))?.user;
  if (user?.state !== 'running' && user?.state !== 'queued') return;
  const request = { kind: 'send', messageId: user.id, text: textOfMessage(user) } as const;
  answers.follow(request, user.turnId);
}

/** Begins to show a conversation, and to watch its context until `leave`. */
export function openConversation(parts: ConversationParts): OpenConversation {
  const { id, api, onChange } = parts;
  const leaving = new AbortController();
  const left = leaving.signal;
  const problem = signal<ApiError | undefined>(undefined);
  const state = createContextState(api);
  const transcript = createTranscript(api);
  let hasBegun = !parts.isNew;

  const attempt: OpenConversation['attempt'] = (work) => attemptAndTell(work, problem, left);

  /** The transcript as far as it goes now. */
  async function showTurns(lastSeq: number): Promise<void> {
    if (lastSeq > transcript.turnCount.value) await followOther(transcript, answers, lastSeq);
    transcript.turnCount.value = lastSeq;
  }

  async function refresh(isAnew = false): Promise<void> {
    const title = state.view.value?.title;
    const next = await state.read(isAnew);
    await Promise.all([next.details(), showTurns(next.conversation.lastSeq)]);
    if (next.conversation.title !== title) onChange();
  }

  const answers = createAnswers({
    conversationId: id,
    api,
    outbox: parts.outbox,
    locale: parts.locale,
    left,
    onFrame: ({ chunk }) => {
      if (chunk.type === 'data-context') state.learn(chunk.data);
      if (chunk.type === 'data-title') onChange();
    },
    onEnd: async (seq) => {
      const turn = await attempt(() => transcript.reload(seq));
      await attempt(() => refresh());
      onChange();
      return turn !== undefined;
    },
  });

  answers.takeUp();
  if (hasBegun) void attempt(() => refresh());
  const look = (isAnew: boolean) => attempt(() => refresh(isAnew));
  watchContext({
    context: state.context,
    locale: parts.locale,
    left,
    look,
    isBegun: () => hasBegun,
  });

  return {
    ...state,
    id,
    api,
    transcript,
    answers: {
      ...answers,
      ask: (request) => {
        if (!hasBegun) parts.onBegin(request.text);
        hasBegun = true;
        answers.ask(request);
      },
    },
    problem,
    refresh,
    pin: (pinId, text) => api.pin(pinId, text).then(() => state.refreshItems()),
    unpin: (pinId) => api.unpin(pinId).then(() => state.refreshItems()),
    attempt,
    leave: () => leaving.abort(),
    left,
  };
}
