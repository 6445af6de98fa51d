import { signal } from '@preact/signals';
import type { ConversationApi } from '../api/chat-api.ts';
import {
  findTurn,
  pageNumber,
  seqBefore,
  TURNS_PER_PAGE,
  toTurns,
  withPage,
  withTurn,
  type StoredTurn,
  type TurnPages,
} from './turn-pages.ts';
import { withoutReplaced } from './turn-remarks.ts';

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

  return {
    turnCount,
    pages,
    need,
    /** Reads one turn again. */
    reload: async (seq: number): Promise<StoredTurn | undefined> => {
      const { messages } = await api.messages(seq - 1, MESSAGES_OF_TURN);
      const turn = toTurns(messages).find((found) => found.seq === seq);
      if (turn) pages.value = withoutReplaced(withTurn(pages.value, turn), seq);
      turnCount.value = Math.max(turnCount.value, seq);
      return turn ?? findTurn(pages.value, seq);
    },
  };
}

export type Transcript = ReturnType<typeof createTranscript>;
