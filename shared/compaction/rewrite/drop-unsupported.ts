import type { FactIndex } from '../facts/index/fact-index.ts';
import type { FactKind } from '../facts/index/fact.ts';
import { distinctNumbers, numberReadings } from '../facts/values/number-values.ts';
import { foldWidth, plainText } from '#shared/text/plain-text.ts';
import { scanValues } from '../facts/index/fact-finders.ts';
import { unsupportedIn } from '../facts/index/unsupported.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import {
  sectionNames,
  type SectionName,
  type SnapshotSections,
} from '#shared/compaction/snapshot-sections.ts';

export interface Precision {
  /** The sections without the lines that say what no source says. */
  sections: SnapshotSections;
  droppedLines: string[];
  /** What those lines had that no source has, each once. */
  unsupportedFacts: string[];
  /** More lines than a summary may lose: it is an invention rather than a slip. */
  isRefused: boolean;
}

/** Lines that a short snapshot may lose too: a sum or a count is no invention. */
const UNSUPPORTED_LINE_ALLOWANCE = 2;

/** Kinds whose figures a good summary works out itself: counts, ages, the day of "tomorrow". */
const workedOut: ReadonlySet<FactKind> = new Set(['date', 'time', 'quantity', 'amount', 'number']);

/** Numbers of three digits or more, and decimals. */
const isTelling = (value: string): boolean => value.includes('.') || value.length >= 3;

const isSaid = (value: string, { figures }: FactIndex): boolean =>
  !isTelling(value) || figures.has(value);

/**
 * Whether a fact may be the summariser's own words: a paraphrase in quotes, or figures whose large numbers are
 * all said somewhere. Which line tells of which turn is not known, so dropping what was counted, dated or
 * paraphrased would lose more than it saves.
 */
function isWorkedOut(fact: string, sources: FactIndex): boolean {
  if (!scanValues(foldWidth(fact)).every(({ kind }) => workedOut.has(kind))) return false;
  return [...distinctNumbers(plainText(fact))].every((number) =>
    numberReadings(number).some((value) => isSaid(value, sources)),
  );
}

/** What a line of a summary states and no source holds, but for what a summary may work out. */
const inventedIn = (line: string, sources: FactIndex): string[] =>
  unsupportedIn(line, sources).filter((fact) => !isWorkedOut(fact, sources));

function isTooMany(dropped: number, lines: number): boolean {
  const share = Math.floor(snapshotConstants.unsupportedLineFraction.value * lines);
  const allowed = Math.max(UNSUPPORTED_LINE_ALLOWANCE, share);
  return dropped > allowed || 2 * dropped > lines;
}

/**
 * Drops the lines of a snapshot that hold what none of the sources holds; an item is one line. Refused are
 * more than two lines and 5 % of them, or more than half. Linear. Heuristic: large sums that are
 * worked out count as invented, an altered number of two digits does not.
 */
export function dropUnsupported(sections: SnapshotSections, sources: FactIndex): Precision {
  const droppedLines: string[] = [];
  const facts = new Set<string>();
  let lines = 0;
  const isSupported = (line: string): boolean => {
    if (line.trim() === '') return true;
    lines += 1;
    const invented = inventedIn(line, sources);
    if (invented.length === 0) return true;
    droppedLines.push(line);
    for (const fact of invented) facts.add(fact);
    return false;
  };
  const kept: Record<SectionName, string> = { ...sections };
  for (const name of sectionNames)
    kept[name] = sections[name].split('\n').filter(isSupported).join('\n');
  return {
    sections: kept,
    droppedLines,
    unsupportedFacts: [...facts],
    isRefused: isTooMany(droppedLines.length, lines),
  };
}
