import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { ConversationApi } from '#web/api/chat-api.ts';
import { signal } from '@preact/signals';

/** What is said of a turn that is not as others; `by` is the turn that stands in its place. */
type TurnRemark =
  | {
      kind: 'deleted' | 'failed' | 'contentFilter' | 'stopped' | 'length' | 'loop' | 'notInContext';
    }
  | { kind: 'replaced'; by: number };

const replacesTurn = ({ seq, user }: StoredTurn, replaced: number): boolean =>
  user?.replaces !== undefined && user.replaces <= replaced && replaced < seq;

/** The first turn in memory that stands in for this one after an edit or a regeneration. */
function findReplacement(pages: TurnPages, seq: number): number | undefined {
  const later = [...pages.values()].flat().filter((turn) => replacesTurn(turn, seq));
  return later.length === 0 ? undefined : Math.min(...later.map((turn) => turn.seq));
}

/** With a turn and, where it stands in for others, without these in the context: as the service has them now. */
export function withoutReplaced(pages: TurnPages, seq: number): TurnPages {
  const newer = findTurn(pages, seq);
  if (newer?.user?.replaces === undefined) return pages;
  const after = (turn: StoredTurn): StoredTurn =>
    replacesTurn(newer, turn.seq)
      ? {
          ...turn,
          user: turn.user && { ...turn.user, inContext: false },
          answer: turn.answer && { ...turn.answer, inContext: false },
        }
      : turn;
  return new Map([...pages].map(([page, turns]) => [page, turns.map(after)]));
}

function outcomeOf({ user, answer }: StoredTurn): TurnRemark[] {
  if (user?.state === 'failed') return [{ kind: 'failed' }];
  if (answer?.finishReason === 'content-filter') return [{ kind: 'contentFilter' }];
  if (user?.state === 'cancelled') return [{ kind: 'stopped' }];
  if (answer?.loop !== undefined) return [{ kind: 'loop' }];
  return answer?.finishReason === 'length' ? [{ kind: 'length' }] : [];
}

/** How its answer ended, where that is worth a word, and why the model does not see it. */
export function turnRemarks(turn: StoredTurn, pages: TurnPages): TurnRemark[] {
  const { user, seq } = turn;
  if (user?.deleted) return [{ kind: 'deleted' }];
  const outcome = outcomeOf(turn);
  // One that waits for the app is seen as soon as it goes on.
  if (user?.inContext !== false || user.state === 'awaiting_tool') return outcome;
  const by = findReplacement(pages, seq);
  if (by !== undefined) return [...outcome, { kind: 'replaced', by }];
  // A message without an answer is seen by nobody: that is said already.
  return user.state === 'failed' ? outcome : [...outcome, { kind: 'notInContext' }];
}

/** What an event tells of a conversation's erased turns. */
export type ErasedTurns = NonNullable<Extract<UserEvent, { type: 'conversation' }>['erased']>;

/** One turn of the transcript: what the user said, and the answer where there is one. */
export interface StoredTurn {
  seq: number;
  user: MessageView | undefined;
  answer: MessageView | undefined;
}

