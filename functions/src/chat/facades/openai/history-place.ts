/** What a client shows of one turn. */
export interface ShownTurn {
  /** What the user says in it; undefined where the messages begin behind that. */
  user: string | undefined;
  /** What it shows of the answer; '' where it shows none. */
  answer: string;
}

/** A turn that stands in the transcript. */
export interface SaidTurn {
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

type MessagePlace =
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

/** Clients trim what they were given. */
const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const trimmed = <Said extends ShownTurn | SaidTurn>(said: Said): Said => ({
  ...said,
  ...(said.user !== undefined && { user: words(said.user) }),
  answer: words(said.answer),
});

function agrees({ user, answer }: ShownTurn, turn: SaidTurn): boolean {
  // A window may begin within an answer, behind the calls of tools.
  if (user === undefined) return turn.answer.endsWith(answer);
  return user === turn.user && (answer === '' || answer === turn.answer);
}

/** The newest turn that all agree up to; turns that failed may be shown or not. */
function findPlace(shown: readonly ShownTurn[], said: readonly SaidTurn[]): number | undefined {
  const compared = shown.slice(-COMPARED).toReversed().map(trimmed);
  const turns = said.map(trimmed);
  const agreesAt = (end: number) => {
    let at = end;
    for (const each of compared) {
      let turn = turns[at];
      while (turn && at < end && !turn.counts && !agrees(each, turn)) turn = turns[(at -= 1)];
      // What is further back may be folded, or not be sent.
      if (turn === undefined) return true;
      if (!agrees(each, turn)) return false;
      at -= 1;
    }
    return true;
  };
  const place = turns.findLastIndex((_, end) => agreesAt(end));
  return place === -1 ? undefined : place;
}

/**
 * Where the last message of a request goes. This protocol has no ids, so what stands in front of the message tells.
 * The newest turn where both agree counts: what the server has behind it, the client has taken away. A window of the
 * newest messages agrees with the end, and so does a client that shows nothing. What is not known there takes nothing
 * away. A request that was sent before is the same message as long as the client does not show its answer.
 * `shown`: turns in front of the message. `turns`: those that stand, in order. `isWhole`: the client says that it shows
 * all there is, so that nothing in front is the very beginning. `isRetry`: it says that it sends the request again.
 */
export function placeMessage(request: {
  shown: readonly ShownTurn[];
  turns: readonly SaidTurn[];
  isWhole: boolean;
  isRetry: boolean;
  repeated: RepeatedTurn | undefined;
}): MessagePlace {
  const { shown, turns, isWhole, isRetry, repeated } = request;
  const isBeginning = isWhole && shown.every(({ user }) => user === undefined);
  const place = isBeginning ? -1 : findPlace(shown, turns);
  if (repeated) {
    const tells = isBeginning || shown.length > 0;
    const showsAnswer = tells && place !== undefined && (turns[place]?.seq ?? 0) >= repeated.seq;
    const { isOpen, isNewest, hasJustEnded } = repeated;
    const isLost = isRetry
      ? isNewest || (hasJustEnded && !showsAnswer)
      : tells && isNewest && !showsAnswer && (place !== undefined || hasJustEnded);
    if (isOpen || isLost) return { kind: 'again' };
  }
  if (place === undefined) return { kind: shown.length === 0 ? 'append' : 'unknown' };
  const behind = turns.slice(place + 1);
  const [first] = behind;
  return first && behind.some(({ counts }) => counts)
    ? { kind: 'edit', seq: first.seq }
    : { kind: 'append' };
}
