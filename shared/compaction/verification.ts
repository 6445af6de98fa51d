import { appendStatedFacts } from './append-facts.ts';
import type { StatedText } from './append-facts.ts';
import { snapshotConstants } from './constants.ts';
import { isRepetitive } from './repetition.ts';
import { sectionNames } from './snapshot-sections.ts';
import type { SnapshotSections } from './snapshot-sections.ts';
import { estimateTextTokens } from './token-estimate.ts';
import type { TokenCounting, TokenRule } from './token-estimate.ts';

export type VerificationProblem =
  'EMPTY' | 'TOO_SMALL' | 'TOO_LARGE' | 'REPETITIVE' | 'MISSING_IDENTIFIERS';

export interface VerificationInput {
  sections: SnapshotSections;
  /** What the user wrote in the folded turns. */
  foldedUserTexts: readonly StatedText[];
  /** Texts that stay in the context beside the snapshot: tail and pins. */
  keptTexts: readonly string[];
  snapshotBudgetTokens: number;
  rule: TokenRule | TokenCounting;
}

export interface Verification {
  ok: boolean;
  problems: VerificationProblem[];
  /** Identifiers stated by the user that the repaired snapshot and the kept texts still lack. */
  missingIdentifiers: string[];
  /** Identifiers that code appended. */
  appendedIdentifiers: string[];
  /** The sections to use: the input, with sentences appended to `key_knowledge` where facts lacked. */
  repaired: SnapshotSections;
  /** Tokens of the sections as the model wrote them. */
  snapshotTokens: number;
}

function shapeProblems(text: string, tokens: number, budgetTokens: number): VerificationProblem[] {
  if (text.trim() === '') return ['EMPTY'];
  const problems: VerificationProblem[] = [];
  if (tokens < snapshotConstants.snapshotFloorTokens.value) problems.push('TOO_SMALL');
  const isTooLarge = tokens > snapshotConstants.snapshotCeilingFactor.value * budgetTokens;
  if (isTooLarge) problems.push('TOO_LARGE');
  // What is refused for its size need not be searched: it may be very long.
  else if (isRepetitive(text)) problems.push('REPETITIVE');
  return problems;
}

/**
 * Checks a snapshot by code: content, size (10 tokens to 2 × budget), loops, and that every identifier
 * which the user stated in the folded turns is in the snapshot or in what stays. Missing ones are
 * appended as quoted sentences with their turn, up to a quarter of the budget; if some do not fit, the
 * snapshot is not ok. EMPTY becomes FAILED_EMPTY_SUMMARY, any other problem FAILED_VERIFICATION.
 */
export function verifySnapshot(input: VerificationInput): Verification {
  const { sections, snapshotBudgetTokens, rule } = input;
  const text = sectionNames.map((name) => sections[name]).join('\n');
  const snapshotTokens = estimateTextTokens(text, rule);
  const problems = shapeProblems(text, snapshotTokens, snapshotBudgetTokens);
  const appended = appendStatedFacts({
    statedTexts: input.foldedUserTexts,
    presentTexts: [text, ...input.keptTexts],
    budgetTokens: Math.floor(snapshotConstants.appendedFactsFraction.value * snapshotBudgetTokens),
    rule,
  });
  if (appended.leftOut.length > 0) problems.push('MISSING_IDENTIFIERS');
  const keyKnowledge = [sections.key_knowledge, ...appended.sentences]
    .filter((line) => line !== '')
    .join('\n');
  return {
    ok: problems.length === 0,
    problems,
    missingIdentifiers: appended.leftOut,
    appendedIdentifiers: appended.identifiers,
    repaired: { ...sections, key_knowledge: keyKnowledge },
    snapshotTokens,
  };
}
