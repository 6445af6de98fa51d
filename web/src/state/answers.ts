import { signal, type Signal } from '@preact/signals';
import type { AnswerRequest, ConversationApi } from '#web/api/chat-api.ts';
import { pause } from './waiting.ts';
import { followAnswer, type AnswerConnection } from './follow-answer.ts';
import { beginLiveTurn, isOpen, liveSeq, type LiveTurn } from './live-turn.ts';
import type { Outbox } from './browser-memory.ts';

/** The answers of a conversation that this page asked for, until the transcript has them. */
export interface Answers {
  live: Signal<readonly LiveTurn[]>;
  ask(request: AnswerRequest): void;
  /** The same request again: the service attaches it to the same turn. */
  retry(messageId: string): void;
  /** A turn that was not answered is shown as the transcript has it, or no more. */
  forget(messageId: string): void;
  /** Follows an answer that somebody else asked for. */
  follow(request: AnswerRequest, turnId: string): void;
}

/** Pause before the transcript is asked again for a turn that has ended. */
const LOOK_AGAIN_MS = 2_000;

interface AnswersParts extends Pick<AnswerConnection, 'left' | 'onFrame'> {
  /** Of the conversation. */
  id: string;
  api: ConversationApi;
  outbox: Outbox;
  onAsk: (request: AnswerRequest) => void;
  /** A turn has ended: resolves to whether the transcript has it now. */
  onEnd: (seq: number) => Promise<boolean>;
}

/** The stored turn says whether the same again is worth a try; without a network it may be. */
async function explained(api: ConversationApi, turn: LiveTurn): Promise<LiveTurn> {
  const stored = turn.turnId && (await api.turn(turn.turnId).catch(() => undefined));
  if (!stored || !stored.error) return turn;
  const { message, retryable } = stored.error;
  return { ...turn, problem: { message, isFinal: !retryable } };
}

export function createAnswers(parts: AnswersParts): Answers {
  const { id, api, outbox, left } = parts;
  const live = signal<readonly LiveTurn[]>([]);
  const isOf = (messageId: string) => (turn: LiveTurn) => turn.request.messageId === messageId;
  const find = (messageId: string): LiveTurn | undefined => live.value.find(isOf(messageId));
  const others = (messageId: string): LiveTurn[] =>
    live.value.filter((turn) => !isOf(messageId)(turn));

  const replace = (next: LiveTurn): void => {
    const isSame = isOf(next.request.messageId);
    live.value = live.value.map((known) => (isSame(known) ? next : known));
  };

  const forget = (messageId: string): void => {
    live.value = others(messageId);
  };

  /** The transcript has what the stream has told: the live turn gives way to it. */
  async function settle(messageId: string): Promise<void> {
    const turn = find(messageId);
    if (!turn || isOpen(turn)) return;
    outbox.remove(messageId);
    const seq = liveSeq(turn);
    if (seq === undefined) return;
    // Without a network what was streamed stays in its place.
    while (!(await parts.onEnd(seq)) && !left.aborted) await pause(LOOK_AGAIN_MS, left);
    if (turn.phase === 'failed') replace(await explained(api, turn));
    else forget(messageId);
  }

  function begin(request: AnswerRequest, turnId?: string): void {
    const { messageId } = request;
    const turn = beginLiveTurn(request, turnId);
    live.value = [...others(messageId), turn];
    const get = () => find(messageId) ?? turn;
    void followAnswer({ ...parts, get, set: replace }).then(() => settle(messageId));
  }

  function ask(request: AnswerRequest): void {
    parts.onAsk(request);
    outbox.add({ conversationId: id, request });
    begin(request);
  }

  // What was asked for before the page was loaded anew.
  for (const request of outbox.of(id)) begin(request);

  return {
    live,
    ask,
    retry: (messageId) => {
      const turn = find(messageId);
      if (turn) ask(turn.request);
    },
    forget,
    follow: begin,
  };
}
