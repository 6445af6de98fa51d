import { signal } from '@preact/signals';
import type { ConversationApi } from '../api/chat-api.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createAttempts } from './attempts.ts';
import { createContextState, watchContext } from './context-state.ts';
import { isOpen } from './live-turn.ts';
import { createTranscript, type Transcript, textOfMessage } from './transcript.ts';

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
export function openConversation(parts: ConversationParts) {
  const { id, api, onChange } = parts;
  const attempts = createAttempts();
  const { attempt, left } = attempts;
  const state = createContextState(api);
  const transcript = createTranscript(api);
  let hasBegun = !parts.isNew;

  /** Reads what has changed, or all of it anew. Throws ApiError. */
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
    /** What is being written. */
    draft: {
      text: signal(''),
      /** The message that it takes the place of, and its turn; undefined: it is a new one. */
      edited: signal<{ messageId: string; seq: number }>(),
    },
    /** Runs a call that changes it, and reads what came of that. */
    change: (work: () => Promise<unknown>, isAnew?: boolean) =>
      attempt(() => work().then(() => refresh(isAnew))),
  };
}

/** A conversation that is shown: signals that panes read, and what they may ask of it. */
export type OpenConversation = ReturnType<typeof openConversation>;
