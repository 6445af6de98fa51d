/** What a client shows of one turn. */
export interface ShownTurn {
  /** What the user says in it; undefined where the messages begin behind that. */
  user: string | undefined;
  /** What it shows of the answer; '' where it shows none. */
  answer: string;
}

/** What a client shows in front of the message that it sends. */
export interface ShownHistory {
  turns: readonly ShownTurn[];
  /** It says that this is all there is, so that nothing in front is the very beginning. */
  isWhole: boolean;
}

/** A turn that stands in the transcript. */
export interface TranscriptTurn {
  seq: number;
  user: string;
  answer: string;
  /** It is in the context, or on its way there. */
  counts: boolean;
}

/** A turn that began with the very same request: the same words behind the same messages. */
export interface RepeatedTurn {
  seq: number;
  /** It is being answered, or waits for that. */
  isOpen: boolean;
  /** No turn stands behind it. */
  isNewest: boolean;
  /** Its answer ended so short a time ago that a program which lost it may ask again. */
  hasJustEnded: boolean;
}

type TextPlace =
  /** It was sent before: it is the repeated turn's message. */
  | { kind: 'again' }
  /** After all that the server has. */
  | { kind: 'append' }
  /** In the place of this turn and of all that follow. */
  | { kind: 'edit'; seq: number }
  /** None of the turns ends what the client shows: after all, unless earlier turns tell more. */
  | { kind: 'unknown' };

/** Turns of the client that are compared: a few tell the place, and what is older the client may have shortened. */
const COMPARED = 3;

export const tellsPlace = ({ turns, isWhole }: ShownHistory): boolean =>
  isWhole || turns.length > 0;

/** Whether the message is the first one of a user: a greeting may stand in front of it. */
export const isFirstMessage = ({ turns, isWhole }: ShownHistory): boolean =>
  isWhole && turns.every(({ user }) => user === undefined);

/** In place of what counts behind turn `seq`, or after all. */
export function placeBehind(
  seq: number,
  standing: readonly Pick<TranscriptTurn, 'seq' | 'counts'>[],
): { kind: 'append' } | { kind: 'edit'; seq: number } {
  const behind = standing.filter((turn) => turn.seq > seq);
  const [first] = behind;
  return first && behind.some(({ counts }) => counts)
    ? { kind: 'edit', seq: first.seq }
    : { kind: 'append' };
}

interface PlacedRequest {
  shown: ShownHistory;
  /** Those that stand, in order. */
  turns: readonly TranscriptTurn[];
  /** The client says that it sends the request again. */
  isRetry: boolean;
  repeated: RepeatedTurn | undefined;
}

/** Clients trim what they were given. */
const oneSpaced = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const trimmed = <Each extends ShownTurn | TranscriptTurn>(turn: Each): Each => ({
  ...turn,
  ...(turn.user !== undefined && { user: oneSpaced(turn.user) }),
  answer: oneSpaced(turn.answer),
});

function agrees({ user, answer }: ShownTurn, turn: TranscriptTurn): boolean {
  // A window may begin within an answer, behind the calls of tools.
  if (user === undefined) return turn.answer.endsWith(answer);
  return user === turn.user && (answer === '' || answer === turn.answer);
}

/** The newest turn that all agree up to; turns that failed may be shown or not. */
function findLastShown({ shown, turns: all }: PlacedRequest): number | undefined {
  const compared = shown.turns.slice(-COMPARED).toReversed().map(trimmed);
  const turns = all.map(trimmed);
  const agreesUpTo = (end: number) => {
    let index = end;
    for (const shownTurn of compared) {
      let turn = turns[index];
      while (turn && index < end && !turn.counts && !agrees(shownTurn, turn))
        turn = turns[(index -= 1)];
      // What is further back may be folded, or not be sent.
      if (turn === undefined) return true;
      if (!agrees(shownTurn, turn)) return false;
      index -= 1;
    }
    return true;
  };
  return turns[turns.findLastIndex((_, end) => agreesUpTo(end))]?.seq;
}

/** Whether a request is that of the repeated turn once more: as long as the client does not show its answer. */
function isSentAgain(
  { shown, isRetry, repeated }: PlacedRequest,
  lastShown: number | undefined,
): boolean {
  if (!repeated) return false;
  const { seq, isOpen, isNewest, hasJustEnded } = repeated;
  const showsAnswer = tellsPlace(shown) && lastShown !== undefined && lastShown >= seq;
  if (isOpen) return true;
  if (isRetry) return isNewest || (hasJustEnded && !showsAnswer);
  return tellsPlace(shown) && isNewest && !showsAnswer && (lastShown !== undefined || hasJustEnded);
}

/**
 * Where the last message of a request goes whose protocol has no ids, so that what stands in front of the message tells.
 * The newest turn where both agree counts: what the server has behind it, the client has taken away. A window of the
 * newest messages agrees with the end, and so does a client that shows nothing. What is not known there takes nothing
 * away.
 */
export function placeByTexts(request: PlacedRequest): TextPlace {
  const { shown, turns } = request;
  const lastShown = isFirstMessage(shown) ? 0 : findLastShown(request);
  if (isSentAgain(request, lastShown)) return { kind: 'again' };
  if (lastShown === undefined) return { kind: shown.turns.length === 0 ? 'append' : 'unknown' };
  return placeBehind(lastShown, turns);
}
