import { signal, type Signal } from '@preact/signals';
import type { AnswerRequest, ConversationApi } from '#web/api/chat-api.ts';
import type { ReceivedFrame } from '#web/api/event-stream.ts';
import { followAnswer } from './follow-answer.ts';
import { beginLiveTurn, isOpen, liveSeq, type LiveTurn } from './live-turn.ts';
import type { Outbox } from './outbox.ts';
import { pause } from './pause.ts';

/** The answers of a conversation that this page asked for, until the transcript has them. */
export interface Answers {
  live: Signal<readonly LiveTurn[]>;
  ask(request: AnswerRequest): void;
  /** The same request again: the service attaches it to the same turn. */
  retry(messageId: string): void;
  /** A turn that was not answered is shown as the transcript has it, or no more. */
  forget(messageId: string): void;
  /** What was asked for before the page was loaded anew. */
  takeUp(): void;
  /** Follows an answer that somebody else asked for. */
  follow(request: AnswerRequest, turnId: string): void;
  /** Cuts the connections of answers under way; they go on over others. */
  dropConnections(): void;
}

/** Pause before the transcript is asked again for a turn that has ended. */
const LOOK_AGAIN_MS = 2_000;

interface AnswersParts {
  conversationId: string;
  api: ConversationApi;
  outbox: Outbox;
  locale: () => string;
  left: AbortSignal;
  onFrame: (frame: ReceivedFrame) => void;
  /** A turn has ended: resolves to whether the transcript has it now. */
  onEnd: (seq: number) => Promise<boolean>;
}

/** The stored turn says whether the same again is worth a try; without a network it may be. */
async function explained(api: ConversationApi, turn: LiveTurn): Promise<LiveTurn> {
  const stored = turn.turnId && (await api.turn(turn.turnId).catch(() => undefined));
  if (!stored || !stored.error) return turn;
  const { message, reason, retryable } = stored.error;
  return { ...turn, problem: { message, reason, isFinal: !retryable } };
}

export function createAnswers(parts: AnswersParts): Answers {
  const { conversationId, api, outbox, locale, left, onFrame } = parts;
  const live = signal<readonly LiveTurn[]>([]);
  const connections = new Map<string, AbortController>();
  const find = (messageId: string): LiveTurn | undefined =>
    live.value.find(({ request }) => request.messageId === messageId);

  const replace = (next: LiveTurn): void => {
    const { messageId } = next.request;
    live.value = live.value.map((known) => (known.request.messageId === messageId ? next : known));
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
    else live.value = live.value.filter((known) => known !== find(messageId));
  }

  function begin(turn: LiveTurn): void {
    const { messageId } = turn.request;
    const isSame = ({ request }: LiveTurn) => request.messageId === messageId;
    live.value = [...live.value.filter((known) => !isSame(known)), turn];
    const ended = followAnswer({
      api,
      locale,
      get: () => find(messageId) ?? turn,
      set: replace,
      onFrame,
      openConnection: () => {
        const controller = new AbortController();
        connections.set(messageId, controller);
        return controller.signal;
      },
      left,
      pause,
    });
    void ended.then(() => {
      connections.delete(messageId);
      return settle(messageId);
    });
  }

  function ask(request: AnswerRequest): void {
    outbox.add({ conversationId, request });
    begin(beginLiveTurn(request));
  }

  return {
    live,
    ask,
    retry: (messageId) => {
      const turn = find(messageId);
      if (turn) ask(turn.request);
    },
    forget: (messageId) => {
      live.value = live.value.filter(({ request }) => request.messageId !== messageId);
    },
    takeUp: () => {
      for (const request of outbox.of(conversationId)) begin(beginLiveTurn(request));
    },
    follow: (request, turnId) => begin(beginLiveTurn(request, turnId)),
    dropConnections: () => {
      for (const controller of connections.values()) controller.abort();
    },
  };
}
