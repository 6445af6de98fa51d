/** A message of the client's history, as far as it is compared. */
export interface SentMessage {
  /** Its place in `messages`. */
  index: number;
  /** The turn whose answer it is, or the id of the user's message; of other messages nothing is known. */
  names: { answerOf: number } | { messageId: string } | undefined;
  /** What the user says in it; of an answer nothing is compared. */
  text: string;
}

/** A turn as the server has it. */
export interface KnownTurn {
  seq: number;
  messageId: string;
  text: string;
  /** First of the turns that it was put in the place of. */
  replaces?: number | undefined;
  /** Turns that were put in its place, or in the place of one before it, in order. */
  replacedBy: readonly number[];
  isErased: boolean;
  /** It is in the context, or on its way there. */
  counts: boolean;
}

/** What the client says of its history: all of it, a choice of it, or nothing. */
export type HistoryClaim = 'whole' | 'window' | undefined;

export type HistoryDecision =
  /** The message comes after all that the server has. */
  | { kind: 'append' }
  /** It is said in the place of this turn and of all that follow. */
  | { kind: 'edit'; seq: number }
  /** The history goes on from a turn that another one has taken the place of. */
  | { kind: 'replaced'; index: number; seq: number }
  /** A message of the user says something else than the server has under its id. */
  | { kind: 'changed'; index: number; seq: number }
  /** Turn `seq` is missing between messages that are there. */
  | { kind: 'gap'; index: number; seq: number };

interface Place {
  index: number;
  turn: KnownTurn;
  isChanged: boolean;
}

interface TurnIndex {
  bySeq: ReadonlyMap<number, KnownTurn>;
  byMessageId: ReadonlyMap<string, KnownTurn>;
}

/**
 * The turn that stands for a user's message now: an edit, or an answer made anew, is a turn of its own that replaces
 * the one before.
 */
function standing(said: KnownTurn, { bySeq }: TurnIndex): KnownTurn {
  let turn = said;
  for (;;) {
    const [by] = turn.replacedBy;
    const next = by === undefined ? undefined : bySeq.get(by);
    // Else an earlier message was edited, and this one is gone with all that followed it.
    if (next?.replaces !== turn.seq) return turn;
    turn = next;
  }
}

/** Where a message stands in the server's history; undefined where the server does not know it. */
function placeOf(message: SentMessage, turns: TurnIndex): Place | undefined {
  const { names, index, text } = message;
  if (!names) return undefined;
  if ('answerOf' in names) {
    const turn = turns.bySeq.get(names.answerOf);
    return turn && { index, turn, isChanged: false };
  }
  const said = turns.byMessageId.get(names.messageId);
  if (!said) return undefined;
  const turn = standing(said, turns);
  if (turn.isErased || turn.text === text) return { index, turn, isChanged: false };
  // The page shows what was said before an edit.
  return said.text === text
    ? { index, turn: said, isChanged: false }
    : { index, turn, isChanged: true };
}

const isReplaced = ({ replacedBy }: KnownTurn) => replacedBy.length > 0;

const isLeft = (turn: KnownTurn) => !isReplaced(turn) && !turn.isErased;

/** The first turn between two places that counts and that the history does not have. */
function findGap(places: readonly Place[], turns: readonly KnownTurn[]) {
  const has = new Set(places.map(({ turn }) => turn.seq));
  const absent = turns.filter((turn) => turn.counts && isLeft(turn) && !has.has(turn.seq));
  for (const [i, { turn: before }] of places.entries()) {
    const after = places[i + 1];
    if (!after) return undefined;
    const missing = absent.find(({ seq }) => seq > before.seq && seq < after.turn.seq);
    if (missing) return { kind: 'gap' as const, index: after.index, seq: missing.seq };
  }
  return undefined;
}

/** A new message in the place of what counts behind turn `seq`, or after all. */
function placeBehind(seq: number, turns: readonly KnownTurn[]): HistoryDecision {
  const rest = turns.filter((turn) => turn.seq > seq && isLeft(turn));
  const [first] = rest;
  return first && rest.some(({ counts }) => counts)
    ? { kind: 'edit', seq: first.seq }
    : { kind: 'append' };
}

/**
 * Where a message belongs that the server does not know yet, by the ids of what the client shows before it. The nearest
 * message that the server knows counts: what the server has behind it, the client has taken away, so this is an edit. A
 * missing beginning is none, and neither is a message alone, unless the client claims to send its whole history.
 * Messages that the server does not know (a greeting, the client's own copy) count for nothing. `turns`: those that may
 * matter, in order.
 */
export function decideHistory(history: {
  before: readonly SentMessage[];
  turns: readonly KnownTurn[];
  claim: HistoryClaim;
}): HistoryDecision {
  const { before, turns, claim } = history;
  const turnIndex = {
    bySeq: new Map(turns.map((turn) => [turn.seq, turn])),
    byMessageId: new Map(turns.map((turn) => [turn.messageId, turn])),
  };
  const known = before.flatMap((message) => placeOf(message, turnIndex) ?? []);
  // What a client has picked from its history may have holes, and texts that it has shortened.
  const places = claim === 'window' ? known.slice(-1) : known;
  const last = places.at(-1);
  if (!last) return claim === 'whole' ? placeBehind(0, turns) : { kind: 'append' };
  const changed = places.find(({ isChanged, turn }) => isChanged && !isReplaced(turn));
  if (changed) return { kind: 'changed', index: changed.index, seq: changed.turn.seq };
  if (isReplaced(last.turn)) return { kind: 'replaced', index: last.index, seq: last.turn.seq };
  return findGap(places, turns) ?? placeBehind(last.turn.seq, turns);
}