/** What a message says. */
export const textOfMessage = (message: MessageView | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/** Turns of one request: a page of the API holds 100 messages. */
export const TURNS_PER_PAGE = 25;

/** Pages that stay in memory; the rest is asked for again when it is scrolled to. */
const PAGES_MAX = 16;

export const pageNumber = (seq: number): number => Math.floor((seq - 1) / TURNS_PER_PAGE);

/** Last turn before a page: what `afterSeq` takes. */
export const seqBefore = (page: number): number => page * TURNS_PER_PAGE;

/** The turns that messages belong to. */
export function toTurns(messages: readonly MessageView[]): StoredTurn[] {
  const turns = new Map<number, StoredTurn>();
  for (const message of messages) {
    const { seq, role } = message;
    const turn = turns.get(seq) ?? { seq, user: undefined, answer: undefined };
    turns.set(seq, { ...turn, [role === 'user' ? 'user' : 'answer']: message });
  }
  return [...turns.values()];
}

/** Pages by number; the order of the map is that of their last use. */
export type TurnPages = ReadonlyMap<number, readonly StoredTurn[]>;

/** With a page, as the newest used; without those that were not used for longest. */
export function withPage(pages: TurnPages, page: number, turns: readonly StoredTurn[]): TurnPages {
  const others = [...pages].filter(([known]) => known !== page);
  return new Map([...others.slice(-(PAGES_MAX - 1)), [page, turns]]);
}

/** With one turn in the place of what is known of it. */
function withTurn(pages: TurnPages, turn: StoredTurn): TurnPages {
  const page = pageNumber(turn.seq);
  const others = (pages.get(page) ?? []).filter(({ seq }) => seq !== turn.seq);
  const turns = [...others, turn].toSorted((one, other) => one.seq - other.seq);
  return withPage(pages, page, turns);
}

export const findTurn = (pages: TurnPages, seq: number): StoredTurn | undefined =>
  pages.get(pageNumber(seq))?.find((turn) => turn.seq === seq);

/** Whether the turn of a message is being answered, or will be. */
const isOpenState = (state: MessageView['state']): boolean =>
  state === 'running' || state === 'queued' || state === 'awaiting_tool';

/** Turns of one page that are read by themselves: an answer and its message. */
const MESSAGES_OF_TURN = 2;

/** The full transcript, of which a bounded part is in memory: turns are asked for where they are looked at. */
export function createTranscript(api: Pick<ConversationApi, 'messages'>) {
  const turnCount = signal(0);
  const pages = signal<TurnPages>(new Map());
  const asked = new Map<number, Promise<void>>();

  async function load(page: number): Promise<void> {
    const after = seqBefore(page);
    const { messages } = await api.messages(after, MESSAGES_OF_TURN * TURNS_PER_PAGE);
    const turns = toTurns(messages).filter(({ seq }) => pageNumber(seq) === page);
    pages.value = withPage(pages.value, page, turns);
  }

  /** Turns have numbers without gaps; of a page that was never asked for there may be the newest turn alone. */
  const isWhole = (page: number, lastSeq: number): boolean => {
    const end = Math.min(lastSeq, seqBefore(page + 1), turnCount.value);
    const known = pages.value.get(page)?.filter(({ seq }) => seq <= end) ?? [];
    return known.length >= end - seqBefore(page);
  };

  /** Asks for the pages of these turns that are not in memory; resolves when they are there. */
  async function need(firstSeq: number, lastSeq: number): Promise<void> {
    const waits: Promise<void>[] = [];
    const lastPage = pageNumber(Math.max(1, lastSeq));
    for (let page = pageNumber(Math.max(1, firstSeq)); page <= lastPage; page += 1) {
      if (isWhole(page, lastSeq)) continue;
      const started = asked.get(page) ?? load(page).finally(() => asked.delete(page));
      asked.set(page, started);
      waits.push(started);
    }
    await Promise.all(waits);
  }

  /** Reads one turn again. */
  async function reload(seq: number): Promise<StoredTurn | undefined> {
    const { messages } = await api.messages(seq - 1, MESSAGES_OF_TURN);
    const turn = toTurns(messages).find((found) => found.seq === seq);
    if (turn) pages.value = withoutReplaced(withTurn(pages.value, turn), seq);
    turnCount.value = Math.max(turnCount.value, seq);
    return turn ?? findTurn(pages.value, seq);
  }

  let erasedCount = 0;
  /** Reads again what was erased since it was read; all, where that is more than the turns that are named. */
  async function readErased({ count, seqs }: ErasedTurns): Promise<void> {
    const newCount = count - erasedCount;
    if (newCount > seqs.length) pages.value = new Map();
    else if (newCount > 0) {
      const shown = seqs.slice(-newCount).filter((seq) => findTurn(pages.value, seq));
      await Promise.all(shown.map(reload));
    }
    erasedCount = count;
  }

  /** Turns in memory that had not ended when they were read. */
  const openSeqs = (): number[] =>
    [...pages.value.values()]
      .flat()
      .filter(({ user }) => user && isOpenState(user.state))
      .map(({ seq }) => seq);

  return { turnCount, pages, need, reload, readErased, openSeqs };
}

export type Transcript = ReturnType<typeof createTranscript>;
