import {
  constraintSection,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { isNegated } from '#shared/compaction/facts/speech/content-words.ts';
import { plainText } from '#shared/text/plain-text.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { textKey } from '#shared/text/one-line.ts';
import type { SnapshotRoom } from '../render-snapshot.ts';
import { lastSource, mergeSources } from '../items/statement.ts';

/** The one that goes first: of less importance, put in by code, then the longer, since rules are short, then the older. */
const byUse = (a: ArchivedItem, b: ArchivedItem): number =>
  a.importance - b.importance ||
  Number(b.by === 'code') - Number(a.by === 'code') ||
  b.text.length - a.text.length ||
  lastSource(a) - lastSource(b);

const labelled = /^User: "(.*)"$/su;
const word = /[\p{L}\p{M}\p{N}]+/gu;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** A rule as it is compared with others, whoever put it in. */
interface Rule {
  item: Item;
  words: string;
  /** The same without signs, a blank around each word. */
  run: string;
  forbids: boolean;
}

function ruleFrom(item: Item): Rule {
  const words = plainText(textKey(labelled.exec(item.text)?.[1] ?? item.text));
  const run = ` ${(words.match(word) ?? []).join(' ')} `;
  return { item, words, run, forbids: isNegated(words) };
}

/**
 * Whether a rule says another one: in the same words, or in more words of the same turn that stand one after the other
 * and forbid where those forbid. What the user says in two turns may be a wider and a narrower rule, and both hold.
 */
function saysRule(longer: Rule, shorter: Rule): boolean {
  if (longer.words === shorter.words) return true;
  const isOfOneTurn = shorter.item.sources.some((seq) => longer.item.sources.includes(seq));
  if (!isOfOneTurn || longer.forbids !== shorter.forbids) return false;
  return unspaced.test(shorter.words)
    ? longer.words.includes(shorter.words)
    : longer.run.includes(shorter.run);
}

/** Rules of which one says the other, as one: the longer, with the turns of both. */
export function mergeConstraints(snapshot: Snapshot): Snapshot {
  const items = snapshot.sections[constraintSection] ?? [];
  const rules = items.map(ruleFrom);
  const merged = new Map(rules.map((rule) => [rule.item.id, rule]));
  for (const shorter of rules) {
    const { id, sources } = shorter.item;
    if (shorter.words === '') continue;
    const longer = [...merged.values()].find(
      (other) => other.item.id !== id && saysRule(other, shorter),
    );
    if (longer === undefined) continue;
    merged.delete(id);
    const item = { ...longer.item, sources: mergeSources(longer.item.sources, sources) };
    merged.set(item.id, { ...longer, item });
  }
  if (merged.size === items.length) return snapshot;
  const left = [...merged.values()].map(({ item }) => item);
  return { ...snapshot, sections: { ...snapshot.sections, [constraintSection]: left } };
}

export interface ConstraintRoom extends SnapshotRoom {
  /** What rules may take; default: their share of the budget. */
  constraintTokens?: number | undefined;
}

/** Tokens that rules may take: never all of the budget, however small it is. */
export function constraintLimit({ budgetTokens, constraintTokens }: ConstraintRoom): number {
  const { constraintBudgetFraction, constraintCeilingFraction } = ledgerConstants;
  return Math.min(
    constraintTokens ?? constraintBudgetFraction.value * budgetTokens,
    constraintCeilingFraction.value * budgetTokens,
  );
}

/** The rules beyond their share of the budget, the least useful first: they go to the archive as other items do. */
export function constraintsBeyondShare(snapshot: Snapshot, room: ConstraintRoom): ArchivedItem[] {
  const rules = (snapshot.sections[constraintSection] ?? []).map((item) => ({
    ...item,
    section: constraintSection,
  }));
  const tokensOf = ({ text }: ArchivedItem): number =>
    estimateTextTokens(`- ${text}\n`, room.counting);
  let left = rules.reduce((sum, rule) => sum + tokensOf(rule), 0);
  const limit = constraintLimit(room);
  return rules.toSorted(byUse).filter((rule) => {
    if (left <= limit) return false;
    left -= tokensOf(rule);
    return true;
  });
}
