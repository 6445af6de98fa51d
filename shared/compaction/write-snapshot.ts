import { toDayKey, userTime } from '#shared/conversation/local-time.ts';
import {
  citedTurns,
  constraintSection,
  everyItem,
  isAboutTurn,
  workingItems,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { hasMedia, stringsIn } from '#shared/models/content.ts';
import { readUtterances, type Utterance } from '#shared/conversation/utterances.ts';
import { sourceUtterances } from '#shared/compaction/cite-statements.ts';
import { isRepetitive } from '#shared/text/repetition-detector.ts';
import { cutHead, oneLine } from '#shared/text/cut.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import { applyAnswer, type AppliedAnswer, type RefusalReason } from './apply.ts';
import { engineConstants } from './constants.ts';
import type { SummariserAnswer } from './operations.ts';
import { fitSnapshot, withoutItems, type FittedSnapshot, type SnapshotRoom } from './room.ts';
import {
  findValues,
  indexValues,
  markValues,
  UNSAID_MARK,
  withoutMarkedValues,
  type Value,
  type ValueIndex,
} from './values.ts';
import { toEvidence, type TurnEvidence } from './whose-words.ts';

/** What a snapshot is made of, and what it is checked against. */
export interface SnapshotInput {
  /** The snapshot before, in the profile of the conversation; empty before the first fold. */
  previous: Snapshot;
  answer: SummariserAnswer;
  /** The folded turns, in order. */
  turns: readonly Turn[];
  /** What tools said in earlier turns, where recall showed it again beside these turns. */
  recalled: readonly string[];
  /** What else may say a value: pins, tail, notes of hooks, the focus of the run. */
  otherTexts: readonly string[];
  room: SnapshotRoom;
  counting: TokenCounting;
}

/** What the check found, as it is stored with a compaction. Counts are complete, lists and texts are bounded. */
export type SnapshotReport = {
  /** Statements that are new or have other words. */
  statements: number;
  /** Values that these say, and those that nobody was found to have said: they are marked in the text. */
  values: number;
  marked: { id: string; text: string; values: string[] }[];
  markedCount: number;
  /** Statements that no turn is known to say; marked as a whole. */
  withoutSource: number;
  /** Turns that code added to the sources of statements: they say a value of them. */
  sourcesAdded: number;
  /** What was not done as it was asked, by reason, operations that could not be read (`UNREADABLE`) too; the texts of the first. */
  refused: Record<string, number>;
  refusedTexts: { text: string; reason: RefusalReason }[];
  /** Items that a later turn ended. */
  removed: { text: string; reason: string }[];
  removedCount: number;
  /** Statements that were cut behind a clause. */
  shortened: string[];
  /** Items that were moved to the archive for room. */
  archived: number;
  /** Items that left the archive for good. */
  dropped: string[];
  droppedCount: number;
  topics: number;
  constraintsOverBudget: boolean;
};

type WrittenSnapshot =
  | { ok: true; snapshot: Snapshot; report: SnapshotReport }
  | {
      ok: false;
      /** `EMPTY`: there is nothing to say. `FOREIGN_ANSWER`: the answer is about another conversation. */
      problem: 'EMPTY' | 'FOREIGN_ANSWER';
    };

/**
 * Applies the answer of a summariser (`apply.ts`: shape, sources, quotes, whose words), drops statements that repeat
 * themselves, marks values that nobody said, refuses an answer about another conversation, and archives what has no room.
 * Only the check of whose words something is needs lists of words; the rest knows no language. Nothing is put back or
 * reworded. An answer that says nothing new is no failure: what was known stands.
 * Linear in the turns.
 */
export function writeSnapshot(input: SnapshotInput): WrittenSnapshot {
  const { previous, answer, turns, room } = input;
  const days = new Map(turns.map((turn) => [turn.seq, toDayKey(userTime(turn))]));
  const applied = withoutLoops(
    applyAnswer(previous, answer, {
      evidence: readEvidence(turns, input.recalled),
      dayOf: (seq) => days.get(seq),
    }),
  );
  const { snapshot } = applied;
  const statements = statementsIn(snapshot, applied.made);
  if (workingItems(snapshot).length === 0) return { ok: false, problem: 'EMPTY' };
  const withValues = statements.map(({ section: _section, ...item }) => ({
    item,
    values: findValues(item.text),
  }));
  const saidValues = readSaidValues(
    input,
    withValues.flatMap(({ values }) => values),
  );
  const mediaTurns = turns
    .filter((turn) => [turn.user, ...turn.contents].some(hasMedia))
    .map(({ seq }) => seq);
  const checked = withValues.map((statement) => checkStatement(statement, saidValues, mediaTurns));
  if (isForeign(checked)) return { ok: false, problem: 'FOREIGN_ANSWER' };
  const marked = withItems(
    snapshot,
    new Map(checked.map((each) => [each.item.id, { ...each.item, text: markedText(each) }])),
  );
  const fitted = fitSnapshot(marked, room, input.counting);
  return {
    ok: true,
    snapshot: {
      ...fitted.snapshot,
      folds: (previous.folds ?? 0) + 1,
      roomCharacters: room.characters,
    },
    report: reportOf(input, applied, { checked, fitted }),
  };
}

/** The statements of this answer: constraints are the user's own words, and need no check. */
const statementsIn = (snapshot: Snapshot, made: ReadonlySet<string>): ArchivedItem[] =>
  workingItems(snapshot).filter(
    ({ id, by, section }) => by === 'model' && made.has(id) && section !== constraintSection,
  );

/** A snapshot with these items, by id, in the place of its own. */
function withItems(snapshot: Snapshot, items: ReadonlyMap<string, Item>): Snapshot {
  const sections = Object.entries(snapshot.sections).map(
    ([section, all]) => [section, all.map((item) => items.get(item.id) ?? item)] as const,
  );
  return { ...snapshot, sections: Object.fromEntries(sections) };
}

/**
 * What was applied without items that run in a loop by themselves: one of them must not keep a conversation from being
 * compacted.
 */
function withoutLoops(applied: AppliedAnswer): AppliedAnswer {
  const { snapshot, made, refused } = applied;
  const looping = statementsIn(snapshot, made).filter(({ text }) => isRepetitive(text));
  if (looping.length === 0) return applied;
  return {
    ...applied,
    snapshot: withoutItems(snapshot, looping),
    refused: [...refused, ...looping.map(({ text }) => ({ text, reason: 'REPETITIVE' as const }))],
  };
}

// What was said

function readEvidence(turns: readonly Turn[], recalled: readonly string[]): TurnEvidence {
  const utterances = [...readUtterances(turns), ...sourceUtterances(turns)];
  const bySeq = Map.groupBy(utterances, ({ seq }) => seq);
  return toEvidence(
    new Map(turns.map((turn) => [turn.seq, saidIn(turn, bySeq.get(turn.seq) ?? [])])),
    recalled,
  );
}

/**
 * The utterances of a turn. What the app and its hooks told the model beside the message comes first, as words of a tool.
 */
const saidIn = (
  { seq, surroundings = '' }: Turn,
  utterances: readonly Utterance[],
): readonly Utterance[] =>
  surroundings === ''
    ? utterances
    : [{ seq, speaker: 'tool', text: surroundings, at: new Date(0) }, ...utterances];

/** Everything that a turn may have shown to the model, tool outputs in full. */
function textOfTurn(turn: Turn): string {
  const spoken = saidIn(turn, [...readUtterances([turn]), ...sourceUtterances([turn])]);
  const calls = turn.contents.map((content) => ({
    ...content,
    parts: content.parts.filter(({ text }) => text === undefined),
  }));
  return [...spoken.map(({ text }) => text), ...stringsIn(calls)].join('\n');
}

/** Who says a text that was looked through for values. */
type Speaker =
  | { kind: 'turn'; seq: number }
  /** An item of the previous snapshot. */
  | { kind: 'item'; item: ArchivedItem }
  /** Earlier turns that recall showed, pins, tail, notes, focus. */
  | { kind: 'other' };

interface SaidValues {
  index: ValueIndex;
  /** By the place that the index names. */
  speakers: readonly Speaker[];
}

function readSaidValues(input: SnapshotInput, values: readonly Value[]): SaidValues {
  const speakers: Speaker[] = [];
  const textOf = (speaker: Speaker, text: string) => ({ place: speakers.push(speaker) - 1, text });
  function* texts() {
    for (const turn of input.turns) yield textOf({ kind: 'turn', seq: turn.seq }, textOfTurn(turn));
    for (const item of everyItem(input.previous))
      yield textOf({ kind: 'item', item }, withoutMarkedValues(item.text));
    for (const text of [...input.recalled, ...input.otherTexts])
      yield textOf({ kind: 'other' }, text);
  }
  return { index: indexValues(values, texts()), speakers };
}

// The check of one statement

/** A statement with what the check found of its values. */
interface CheckedStatement {
  item: Item;
  values: number;
  unsaid: Value[];
  sourcesAdded: number;
}

function checkStatement(
  { item, values }: { item: Item; values: readonly Value[] },
  { index, speakers }: SaidValues,
  mediaTurns: readonly number[],
): CheckedStatement {
  const unsaid: Value[] = [];
  let cited = item;
  for (const value of values) {
    const saying = index.holders(value).flatMap((place) => speakers[place] ?? []);
    if (saying.length === 0) unsaid.push(value);
    cited = withSources(cited, sourcesOfValue(saying, cited));
  }
  // A picture or a file may show what no text says.
  const isBorneOut = unsaid.length > 0 && mediaTurns.some((seq) => isAboutTurn(cited, seq));
  return {
    item: cited,
    values: values.length,
    unsaid: isBorneOut ? [] : unsaid,
    sourcesAdded: cited.sources.length - item.sources.length,
  };
}

/**
 * Turns to add to an item's sources for one value: none where a turn that it cites says it, else the first turn or item
 * of the previous snapshot that does. So an erasure of that turn finds the item.
 */
function sourcesOfValue(speakers: readonly Speaker[], cited: Item): readonly number[] {
  const turns = speakers.filter((speaker) => speaker.kind === 'turn');
  if (turns.some(({ seq }) => isAboutTurn(cited, seq))) return [];
  const [turn] = turns;
  if (turn) return [turn.seq];
  return speakers.find((speaker) => speaker.kind === 'item')?.item.sources ?? [];
}

/** An item that cites these turns too; the stretch of a topic begins where it did. */
function withSources(item: Item, seqs: readonly number[]): Item {
  if (item.through === undefined)
    return { ...item, sources: citedTurns([...item.sources, ...seqs]) };
  const [first] = item.sources;
  const others = citedTurns([...item.sources, ...seqs]).filter((seq) => seq !== first);
  return { ...item, sources: first === undefined ? others : [first, ...others] };
}

/** The text of a statement with marks behind what nobody was found to have said. */
function markedText({ item, unsaid }: CheckedStatement): string {
  const text = markValues(item.text, unsaid);
  return item.sources.length > 0 || text.endsWith(UNSAID_MARK) ? text : `${text}${UNSAID_MARK}`;
}

const isForeign = (checked: readonly CheckedStatement[]): boolean => {
  const values = checked.reduce((sum, each) => sum + each.values, 0);
  const unsaid = checked.reduce((sum, each) => sum + each.unsaid.length, 0);
  return (
    unsaid >= engineConstants.unsaidValueMinimum &&
    unsaid > engineConstants.unsaidValueFraction * values
  );
};

// The report

const short = (text: string): string =>
  cutHead(oneLine(text), engineConstants.reportTextCharacters);

const bounded = <T>(list: readonly T[]): T[] => list.slice(0, engineConstants.reportListLimit);

function countReasons(
  refused: AppliedAnswer['refused'],
  { skipped = 0 }: SummariserAnswer,
): Record<string, number> {
  const counts = new Map(skipped === 0 ? [] : [['UNREADABLE', skipped]]);
  for (const { reason } of refused) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function reportOf(
  { answer }: SnapshotInput,
  applied: AppliedAnswer,
  { checked, fitted }: { checked: readonly CheckedStatement[]; fitted: FittedSnapshot },
): SnapshotReport {
  const marked = checked.filter(({ unsaid }) => unsaid.length > 0);
  const { refused, removed, shortened } = applied;
  return {
    statements: checked.length,
    values: checked.reduce((sum, { values }) => sum + values, 0),
    marked: bounded(marked).map(({ item, unsaid }) => ({
      id: item.id,
      text: short(item.text),
      values: bounded([...new Set(unsaid.map(({ text }) => text))]).map(short),
    })),
    markedCount: marked.reduce((sum, { unsaid }) => sum + unsaid.length, 0),
    withoutSource: checked.filter(({ item }) => item.sources.length === 0).length,
    sourcesAdded: checked.reduce((sum, each) => sum + each.sourcesAdded, 0),
    refused: countReasons(refused, answer),
    refusedTexts: bounded(refused).map(({ text, reason }) => ({ text: short(text), reason })),
    removed: bounded(removed).map(({ text, reason }) => ({
      text: short(text),
      reason: short(reason),
    })),
    removedCount: removed.length,
    shortened: bounded(shortened).map(short),
    archived: fitted.archived.length,
    dropped: bounded(fitted.dropped).map(({ text }) => short(text)),
    droppedCount: fitted.dropped.length,
    topics: answer.topics.length,
    constraintsOverBudget: fitted.constraintsOverBudget,
  };
}
