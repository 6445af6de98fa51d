import { snapshotConstants } from './snapshot-constants.ts';
import { unsupportedFacts, type FactSupport } from './fact-support.ts';
import { sectionNames, type SectionName, type SnapshotSections } from './snapshot-sections.ts';

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

function isTooMany(dropped: number, lines: number): boolean {
  const share = Math.floor(snapshotConstants.unsupportedLineFraction.value * lines);
  const allowed = Math.max(UNSUPPORTED_LINE_ALLOWANCE, share);
  return dropped > allowed || 2 * dropped > lines;
}

/**
 * Drops the lines of a snapshot that hold an identifier or a number which no source holds; an item is
 * one line. Refused are more than two lines and 5 % of them, or more than half. Linear.
 */
export function dropUnsupported(sections: SnapshotSections, support: FactSupport): Precision {
  const droppedLines: string[] = [];
  const facts = new Set<string>();
  let lines = 0;
  const isSupported = (line: string): boolean => {
    if (line.trim() === '') return true;
    lines += 1;
    const unsupported = unsupportedFacts(line, support);
    if (unsupported.length === 0) return true;
    droppedLines.push(line);
    for (const fact of unsupported) facts.add(fact);
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
