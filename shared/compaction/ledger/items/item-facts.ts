import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { type Fact, factId } from '#shared/compaction/facts/index/fact.ts';
import { factWeight } from '#shared/compaction/facts/index/fact-weights.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { lastSource } from './statement.ts';

/** A fact that a snapshot should go on saying. */
export interface LastingFact extends Fact {
  /** The snapshot before says it; the turns that said it are not read again. */
  isCarried?: true;
}

/** What an item says, as if the user had said it: what was worth an item is worth keeping. */
export const saidBy = (item: ArchivedItem): Utterance => ({
  seq: lastSource(item),
  speaker: 'user',
  text: item.by === 'code' ? (item.quote ?? item.text) : item.text,
  at: new Date(0),
});

/** The facts of an item with what each is worth, by `factId`. */
export type ValuedFacts = ReadonlyMap<string, number>;

/** Of its weight: what an earlier snapshot says nobody reads again, what is new may be said again. */
const CARRIED_SHARE = 1.5;
/** Of its weight, where tools alone show it. */
const TOOL_SHARE = 0.3;

/** What tools alone show is found by search; what earlier snapshots say nobody reads again. */
function valueOf({ tier, weight, isCarried }: LastingFact): number {
  if (isCarried === true) return CARRIED_SHARE * weight;
  return tier === 3 ? TOOL_SHARE * weight : weight;
}

/** As far as nobody said it in `facts`, a statement is the model's. */
const ownWeight = ({ kind }: Fact): number => factWeight({ kind, tier: 2 }, 1);

/** The facts that each item says, by its id. Linear in the texts. */
export function valuedFacts(
  items: readonly ArchivedItem[],
  facts: readonly LastingFact[],
): ReadonlyMap<string, ValuedFacts> {
  const values = new Map(facts.map((fact) => [factId(fact), valueOf(fact)]));
  return new Map(
    items.map((item) => [
      item.id,
      new Map(
        extractFacts([saidBy(item)]).map((fact) => [
          factId(fact),
          values.get(factId(fact)) ?? ownWeight(fact),
        ]),
      ),
    ]),
  );
}
