import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import type { Fact, FactKind, FactTier } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts, isHeld, type FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import { unsupportedIn } from '#shared/compaction/facts/index/unsupported.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { stringsIn } from '#shared/conversation/repair/content-strings.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** How many facts there were, and how many of them are held. */
export interface Share {
  facts: number;
  held: number;
}

export interface Measure {
  /** By tier: facts of the folded turns that the context holds, snapshot or tail. */
  recall: Record<FactTier, Share>;
  /** By tier: facts that the tail does not hold, and those of them that the snapshot does. */
  carried: Record<FactTier, Share>;
  /** The same by kind, tiers 1 and 2. */
  carriedByKind: ReadonlyMap<FactKind, Share>;
  /** Statements of the snapshot, and those without a number, date, link, id or quote that nobody said. */
  precision: Share;
  /** Characters of the statements, and those of statements that stand word for word in a turn. */
  verbatim: Share;
  /** Facts that the snapshot itself holds. */
  inSnapshot: Fact[];
}

const none = (): Share => ({ facts: 0, held: 0 });
const byTier = (): Record<FactTier, Share> => ({ 1: none(), 2: none(), 3: none() });

function count(share: Share, isCounted: boolean): void {
  share.facts += 1;
  if (isCounted) share.held += 1;
}

const plain = (text: string): string => text.normalize('NFKC').replace(/\s+/g, ' ').trim();

interface Said {
  text: string;
  at: Date;
}

const indexSaid = (said: readonly Said[]): FactIndex =>
  indexFacts(
    said.map(({ text }) => text),
    said.map(({ at }) => at),
  );

const indexOf = (turns: readonly Turn[]): FactIndex => indexSaid(readUtterances(turns));

/** Everything that stands in the turns: utterances leave out the middle of long outputs. */
const indexInFull = (turns: readonly Turn[]): FactIndex =>
  indexSaid([
    ...readUtterances(turns),
    ...turns.flatMap(({ user, contents, createTime: at }) =>
      stringsIn([user, ...contents]).map((text) => ({ text, at })),
    ),
  ]);

function verbatimShare(statements: readonly string[], turns: readonly Turn[]): Share {
  const said = readUtterances(turns)
    .map(({ text }) => plain(text))
    .join('\n');
  const share = none();
  for (const statement of statements.map(plain)) {
    share.facts += statement.length;
    if (said.includes(statement)) share.held += statement.length;
  }
  return share;
}

/** What is left of the folded turns in the snapshot's statements and in the kept turns. */
export function measure(input: {
  folded: readonly Turn[];
  kept: readonly Turn[];
  statements: readonly string[];
}): Measure {
  const { folded, kept, statements } = input;
  const snapshot = indexFacts(statements);
  const tail = indexOf(kept);
  const all = indexInFull([...folded, ...kept]);
  const carriedByKind = new Map<FactKind, Share>();
  const result: Measure = {
    recall: byTier(),
    carried: byTier(),
    carriedByKind,
    precision: none(),
    verbatim: verbatimShare(statements, [...folded, ...kept]),
    inSnapshot: [],
  };
  for (const fact of extractFacts(readUtterances(folded))) {
    const isInSnapshot = isHeld(fact, snapshot);
    const isInTail = isHeld(fact, tail);
    if (isInSnapshot) result.inSnapshot.push(fact);
    count(result.recall[fact.tier], isInSnapshot || isInTail);
    if (isInTail) continue;
    count(result.carried[fact.tier], isInSnapshot);
    if (fact.tier === 3) continue;
    const ofKind = carriedByKind.get(fact.kind) ?? none();
    carriedByKind.set(fact.kind, ofKind);
    count(ofKind, isInSnapshot);
  }
  for (const statement of statements)
    count(result.precision, unsupportedIn(statement, all).length === 0);
  return result;
}

/** The facts that the statements and the kept turns still hold. */
export function factsHeld(
  facts: readonly Fact[],
  now: { statements: readonly string[]; kept: readonly Turn[] },
): Fact[] {
  const indexes = [indexFacts(now.statements), indexOf(now.kept)];
  return facts.filter((fact) => indexes.some((index) => isHeld(fact, index)));
}

/** How many they are. */
export const stillHeld = (
  facts: readonly Fact[],
  now: { statements: readonly string[]; kept: readonly Turn[] },
): Share => ({ facts: facts.length, held: factsHeld(facts, now).length });
