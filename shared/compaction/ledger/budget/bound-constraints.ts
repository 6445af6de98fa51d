import {
  constraintSection,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '../../../conversation/snapshot.ts';
import { isNegated } from '../../facts/content-words.ts';
import { plainText } from '../../facts/plain-text.ts';
import { ledgerConstants } from '../../ledger-constants.ts';
import { estimateTextTokens } from '../../token-estimate.ts';
import { textKey } from '../item-text.ts';
import type { SnapshotRoom } from '../render-snapshot.ts';
import { lastSource, mergeSources } from '../sources.ts';

/** The one that goes first: of less importance, put in by code, then the longer, since rules are short, then the older. */
const byUse = (a: ArchivedItem, b: ArchivedItem): number =>
  a.importance - b.importance ||
  Number(b.by === 'code') - Number(a.by === 'code') ||
  b.text.length - a.text.length ||
  lastSource(a) - lastSource(b);

const labelled = /^User: "(.*)"$/su;
/** The words of a rule, whoever put it in. */
const wordsOfRule = ({ text }: { text: string }): string =>
  plainText(textKey(labelled.exec(text)?.[1] ?? text));

const words = /[\p{L}\p{M}\p{N}]+/gu;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** Whether words of a rule say those of another one: one after the other, and they forbid where those forbid. */
function saysWords(longer: string, shorter: string): boolean {
  if (isNegated(longer) !== isNegated(shorter)) return false;
  if (unspaced.test(shorter)) return longer.includes(shorter);
  const runs = (text: string): string => ` ${(text.match(words) ?? []).join(' ')} `;
  return runs(longer).includes(runs(shorter));
}

/**
 * Whether a rule says another one: in the same words, or in more words of the same turn. What the user says in two
 * turns may be a wider and a narrower rule, and both hold.
 */
function saysRule(longer: Item, shorter: Item): boolean {
  const said = wordsOfRule(shorter);
  if (said === '') return false;
  const isOfOneTurn = shorter.sources.some((seq) => longer.sources.includes(seq));
  return isOfOneTurn ? saysWords(wordsOfRule(longer), said) : wordsOfRule(longer) === said;
}

/** Rules of which one says the other, as one: the longer, with the turns of both. */
export function mergeConstraints(snapshot: Snapshot): Snapshot {
  const rules = snapshot.sections[constraintSection] ?? [];
  const merged = new Map(rules.map((rule) => [rule.id, rule]));
  for (const shorter of rules) {
    const longer = [...merged.values()].find(
      (other) => other.id !== shorter.id && merged.has(shorter.id) && saysRule(other, shorter),
    );
    if (longer === undefined) continue;
    merged.delete(shorter.id);
    merged.set(longer.id, { ...longer, sources: mergeSources(longer.sources, shorter.sources) });
  }
  if (merged.size === rules.length) return snapshot;
  const sections = { ...snapshot.sections, [constraintSection]: [...merged.values()] };
  return { ...snapshot, sections };
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
