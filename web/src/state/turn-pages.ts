import type { MessageView } from '#shared/wire/resources/messages.ts';

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
export function withTurn(pages: TurnPages, turn: StoredTurn): TurnPages {
  const page = pageNumber(turn.seq);
  const others = (pages.get(page) ?? []).filter(({ seq }) => seq !== turn.seq);
  const turns = [...others, turn].toSorted((one, other) => one.seq - other.seq);
  return withPage(pages, page, turns);
}

export const findTurn = (pages: TurnPages, seq: number): StoredTurn | undefined =>
  pages.get(pageNumber(seq))?.find((turn) => turn.seq === seq);
