import type { Conversation } from '../conversation/documents/conversation.ts';

/** After this turn a title is made once more: by then the talk has shown what it is about. */
const SECOND_TITLE_TURN = 4;

/** A title that could not be made is tried with each of this many turns from the first one and from the fourth one on. */
const TITLE_TRIES = 4;

/**
 * Whether a title is to be made of the turns up to `seq`, which is being answered: for a conversation that
 * has none, and once more for one that was made of fewer than four turns. A title of the user's own stays
 * for ever.
 */
export function wantsTitle(
  { title, autoTitle }: Pick<Conversation, 'title' | 'autoTitle'>,
  seq: number,
): boolean {
  if (title === undefined) return seq <= TITLE_TRIES;
  if (!autoTitle || autoTitle.throughSeq >= SECOND_TITLE_TURN) return false;
  return seq >= SECOND_TITLE_TURN && seq < SECOND_TITLE_TURN + TITLE_TRIES;
}

/**
 * Whether a title that was made of the turns up to `throughSeq` may be stored. `madeFrom`: the conversation document as
 * the turn began. Not when the user has set one meanwhile, when a title of more turns is there, or when one of those
 * turns was changed or erased.
 */
export function mayStoreTitle(
  conversation: Pick<Conversation, 'state' | 'epoch' | 'changedIn' | 'title' | 'autoTitle'>,
  made: { madeFrom: Pick<Conversation, 'epoch' | 'changedIn'>; throughSeq: number },
): boolean {
  const { madeFrom, throughSeq } = made;
  if (conversation.state !== 'live' || conversation.epoch !== madeFrom.epoch) return false;
  if (conversation.changedIn !== madeFrom.changedIn) return false;
  if (conversation.title === undefined) return true;
  return conversation.autoTitle !== undefined && conversation.autoTitle.throughSeq < throughSeq;
}
