import { appendStatedFacts } from './append-facts.ts';
import type { StatedText } from './append-facts.ts';
import { snapshotConstants } from './snapshot-constants.ts';
import type { FactSupport } from './fact-support.ts';
import { dropUnsupported, type Precision } from './precision.ts';
import { isRepetitive } from './repetition.ts';
import { sectionNames } from './snapshot-sections.ts';
import type { SnapshotSections } from './snapshot-sections.ts';
import { estimateTextTokens } from './token-estimate.ts';
import type { TokenCounting, TokenRule } from './token-estimate.ts';

export type VerificationProblem =
  'EMPTY' | 'TOO_SMALL' | 'TOO_LARGE' | 'REPETITIVE' | 'UNSUPPORTED_FACTS' | 'MISSING_IDENTIFIERS';

export interface VerificationInput {
  sections: SnapshotSections;
  /** What the user wrote in the folded turns. */
  foldedUserTexts: readonly StatedText[];
  /** Texts that stay in the context beside the snapshot: tail and pins. */
  keptTexts: readonly string[];
  /**
   * What everything that the summariser read, the kept texts included, supports. Undefined where that
   * was more than text, such as a picture with a number in it: then nothing counts as unsupported.
   */
  support: FactSupport | undefined;
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
  /** Lines of the model that code dropped: each holds an unsupported fact. */
  droppedLines: string[];
  /** Identifiers and numbers of the model that no source holds. */
  unsupportedFacts: string[];
  /** The sections to use: the input without the dropped lines, with sentences appended to `key_knowledge` where facts lacked. */
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

const textOf = (sections: SnapshotSections) =>
  sectionNames.map((name) => sections[name]).join('\n');

/** What was refused for its shape need not be searched. */
function precisionOf({ sections, support }: VerificationInput, isRefused: boolean): Precision {
  return support === undefined || isRefused
    ? { sections, droppedLines: [], unsupportedFacts: [], isRefused: false }
    : dropUnsupported(sections, support);
}

/**
 * Checks a snapshot by code: content, size (10 tokens to 2 × budget), loops; that every identifier and
 * number in it has a source (lines with others are dropped, too many of them are a problem); and that
 * every identifier which the user stated in the folded turns is in the snapshot or in what stays.
 * Missing ones are appended as quoted sentences with their turn, up to a quarter of the budget; if some
 * do not fit, the snapshot is not ok. EMPTY becomes FAILED_EMPTY_SUMMARY, any other problem
 * FAILED_VERIFICATION.
 */
export function verifySnapshot(input: VerificationInput): Verification {
  const { snapshotBudgetTokens, rule } = input;
  const text = textOf(input.sections);
  const snapshotTokens = estimateTextTokens(text, rule);
  const problems = shapeProblems(text, snapshotTokens, snapshotBudgetTokens);
  const precision = precisionOf(input, problems.length > 0);
  if (precision.isRefused) problems.push('UNSUPPORTED_FACTS');
  const { sections, droppedLines, unsupportedFacts } = precision;
  const appended = appendStatedFacts({
    statedTexts: input.foldedUserTexts,
    presentTexts: [textOf(sections), ...input.keptTexts],
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
    droppedLines,
    unsupportedFacts,
    repaired: { ...sections, key_knowledge: keyKnowledge },
    snapshotTokens,
  };
}
