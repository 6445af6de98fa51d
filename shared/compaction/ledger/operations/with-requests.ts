import {
  workingItems,
  type Item,
  type SectionName,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { toDayKey as dayOf } from '#shared/compaction/facts/values/calendar-day.ts';
import { ownLines } from '#shared/compaction/facts/speech/own-words.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { attachmentsIn } from './attachments.ts';
import { verbatimFields } from '../items/verbatim-item.ts';

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
  const [own] = splitSentences(ownLines(text));
  const opening = own ?? splitSentences(text)[0];
  if (opening === undefined) return undefined;
  const isShown = own === undefined;
  return verbatimFields({ seq, speaker, text: opening, day: dayOf(at), isShown });
}

/** That the user sent something, where nobody has words for it: pictures, blanks. Undefined without turns. */
function silence(turns: readonly Turn[]): Omit<Item, 'id' | 'importance'> | undefined {
  const { itemSourceLimit, fallbackRequestLimit } = ledgerConstants;
  const told = turns.slice(-itemSourceLimit.value);
  if (told.length === 0) return undefined;
  const files = attachmentsIn(told).filter(({ speaker }) => speaker === 'user');
  const types = [...new Set(files.map(({ mimeType }) => mimeType))];
  const named = types.slice(0, fallbackRequestLimit.value).join(', ');
  return {
    text: `The user sent messages without words${named === '' ? '' : ` (${named})`}.`,
    sources: told.map(({ seq }) => seq),
    by: 'code',
  };
}

/**
 * A snapshot with what code can tell of any conversation: the user's first words as the goal, where there is
 * none, and the last requests. Where nothing is known and the user said nothing, that he sent something.
 */
export function withRequests(
  snapshot: Snapshot,
  { utterances, turns }: { utterances: readonly Utterance[]; turns: readonly Turn[] },
): Snapshot {
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
  const unsaid = workingItems(next).length === 0 ? silence(turns) : undefined;
  return unsaid === undefined ? next : withItem(next, 'recent_actions', unsaid);
}
