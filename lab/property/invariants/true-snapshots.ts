import { contentText } from '#shared/models/content.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import {
  constraintSection,
  lastSource,
  timelineSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { oneLine } from '#shared/text/cut.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import type { Documents } from './documents.ts';
import { when, type Invariant } from './invariant.ts';

const itemsOf = (snapshot: Snapshot): ArchivedItem[] => [
  ...workingItems(snapshot),
  ...snapshot.archive,
];

/** Its owner had it erased, question and answer. */
const isEmptied = ({ eraseTime, user }: Turn): boolean =>
  eraseTime !== undefined && user.parts.length === 0;

const sentencesOf = (text: string): string[] => splitSentences(text).map(oneLine);

/** Sentences of a rule that no turn which it cites says. */
function strangeSentences({ text, sources }: ArchivedItem, turns: readonly Turn[]): string[] {
  const cited = turns.filter(({ seq }) => sources.includes(seq));
  const said = new Set(cited.flatMap(({ user }) => sentencesOf(contentText(user))));
  return sentencesOf(text).filter((sentence) => !said.has(sentence));
}

/** The topics of both layers by where they begin. */
const topicsOf = (snapshot: Snapshot): ArchivedItem[] =>
  itemsOf(snapshot).filter(({ section }) => section === timelineSection);

function timelineFaults(snapshot: Snapshot): string[] {
  const timeline = snapshot.sections[timelineSection] ?? [];
  const firsts = timeline.map(({ sources }) => sources[0] ?? 0);
  return [
    ...when(
      firsts.some((first, index) => first < (firsts[index - 1] ?? 0)),
      `the timeline begins at turns ${firsts.join(' ')}`,
    ),
    ...topicsOf(snapshot).flatMap(({ id, sources, through = 0 }) =>
      when(through < (sources[0] ?? Infinity), `topic ${id} ends before it begins`),
    ),
  ];
}

function historyFaults(
  { snapshot, coveredThrough, strategy }: History,
  { turns, gone }: { turns: readonly Turn[]; gone: readonly number[] },
): string[] {
  if (!snapshot) return [];
  const items = itemsOf(snapshot);
  const ids = items.map(({ id }) => id);
  return [
    ...items.flatMap((item) =>
      gone
        .filter((seq) => item.sources.includes(seq))
        .map((seq) => `item ${item.id} cites turn ${seq}, which is gone`),
    ),
    ...items.flatMap((item) =>
      when(
        lastSource(item) > coveredThrough.seq,
        `item ${item.id} tells of a turn behind ${coveredThrough.seq}`,
      ),
    ),
    ...(snapshot.citations ?? []).flatMap(({ id, seq }) =>
      when(gone.includes(seq), `source ${id} stands for turn ${seq}, which is gone`),
    ),
    ...when(new Set(ids).size < ids.length, 'an id stands twice'),
    ...items
      .filter(({ section }) => section === constraintSection && strategy === 'ledger')
      .flatMap((item) =>
        strangeSentences(item, turns).map((sentence) => `nobody said the rule: ${sentence}`),
      ),
    ...timelineFaults(snapshot),
  ];
}

/**
 * What is wrong with the snapshots of a conversation: none cites a turn that was erased, nor the present one a turn that
 * left the context; all sources are covered; rules are whole sentences of the user; the timeline is in order.
 */
function snapshotFaults({ conversation, turns, histories }: Documents): string[] {
  if (conversation?.state !== 'live') return [];
  const erased = turns.filter(isEmptied).map(({ seq }) => seq);
  const left = turns.filter(({ inContext }) => !inContext).map(({ seq }) => seq);
  return histories.flatMap((history) => {
    const isPresent = history.generation === conversation.generation;
    const faults = historyFaults(history, { turns, gone: isPresent ? left : erased });
    return faults.map((fault) => `in generation ${history.generation} ${fault}`);
  });
}

/** I11. */
export const trueSnapshots: Invariant = {
  name: 'I11 snapshots cite turns that stand, quote the user, and keep the order of topics',
  violations: ({ settled, final, fork }) => [
    ...[settled, final].flatMap(snapshotFaults),
    ...(fork ? snapshotFaults(fork).map((text) => `of the fork ${text}`) : []),
  ],
};
