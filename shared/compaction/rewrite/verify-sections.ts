import { indexFacts, isHeld, type FactIndex } from '../facts/index/fact-index.ts';
import type { Fact } from '../facts/index/fact.ts';
import { isRepetitive } from '#shared/compaction/repetition.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import { sectionNames, type SnapshotSections } from '#shared/compaction/snapshot-sections.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { dropUnsupported, type Precision } from './drop-unsupported.ts';
import { quoteFacts } from './quote-facts.ts';
import { isSentenceHeld } from '../facts/index/line-index.ts';

/**
 * The sections with those rules as knowledge that `notes` of hooks say and `others`, all else that the summariser read,
 * do not: no note makes a constraint. Heuristic: a rule in other words than the note's stays.
 */
export function withoutNoteConstraints(
  sections: SnapshotSections,
  { notes, others }: { notes: readonly string[]; others: () => readonly string[] },
): SnapshotSections {
  if (notes.length === 0 || sections.active_constraints === '') return sections;
  const [noted, said] = [indexFacts(notes).lines(), indexFacts(others()).lines()];
  const isOfNote = (line: string) => isSentenceHeld(line, noted) && !isSentenceHeld(line, said);
  const lines = sections.active_constraints.split('\n');
  const moved = lines.filter(isOfNote);
  return {
    ...sections,
    active_constraints: lines.filter((line) => !isOfNote(line)).join('\n'),
    key_knowledge: [sections.key_knowledge, ...moved].filter((line) => line !== '').join('\n'),
  };
}

type VerificationProblem =
  'EMPTY' | 'TOO_SMALL' | 'TOO_LARGE' | 'REPETITIVE' | 'UNSUPPORTED_FACTS' | 'MISSING_IDENTIFIERS';

export interface VerificationInput {
  sections: SnapshotSections;
  /** What the user stated in the folded turns and what stays in the context beside the snapshot does not say. */
  stated: readonly Fact[];
  /**
   * Everything that the summariser read. Undefined where that was more than text, such as a picture with a
   * number in it: then nothing counts as unsupported.
   */
  sources: FactIndex | undefined;
  snapshotBudgetTokens: number;
  counting: TokenCounting;
}

export interface Verification {
  ok: boolean;
  problems: VerificationProblem[];
  /** Identifiers stated by the user that the repaired snapshot still lacks. */
  missingIdentifiers: string[];
  /** Identifiers that code appended. */
  appendedIdentifiers: string[];
  /** Lines of the model that code dropped: each holds an unsupported fact. */
  droppedLines: string[];
  /** What those lines state and no source holds. */
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
function precisionOf({ sections, sources }: VerificationInput, isRefused: boolean): Precision {
  return sources === undefined || isRefused
    ? { sections, droppedLines: [], unsupportedFacts: [], isRefused: false }
    : dropUnsupported(sections, sources);
}

const textsOf = (facts: readonly Fact[]): string[] => facts.map(({ text }) => text);

/**
 * Checks a rewritten snapshot by code: content, size (10 tokens to 2 × budget), loops; that what it states
 * has a source (lines with other things are dropped, too many of them are a problem); and that it says every
 * identifier of `stated`. Missing ones are appended as quoted sentences with their turn, up to a quarter
 * of the budget; if some do not fit, the snapshot is not ok. EMPTY becomes FAILED_EMPTY_SUMMARY, any other
 * problem FAILED_VERIFICATION.
 */
export function verifySections(input: VerificationInput): Verification {
  const { snapshotBudgetTokens, counting } = input;
  const text = textOf(input.sections);
  const snapshotTokens = estimateTextTokens(text, counting);
  const problems = shapeProblems(text, snapshotTokens, snapshotBudgetTokens);
  const precision = precisionOf(input, problems.length > 0);
  if (precision.isRefused) problems.push('UNSUPPORTED_FACTS');
  const { sections, droppedLines, unsupportedFacts } = precision;
  const said = indexFacts([textOf(sections)]);
  const appended = quoteFacts(
    input.stated.filter((fact) => !isHeld(fact, said)),
    {
      roomTokens: Math.floor(snapshotConstants.appendedFactsFraction.value * snapshotBudgetTokens),
      counting,
    },
  );
  if (appended.leftOut.length > 0) problems.push('MISSING_IDENTIFIERS');
  const keyKnowledge = [sections.key_knowledge, ...appended.lines]
    .filter((line) => line !== '')
    .join('\n');
  return {
    ok: problems.length === 0,
    problems,
    missingIdentifiers: textsOf(appended.leftOut),
    appendedIdentifiers: textsOf(appended.quoted),
    droppedLines,
    unsupportedFacts,
    repaired: { ...sections, key_knowledge: keyKnowledge },
    snapshotTokens,
  };
}
