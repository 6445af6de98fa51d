import { signal, type Signal } from '@preact/signals';
import { ApiError } from '#web/api/api-error.ts';
import type { ConversationApi } from '../api/chat-api.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createContextState, type ContextState, watchContext } from './context-state.ts';
import { isOpen } from './live-turn.ts';
import { createTranscript, type Transcript, textOfMessage } from './transcript.ts';

/** What is being written. */
interface Draft {
  text: Signal<string>;
  /** The message that it takes the place of, and its turn; undefined: it is a new one. */
  edited: Signal<{ messageId: string; seq: number } | undefined>;
}

/** A conversation that is shown: signals that panes read, and what they may ask of it. */
export interface OpenConversation extends Omit<ContextState, 'read'> {
  id: string;
  api: ConversationApi;
  transcript: Transcript;
  answers: Answers;
  draft: Draft;
  /** What did not work; undefined: nothing. */
  problem: Signal<ApiError | undefined>;
  /** Reads what has changed, or all of it anew. Throws ApiError. */
  refresh(isAnew?: boolean): Promise<void>;
  /** Runs a call, and shows its problem instead of throwing. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Runs a call that changes it, and reads what came of that. */
  change(work: () => Promise<unknown>, isAnew?: boolean): Promise<void>;
  leave(): void;
  /** Fires when it is left. */
  left: AbortSignal;
}

interface ConversationParts {
  id: string;
  /** Begins with its first message: there is nothing to read yet. */
  isNew: boolean;
  api: ConversationApi;
  /** Its first message is on its way. */
  onBegin: (text: string) => void;
  /** The list of conversations has changed: a title, an order. */
  onChange: () => void;
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ code: -1, reason: 'UNKNOWN', message: String(error), cause: error });

/** Calls until the page leaves: a problem is told, and an outage is over with the next answer. */
function createAttempts() {
  const leaving = new AbortController();
  const left = leaving.signal;
  const problem = signal<ApiError | undefined>(undefined);
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await work();
      if (problem.value?.code === 0) problem.value = undefined;
      return found;
    } catch (error) {
      if (!left.aborted) problem.value = asApiError(error);
      return undefined;
    }
  }
  return { problem, attempt, left, leave: () => leaving.abort() };
}

/** Follows the newest turn where another device asked for it and it is being answered. */
async function followOther(transcript: Transcript, answers: Answers, seq: number): Promise<void> {
  if (answers.live.value.some(isOpen)) return;
  const user = (await transcript.reload(seq))?.user;
  if (user?.state !== 'running' && user?.state !== 'queued') return;
  const request = { kind: 'send', messageId: user.id, text: textOfMessage(user) } as const;
  answers.follow(request, user.turnId);
}

/** The transcript as far as it goes now. */
async function showTurns(transcript: Transcript, answers: Answers, seq: number): Promise<void> {
  if (seq > transcript.turnCount.value) await followOther(transcript, answers, seq);
  transcript.turnCount.value = seq;
}

/** Begins to show a conversation, and to watch its context until `leave`. */
export function openConversation(parts: ConversationParts): OpenConversation {
  const { id, api, onChange } = parts;
  const attempts = createAttempts();
  const { attempt, left } = attempts;
  const state = createContextState(api);
  const transcript = createTranscript(api);
  let hasBegun = !parts.isNew;

  async function refresh(isAnew = false): Promise<void> {
    const title = state.view.value?.title;
    const { conversation, details } = await state.read(isAnew);
    await Promise.all([details(), showTurns(transcript, answers, conversation.lastSeq)]);
    if (conversation.title !== title) onChange();
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
      if (chunk.type === 'data-title') onChange();
    },
    onEnd: async (seq) => {
      const turn = await attempt(() => transcript.reload(seq));
      await attempt(() => refresh());
      onChange();
      return turn !== undefined;
    },
  });

  if (hasBegun) void attempt(() => refresh());
  void watchContext({
    context: state.context,
    isWanted: () => hasBegun && !document.hidden,
    look: () => attempt(() => refresh()),
    left,
  });

  return {
    ...state,
    ...attempts,
    id,
    api,
    transcript,
    answers,
    draft: { text: signal(''), edited: signal(undefined) },
    refresh,
    change: (work, isAnew) => attempt(() => work().then(() => refresh(isAnew))),
  };
}
