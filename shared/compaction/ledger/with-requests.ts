import type { Item, SectionName, Snapshot } from '../../conversation/snapshot.ts';
import { dayKeyOf as dayOf } from '../facts/calendar-day.ts';
import { ownLines } from '../facts/own-words.ts';
import { sentencesOf } from '../facts/sentences.ts';
import type { Utterance } from '../facts/utterance.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { verbatimFields } from './verbatim-item.ts';

function withItem(
  snapshot: Snapshot,
  section: SectionName,
  item: Omit<Item, 'id' | 'importance'>,
): Snapshot {
  const added: Item = { ...item, id: `i${snapshot.nextId}`, importance: 2 };
  const items = [...(snapshot.sections[section] ?? []), added];
  return {
    ...snapshot,
    sections: { ...snapshot.sections, [section]: items },
    nextId: snapshot.nextId + 1,
  };
}

/** The beginning of what the user himself says in a turn, as an item; of what he shows where that is all. */
function openingOf({ seq, speaker, text, at }: Utterance) {
  const [opening] = [...sentencesOf(ownLines(text)), ...sentencesOf(text)];
  return opening === undefined
    ? undefined
    : verbatimFields({ seq, speaker, text: opening, day: dayOf(at) });
}

/**
 * A snapshot with what code can tell of any conversation: the user's first words as the goal, where there is
 * none, and the last requests. Unchanged where the user said nothing.
 */
export function withRequests(snapshot: Snapshot, utterances: readonly Utterance[]): Snapshot {
  const said = utterances.filter(({ speaker }) => speaker === 'user');
  const hasGoal = (snapshot.sections['overall_goal'] ?? []).length > 0;
  const [first, ...others] = said;
  // What others wrote is no goal of the user.
  const isOwn = first !== undefined && ownLines(first.text) !== '';
  const goal = hasGoal || !isOwn ? undefined : openingOf(first);
  const later = goal === undefined ? said : others;
  const requests = later.slice(-ledgerConstants.fallbackRequestLimit.value).map(openingOf);
  let next = goal === undefined ? snapshot : withItem(snapshot, 'overall_goal', goal);
  for (const request of requests)
    if (request !== undefined) next = withItem(next, 'recent_actions', request);
  return next;
}
