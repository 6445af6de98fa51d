import {
  isAboutTurn,
  timelineSection,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { distinctUnits } from '#shared/text/words.ts';
import { dayWeights } from './days-asked.ts';

/** A line of the timeline that answers a query: what the turns `from` to `through` were about. */
interface AskedTopic {
  title: string;
  from: number;
  through: number;
  /** `2026-11-21`. */
  day?: string;
}

/** Of more, the newest are told. */
const TOPICS_MAX = 20;

const firstOf = ({ sources }: Item): number => sources[0] ?? 0;

const topicOf = (item: Item): AskedTopic => ({
  title: item.text,
  from: firstOf(item),
  through: item.through ?? firstOf(item),
  ...(item.at !== undefined && { day: item.at }),
});

/** Whether a topic answers: of the time that the query names, else one whose title shares a word with it. */
function answersTo(query: string, now: Date): (item: Item) => boolean {
  const weightOf = dayWeights(query, now);
  if (weightOf !== undefined) return ({ at }) => at !== undefined && weightOf(new Date(at)) > 1;
  const asked = distinctUnits(query);
  return ({ text }) => [...distinctUnits(text)].some((unit) => asked.has(unit));
}

/**
 * The topics of a snapshot, archived ones included, that answer a query, in their order; at most 20. None of the turns
 * from `beforeSeq` on, and none of a hidden one.
 */
export function topicsAsked(
  snapshot: Snapshot,
  query: string,
  {
    now,
    beforeSeq,
    hidden,
  }: {
    now: Date;
    beforeSeq: number;
    /** Turns whose erasure is under way. */ hidden: readonly number[];
  },
): AskedTopic[] {
  const answers = answersTo(query, now);
  const archived = snapshot.archive.filter(({ section }) => section === timelineSection);
  return [...archived, ...(snapshot.sections[timelineSection] ?? [])]
    .filter((item) => firstOf(item) < beforeSeq && !hidden.some((seq) => isAboutTurn(item, seq)))
    .filter(answers)
    .toSorted((one, other) => firstOf(one) - firstOf(other))
    .slice(-TOPICS_MAX)
    .map(topicOf);
}
